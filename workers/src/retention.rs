//! Forgetting finished jobs. How long they are kept is also how long a second push of the same id is noticed.

use anyhow::Context;
use domain::Time;

use crate::Queues;
use crate::database::Database;

impl Queues {
    /// Deletes at most `limit` jobs that were done before that time, and tells how many. Dead jobs stay. Workers
    /// that have been silent since then are forgotten with them.
    pub async fn delete_finished(&self, done_before: Time, limit: u32) -> anyhow::Result<u64> {
        let deleted = match &self.database {
            Database::Sqlite(pool) => {
                let before_s = done_before.millis() / 1000;
                let deleted = sqlx::query(
                    "DELETE FROM Jobs WHERE id IN
                        (SELECT id FROM Jobs WHERE status = 'Done' AND done_at < ?1 LIMIT ?2)",
                )
                .bind(before_s)
                .bind(i64::from(limit))
                .execute(pool)
                .await
                .context("deleting finished jobs")?;
                sqlx::query(
                    "DELETE FROM Workers WHERE last_seen < ?1
                        AND NOT EXISTS (SELECT 1 FROM Jobs WHERE lock_by = Workers.id)",
                )
                .bind(before_s)
                .execute(pool)
                .await
                .context("forgetting silent workers")?;
                deleted.rows_affected()
            }
            Database::Postgres(pool) => {
                let deleted = sqlx::query(
                    "DELETE FROM apalis.jobs WHERE id IN
                        (SELECT id FROM apalis.jobs
                         WHERE status = 'Done' AND done_at < to_timestamp($1::float8 / 1000) LIMIT $2)",
                )
                .bind(done_before.millis())
                .bind(i64::from(limit))
                .execute(pool)
                .await
                .context("deleting finished jobs")?;
                sqlx::query(
                    "DELETE FROM apalis.workers WHERE last_seen < to_timestamp($1::float8 / 1000)
                        AND NOT EXISTS (SELECT FROM apalis.jobs WHERE lock_by = workers.id)",
                )
                .bind(done_before.millis())
                .execute(pool)
                .await
                .context("forgetting silent workers")?;
                deleted.rows_affected()
            }
        };
        Ok(deleted)
    }
}
