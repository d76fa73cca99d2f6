//! The owner's settings of an account besides money: its name, whether agents may join, how many versions are
//! kept, and the claim link.

use domain::{AccountName, AccountStatus, Refusal, Retention, RetentionChange, Time, has_expired};
use sea_orm::ActiveValue::Set;
use sea_orm::EntityTrait;

use crate::change::Change;
use crate::change_result::ChangeResult;
use crate::handles::AccountStore;
use crate::{retention, rows};

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

/// New values of the settings. At least one is given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccountSettings {
    /// `Some(None)` takes the name away.
    pub name: Option<Option<AccountName>>,
    pub agent_join: Option<AgentJoin>,
    pub retention: RetentionChange,
}

impl AccountStore<'_> {
    /// Changes the settings that are given, and returns the account's rule of retention after that.
    pub async fn set(self, change: &Change<'_>, settings: AccountSettings) -> ChangeResult<Retention> {
        let begun = change.begin(self.0).await?;
        let id = &begun.account.id;
        let before = rows::retention(begun.account.versions_kept, begun.account.versions_days);
        let after = settings.retention.of(before);
        let mut row = entity::account::ActiveModel { id: Set(id.clone()), ..Default::default() };
        if let Some(name) = settings.name {
            let name = name.map(|name| name.to_string());
            row.name = Set(name.clone());
            change.note(&begun.transaction, "account.named", id, name.unwrap_or_default()).await?;
        }
        if let Some(agent_join) = settings.agent_join {
            row.allow_agent_join = Set(agent_join == AgentJoin::Allowed);
            let detail = agent_join.as_str().to_owned();
            change.note(&begun.transaction, "account.agent_join_set", id, detail).await?;
        }
        if !settings.retention.is_empty() {
            row.versions_kept = Set(retention::column(after.versions_kept));
            row.versions_days = Set(retention::column(after.versions_days));
            let detail = retention::detail(after);
            change.note(&begun.transaction, "account.retention_set", id, detail).await?;
        }
        entity::account::Entity::update(row).exec_without_returning(&begun.transaction).await?;
        begun.transaction.commit().await?;
        Ok(after)
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
