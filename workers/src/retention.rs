//! Forgetting finished jobs. How long they are kept is also how long a second push of the same id is noticed.

use anyhow::Context;
use domain::Time;

use crate::Queues;
use crate::database::{Database, on_either};

impl Queues {
    /// Deletes at most `limit` jobs that were done before that time, with their events, and tells how many. Dead jobs
    /// stay. Workers and processes that have been silent since then are forgotten with them.
    pub async fn delete_finished(&self, done_before: Time, limit: u32) -> anyhow::Result<u64> {
        let deleted = self.delete_done(done_before, limit).await.context("deleting finished jobs")?;
        self.forget_events(&deleted).await?;
        self.forget_silent_workers(done_before).await.context("forgetting silent workers")?;
        let text = "DELETE FROM handbill_processes WHERE seen_at_ms < $1";
        on_either!(&self.database, pool => {
            sqlx::query(text).bind(done_before.millis()).execute(pool).await.map(drop)
        })
        .context("forgetting silent processes")?;
        Ok(u64::try_from(deleted.len())?)
    }

    /// The ids of those that are gone.
    async fn delete_done(&self, done_before: Time, limit: u32) -> sqlx::Result<Vec<String>> {
        match &self.database {
            Database::Sqlite(pool) => {
                let delete = sqlx::query_scalar(
                    "DELETE FROM Jobs WHERE id IN
                        (SELECT id FROM Jobs WHERE status = 'Done' AND done_at < ?1 LIMIT ?2)
                     RETURNING id",
                );
                delete.bind(done_before.millis() / 1000).bind(i64::from(limit)).fetch_all(pool).await
            }
            Database::Postgres(pool) => {
                // What somebody has begun anew, or is about to, is left to a later time, and never waited for.
                let delete = sqlx::query_scalar(
                    "WITH forgotten AS MATERIALIZED (
                         SELECT id FROM apalis.jobs
                         WHERE status = 'Done' AND done_at < to_timestamp($1::float8 / 1000) LIMIT $2
                         FOR UPDATE SKIP LOCKED
                     )
                     DELETE FROM apalis.jobs USING forgotten WHERE jobs.id = forgotten.id RETURNING jobs.id",
                );
                delete.bind(done_before.millis()).bind(i64::from(limit)).fetch_all(pool).await
            }
        }
    }

    async fn forget_silent_workers(&self, since: Time) -> sqlx::Result<()> {
        match &self.database {
            Database::Sqlite(pool) => {
                let delete = sqlx::query(
                    "DELETE FROM Workers WHERE last_seen < ?1
                        AND NOT EXISTS (SELECT 1 FROM Jobs WHERE lock_by = Workers.id)",
                );
                delete.bind(since.millis() / 1000).execute(pool).await.map(drop)
            }
            Database::Postgres(pool) => {
                let delete = sqlx::query(
                    "DELETE FROM apalis.workers WHERE last_seen < to_timestamp($1::float8 / 1000)
                        AND NOT EXISTS (SELECT FROM apalis.jobs WHERE lock_by = workers.id)",
                );
                delete.bind(since.millis()).execute(pool).await.map(drop)
            }
        }
    }

    /// Events tell of the present life of jobs that are there. What a cut-off leaves of them is found by nobody.
    pub(crate) async fn forget_events(&self, jobs: &[String]) -> anyhow::Result<()> {
        if jobs.is_empty() {
            return Ok(());
        }
        match &self.database {
            Database::Sqlite(pool) => {
                let delete = sqlx::query(
                    "DELETE FROM handbill_job_events WHERE job_id IN (SELECT value FROM json_each(?1))",
                );
                delete.bind(serde_json::to_string(jobs)?).execute(pool).await.map(drop)
            }
            Database::Postgres(pool) => {
                let delete = sqlx::query("DELETE FROM handbill_job_events WHERE job_id = ANY($1)");
                delete.bind(jobs).execute(pool).await.map(drop)
            }
        }
        .context("forgetting what happened to jobs")
    }
}
