//! How a change to an account's team begins. It locks the account's row and then checks again that the maker
//! of the change still has the right to it. A removal takes the same lock, so nothing that a removed person
//! or token makes can outlive the removal. A suspended account refuses changes.

use domain::{AccountId, Chance, Maker, Origin, Refusal, Time};
use sea_orm::{ColumnTrait, DatabaseTransaction, EntityTrait, QueryFilter};

use crate::audit::{self, Entry};
use crate::change_result::ChangeResult;
use crate::rows::account::{lock_account, must_not_be_suspended};
use crate::{Store, rows};

/// A change to an account.
#[derive(Clone, Copy, Debug)]
pub struct Change<'a> {
    pub account: AccountId,
    pub by: Maker,
    pub origin: Origin,
    pub now: Time,
    pub chance: &'a Chance,
}

/// A change that has begun and holds the lock on the account's row.
pub(crate) struct Begun {
    pub(crate) transaction: DatabaseTransaction,
    pub(crate) account: entity::account::Model,
}

impl Change<'_> {
    pub(crate) async fn begin(&self, store: &Store) -> ChangeResult<Begun> {
        let begun = self.begin_even_if_suspended(store).await?;
        must_not_be_suspended(&begun.account)?;
        Ok(begun)
    }

    /// Begins a change that protects the account, even if it is suspended.
    pub(crate) async fn begin_even_if_suspended(&self, store: &Store) -> ChangeResult<Begun> {
        let transaction = store.database.begin().await?;
        let account = lock_account(&transaction, self.account).await?.ok_or(Refusal::Unauthorized)?;
        must_still_be_there(&transaction, self).await?;
        Ok(Begun { transaction, account })
    }

    /// Writes an audit log entry for this change.
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

/// The maker may have lost the right since the request was authenticated: the token may be revoked, or the
/// person removed.
async fn must_still_be_there(transaction: &DatabaseTransaction, change: &Change<'_>) -> ChangeResult<()> {
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
