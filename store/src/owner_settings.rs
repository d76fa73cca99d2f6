//! The owner's settings of an account besides money: whether agents may join, and the claim link.

use domain::{AccountStatus, Refusal, Time, has_expired};
use sea_orm::ActiveValue::Set;
use sea_orm::EntityTrait;

use crate::change::Change;
use crate::change_result::ChangeResult;
use crate::handles::AccountStore;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentJoin {
    Allowed,
    Disabled,
}

impl AgentJoin {
    /// The name in logs and in the audit log.
    pub fn as_str(self) -> &'static str {
        match self {
            AgentJoin::Allowed => "allowed",
            AgentJoin::Disabled => "disabled",
        }
    }
}

impl AccountStore<'_> {
    pub async fn set_agent_join(self, change: &Change<'_>, agent_join: AgentJoin) -> ChangeResult<()> {
        let begun = change.begin(self.0).await?;
        let setting = entity::account::ActiveModel {
            id: Set(begun.account.id.clone()),
            allow_agent_join: Set(agent_join == AgentJoin::Allowed),
            ..Default::default()
        };
        entity::account::Entity::update(setting).exec_without_returning(&begun.transaction).await?;
        let detail = agent_join.as_str().to_owned();
        change.note(&begun.transaction, "account.agent_join_set", &begun.account.id, detail).await?;
        begun.transaction.commit().await?;
        Ok(())
    }

    /// Gives a provisional account a new claim code, which invalidates the old one. Returns when the account
    /// expires.
    pub async fn rotate_claim_code(
        self,
        change: &Change<'_>,
        claim_code: &str,
    ) -> ChangeResult<Option<Time>> {
        let begun = change.begin(self.0).await?;
        if begun.account.status == AccountStatus::Claimed.as_str() {
            return Err(Refusal::AlreadyClaimed.into());
        }
        let expires_at = begun.account.expires_at.map(Time::from_millis);
        if has_expired(expires_at, change.now) {
            return Err(Refusal::AccountExpired.into());
        }
        let rotation = entity::account::ActiveModel {
            id: Set(begun.account.id.clone()),
            claim_code: Set(claim_code.to_owned()),
            ..Default::default()
        };
        entity::account::Entity::update(rotation).exec_without_returning(&begun.transaction).await?;
        change
            .note(&begun.transaction, "account.claim_link_rotated", &begun.account.id, String::new())
            .await?;
        begun.transaction.commit().await?;
        Ok(expires_at)
    }
}
