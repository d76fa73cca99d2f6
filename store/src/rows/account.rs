//! The lock on an account's row, which every writing transaction takes first.

use std::collections::BTreeSet;

use anyhow::Context;
use domain::{AccountId, Refusal};
use sea_orm::sea_query::{LockBehavior, LockType};
use sea_orm::{DatabaseTransaction, EntityTrait, QueryFilter, QuerySelect};

use crate::many::among;

/// Locks the account's row. Every writing transaction begins with it, so that they queue and never deadlock.
/// The lock mode does not block foreign key checks, so views can be added to the account's month at the same
/// time.
pub(crate) async fn lock_account(
    transaction: &DatabaseTransaction,
    account: AccountId,
) -> anyhow::Result<Option<entity::account::Model>> {
    entity::account::Entity::find_by_id(account.to_string())
        .lock(LockType::NoKeyUpdate)
        .one(transaction)
        .await
        .context("lock an account")
}

/// Locks those of the accounts' rows that are not locked yet. A transaction that held some rows and waited
/// for others would make unrelated accounts wait for each other.
pub(crate) async fn lock_free_accounts(
    transaction: &DatabaseTransaction,
    accounts: &BTreeSet<AccountId>,
) -> anyhow::Result<Vec<entity::account::Model>> {
    entity::account::Entity::find()
        .filter(among(transaction, entity::account::Column::Id, accounts.iter().map(AccountId::to_string)))
        .lock_with_behavior(LockType::NoKeyUpdate, LockBehavior::SkipLocked)
        .all(transaction)
        .await
        .context("lock accounts")
}

/// Refuses a change by a person or an agent to a locked account. The request may have been authenticated
/// before the account was suspended.
pub(crate) fn must_not_be_suspended(locked: &entity::account::Model) -> Result<(), Refusal> {
    if locked.suspended_at.is_some() { Err(Refusal::AccountSuspended) } else { Ok(()) }
}
