//! Deletes expired accounts with all their rows except outcomes, and old records.

use anyhow::Context;
use domain::{AccountId, Host, Time};
use sea_orm::sea_query::Query;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use crate::handles::Upkeep;
use crate::rows;
use crate::rows::account::lock_account;

/// A purged account and its hosts, which must no longer be served.
#[derive(Clone, Debug)]
pub struct Purged {
    pub handle: String,
    pub hosts: Vec<Host>,
}

impl Upkeep<'_> {
    /// Accounts that have expired and never received real money, longest expired first.
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

    /// Deletes an expired account and its rows. `None` if it was claimed in the meantime.
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
        // Foreign keys delete all rows of the account. Outcomes of its jobs are deleted by age, like all
        // outcomes: no caller can request them any more, and finding them here would mean reading all
        // outcomes.
        entity::account::Entity::delete_by_id(row.id.as_str()).exec(&transaction).await?;
        transaction.commit().await.context("commit a purge")?;
        Ok(Some(Purged { handle: row.handle, hosts }))
    }

    /// Deletes old records: up to `at_most` outcomes, and all expired keys, sessions and early reversals of
    /// card payments. Returns the number of outcomes.
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
