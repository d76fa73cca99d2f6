//! Forgetting finished jobs, and those that an operator called off. How long they are kept is also how long a second push of
//! the same id is noticed.

use anyhow::Context;
use domain::Time;

use crate::Queues;
use crate::board::called_off;
use crate::database::{Database, on_either};

/// Deletes some jobs that ended in this way before a time, and returns their ids.
macro_rules! sqlite_forget {
    ($ended:expr) => {
        concat!(
            "DELETE FROM Jobs WHERE id IN (SELECT id FROM Jobs WHERE ",
            $ended,
            " AND done_at < ?1 LIMIT ?2) RETURNING id"
        )
    };
}
// What somebody has begun anew, or is about to, is left to a later time, and never waited for.
macro_rules! postgres_forget {
    ($ended:expr) => {
        concat!(
            "WITH forgotten AS MATERIALIZED (
                 SELECT id FROM apalis.jobs WHERE ",
            $ended,
            " AND done_at < to_timestamp($1::float8 / 1000) LIMIT $2 FOR UPDATE SKIP LOCKED
             )
             DELETE FROM apalis.jobs USING forgotten WHERE jobs.id = forgotten.id RETURNING jobs.id"
        )
    };
}
macro_rules! is_called_off {
    () => {
        concat!("status = 'Killed' AND id IN (", called_off!(), ")")
    };
}
const SQLITE_FORGET: [&str; 2] = [sqlite_forget!("status = 'Done'"), sqlite_forget!(is_called_off!())];
const POSTGRES_FORGET: [&str; 2] = [postgres_forget!("status = 'Done'"), postgres_forget!(is_called_off!())];

impl Queues {
    /// Deletes at most `limit` jobs that were done or called off before that time, with their events, and tells how many.
    /// Dead jobs stay. Workers and processes that have been silent since then are forgotten with them.
    pub async fn delete_finished(&self, done_before: Time, limit: u32) -> anyhow::Result<u64> {
        let deleted = self.delete_ended(done_before, limit).await.context("deleting finished jobs")?;
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
    async fn delete_ended(&self, ended_before: Time, limit: u32) -> anyhow::Result<Vec<String>> {
        let forget = match &self.database {
            Database::Sqlite(_) => SQLITE_FORGET,
            Database::Postgres(_) => POSTGRES_FORGET,
        };
        let ended_before = match &self.database {
            Database::Sqlite(_) => ended_before.millis() / 1000,
            Database::Postgres(_) => ended_before.millis(),
        };
        let mut deleted: Vec<String> = Vec::new();
        for forget in forget {
            let rest = i64::from(limit) - i64::try_from(deleted.len())?;
            let gone: Vec<String> = on_either!(&self.database, pool => {
                sqlx::query_scalar(forget).bind(ended_before).bind(rest).fetch_all(pool).await?
            });
            deleted.extend(gone);
        }
        Ok(deleted)
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
