//! The free limits that were in force in a month. The settings hold only the current ones.

use anyhow::Context;
use domain::{Month, Tariff, Time};
use sea_orm::{ConnectionTrait, DatabaseTransaction, EntityTrait, Statement};

use crate::handles::MeteringStore;
use crate::rows;

/// Keeps the highest value that any process reports, because a limit may be lowered in the middle of a month.
const NOTE: &str = "
    INSERT INTO monthly_limits AS kept (month, provisional_free_publishes, claimed_free_publishes)
    VALUES ($1, $2, $3)
    ON CONFLICT (month) DO UPDATE SET
        provisional_free_publishes = CASE
            WHEN excluded.provisional_free_publishes > kept.provisional_free_publishes
            THEN excluded.provisional_free_publishes ELSE kept.provisional_free_publishes END,
        claimed_free_publishes = CASE
            WHEN excluded.claimed_free_publishes > kept.claimed_free_publishes
            THEN excluded.claimed_free_publishes ELSE kept.claimed_free_publishes END";

/// The free limits of accounts by month.
pub(crate) struct FreeLimits {
    tariff: Tariff,
    by_month: Vec<entity::monthly_limit::Model>,
}

impl FreeLimits {
    pub(crate) async fn read(reading: &DatabaseTransaction, tariff: &Tariff) -> anyhow::Result<Self> {
        let by_month = entity::monthly_limit::Entity::find().all(reading).await;
        Ok(Self { tariff: tariff.clone(), by_month: by_month.context("read the limits of the months")? })
    }

    /// The limit of a month for a claimed account.
    pub(crate) fn claimed(&self, month: Month) -> i64 {
        let month = month.to_string();
        let kept = self.by_month.iter().filter(|row| row.month == month);
        highest(kept.map(|row| row.claimed_free_publishes), self.tariff.claimed_free_publishes)
    }

    /// The limit for the whole life of a provisional account.
    pub(crate) fn provisional_since(&self, created_at: Time) -> i64 {
        let first = created_at.month().to_string();
        let kept = self.by_month.iter().filter(|row| row.month >= first);
        highest(kept.map(|row| row.provisional_free_publishes), self.tariff.provisional_free_publishes)
    }
}

fn highest(kept: impl Iterator<Item = i64>, of_today: u64) -> i64 {
    kept.fold(rows::number(of_today), i64::max)
}

impl MeteringStore<'_> {
    /// Records the current free limits for the month.
    pub async fn record_limits(self, tariff: &Tariff, now: Time) -> anyhow::Result<()> {
        let database = &self.0.database.writer;
        let values = [
            now.month().to_string().into(),
            rows::number(tariff.provisional_free_publishes).into(),
            rows::number(tariff.claimed_free_publishes).into(),
        ];
        let note = Statement::from_sql_and_values(database.get_database_backend(), NOTE, values);
        database.execute_raw(note).await.context("record the limits of the month")?;
        Ok(())
    }
}
