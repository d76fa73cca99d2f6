//! Removes what has outlived its use: expired accounts with all that is theirs but how their jobs ended, and old records.

use anyhow::Context;
use domain::{AccountId, Host, Time};
use sea_orm::sea_query::Query;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use crate::handles::Upkeep;
use crate::rows;
use crate::rows::account::lock_account;

/// An account that was purged, and the hosts that stop answering with it.
#[derive(Clone, Debug)]
pub struct Purged {
    pub handle: String,
    pub hosts: Vec<Host>,
}

impl Upkeep<'_> {
    /// Accounts that expired before a moment and never took real money, the longest expired first.
    pub async fn list_purgeable_accounts(
        self,
        expired_before: Time,
        at_most: u64,
    ) -> anyhow::Result<Vec<AccountId>> {
        let found: Vec<String> = entity::account::Entity::find()
            .select_only()
            .column(entity::account::Column::Id)
            .filter(entity::account::Column::ExpiresAt.lte(expired_before.millis()))
            .filter(entity::account::Column::HasRealPayment.eq(false))
            .order_by_asc(entity::account::Column::ExpiresAt)
            .limit(at_most)
            .into_tuple()
            .all(&self.0.database.reader)
            .await?;
        found.iter().map(|id| rows::parse(id, "an account id")).collect()
    }

    /// Removes an expired account with what is its own. None when it was claimed in the meantime.
    pub async fn purge_account(
        self,
        account: AccountId,
        expired_before: Time,
    ) -> anyhow::Result<Option<Purged>> {
        let transaction = self.0.database.begin().await?;
        let Some(row) = lock_account(&transaction, account).await? else { return Ok(None) };
        let is_expired = row.expires_at.is_some_and(|expires_at| expires_at <= expired_before.millis());
        if !is_expired || row.has_real_payment {
            return Ok(None);
        }
        let routes = entity::route::Entity::find()
            .filter(entity::route::Column::AccountId.eq(row.id.as_str()))
            .all(&transaction)
            .await?;
        let hosts =
            routes.iter().map(|route| rows::parse(&route.host, "a host")).collect::<anyhow::Result<_>>()?;
        // Everything that is the account's goes with it by its foreign keys. How its jobs ended goes when it is old,
        // like any outcome: no caller can ask for it any more, and to find it here would be to read all there are.
        entity::account::Entity::delete_by_id(row.id.as_str()).exec(&transaction).await?;
        transaction.commit().await.context("commit a purge")?;
        Ok(Some(Purged { handle: row.handle, hosts }))
    }

    /// Deletes records past their keeping time: so many outcomes at most, and all keys, sessions and early reversals of
    /// card payments. Returns how many outcomes there were.
    pub async fn sweep_records(self, now: Time, outcomes_before: Time, at_most: u64) -> anyhow::Result<u64> {
        let old_outcomes = Query::select()
            .column(entity::job_outcome::Column::JobId)
            .from(entity::job_outcome::Entity)
            .and_where(entity::job_outcome::Column::CreatedAt.lt(outcomes_before.millis()))
            .limit(at_most)
            .to_owned();
        let outcomes = entity::job_outcome::Entity::delete_many()
            .filter(entity::job_outcome::Column::JobId.in_subquery(old_outcomes))
            .exec(&self.0.database.writer)
            .await?;
        let keys = entity::idempotency_key::Entity::delete_many()
            .filter(entity::idempotency_key::Column::ExpiresAt.lt(now.millis()))
            .exec(&self.0.database.writer)
            .await?;
        let sessions = entity::session::Entity::delete_many()
            .filter(entity::session::Column::ExpiresAt.lt(now.millis()))
            .exec(&self.0.database.writer)
            .await?;
        let reversals = self.0.ledger().sweep_early_reversals(now).await?;
        tracing::debug!(
            reversals.deleted = reversals,
            keys.deleted = keys.rows_affected,
            sessions.deleted = sessions.rows_affected,
            "records swept"
        );
        Ok(outcomes.rows_affected)
    }
}
