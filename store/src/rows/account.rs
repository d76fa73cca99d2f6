//! The lock on an account's row, which every writing transaction takes first.

use std::collections::BTreeSet;

use anyhow::Context;
use domain::{AccountId, Refusal};
use sea_orm::sea_query::{LockBehavior, LockType};
use sea_orm::{DatabaseTransaction, EntityTrait, QueryFilter, QuerySelect};

use crate::many::among;

/// Takes the account's row: every writing transaction begins with it, so that they queue and never deadlock. The
/// lock is the weak one that foreign keys do not wait for: adding views to the account's month goes on beside it.
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

/// Takes those of the accounts' rows that nobody else has: whoever holds some rows and waits for others would have
/// strangers wait for each other.
pub(crate) async fn lock_free_accounts(
    transaction: &DatabaseTransaction,
    accounts: &BTreeSet<AccountId>,
) -> anyhow::Result<Vec<entity::account::Model>> {
    entity::account::Entity::find()
        .filter(among(transaction, entity::account::Column::Id, accounts.iter().map(AccountId::to_string)))
        .lock_with_behavior(LockType::NoKeyUpdate, LockBehavior::SkipLocked)
        .all(transaction)
        .await
        .context("lock accounts that are free")
}

/// Refuses what a person or an agent is about to do to an account whose row is locked: they may have been let in before
/// it was suspended.
pub(crate) fn must_not_be_suspended(locked: &entity::account::Model) -> Result<(), Refusal> {
    if locked.suspended_at.is_some() { Err(Refusal::AccountSuspended) } else { Ok(()) }
}
