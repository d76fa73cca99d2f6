//! How a change to an account's team begins: the account's row is locked, and then it is asked once more whether
//! whoever makes the change is still there. A removal goes through the same lock, so nothing made by someone who is
//! being removed can outlive the removal. An account that is suspended refuses the change.

use domain::{AccountId, Chance, Maker, Origin, Refusal, Time};
use sea_orm::{ColumnTrait, DatabaseTransaction, EntityTrait, QueryFilter};

use crate::audit::{self, Entry};
use crate::decided::Decided;
use crate::rows::account::{lock_account, must_not_be_suspended};
use crate::{Store, rows};

/// A change to an account: whose, by whom, and when.
#[derive(Clone, Copy, Debug)]
pub struct Change<'a> {
    pub account: AccountId,
    pub by: Maker,
    pub origin: Origin,
    pub now: Time,
    pub chance: &'a Chance,
}

/// A change that has begun and holds the account's row.
pub(crate) struct Begun {
    pub(crate) transaction: DatabaseTransaction,
    pub(crate) account: entity::account::Model,
}

impl Change<'_> {
    pub(crate) async fn begin(&self, store: &Store) -> Decided<Begun> {
        let begun = self.begin_even_if_suspended(store).await?;
        must_not_be_suspended(&begun.account)?;
        Ok(begun)
    }

    /// Begins a change that protects the account, whatever state it is in.
    pub(crate) async fn begin_even_if_suspended(&self, store: &Store) -> Decided<Begun> {
        let transaction = store.database.begin().await?;
        let account = lock_account(&transaction, self.account).await?.ok_or(Refusal::Unauthorized)?;
        must_still_be_there(&transaction, self).await?;
        Ok(Begun { transaction, account })
    }

    /// Writes the trail of this change.
    pub(crate) async fn note(
        &self,
        transaction: &DatabaseTransaction,
        action: &'static str,
        subject: &str,
        detail: String,
    ) -> anyhow::Result<()> {
        let token = self.by.token.map(|token| token.to_string());
        let actor = token.or(self.by.user.map(|user| user.to_string())).unwrap_or_default();
        let (account, origin, subject) = (Some(self.account), Some(self.origin), subject.into());
        let entry = Entry { account, person: None, actor, origin, action, subject, detail };
        audit::note(transaction, self.chance, self.now, entry).await
    }
}

/// Whoever makes the change may have lost the right since the door looked: a token by being revoked, a person by being
/// removed.
async fn must_still_be_there(transaction: &DatabaseTransaction, change: &Change<'_>) -> Decided<()> {
    if let Some(token) = change.by.token {
        let alive = entity::token::Entity::find_by_id(token.to_string())
            .filter(entity::token::Column::RevokedAt.is_null())
            .one(transaction)
            .await?;
        alive.ok_or(Refusal::Unauthorized)?;
        return Ok(());
    }
    let user = change.by.user.ok_or(Refusal::Unauthorized)?;
    if rows::member::role_of(transaction, change.account, user).await?.is_none() {
        return Err(
            Refusal::Forbidden { fault: "you are no longer a member of this account".to_owned() }.into()
        );
    }
    Ok(())
}
