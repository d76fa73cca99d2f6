//! Deletes finished and cancelled jobs. Their retention is also how long a second push of the same id is
//! recognized.

use anyhow::Context;
use domain::Time;

use crate::Queues;
use crate::sql::on_either;

impl Queues {
    /// Deletes at most `limit` jobs that were done or cancelled before that time, with their events, and
    /// returns how many. Dead jobs stay. Workers and processes that have been silent since then are deleted
    /// too.
    pub async fn delete_finished(&self, done_before: Time, limit: u32) -> anyhow::Result<u64> {
        let deleted = self.delete_ended(done_before, limit).await.context("deleting finished jobs")?;
        self.forget_events(&deleted).await?;
        self.forget_silent_workers(done_before).await.context("deleting silent workers")?;
        let text = "DELETE FROM handbill_processes WHERE seen_at_ms < $1";
        on_either!(&self.database, pool => {
            sqlx::query(text).bind(done_before.millis()).execute(pool).await.map(drop)
        })
        .context("deleting silent processes")?;
        Ok(u64::try_from(deleted.len())?)
    }

    /// Returns the ids of the deleted jobs.
    async fn delete_ended(&self, ended_before: Time, limit: u32) -> anyhow::Result<Vec<String>> {
        let mut deleted: Vec<String> = Vec::new();
        on_either!(&self.database, sql, pool => {
            for delete in [sql::DELETE_DONE, sql::DELETE_CANCELLED] {
                let rest = i64::from(limit) - i64::try_from(deleted.len())?;
                let delete = sqlx::query_scalar(delete).bind(sql::moment(ended_before)).bind(rest);
                deleted.extend(delete.fetch_all(pool).await?);
            }
        });
        Ok(deleted)
    }

    async fn forget_silent_workers(&self, since: Time) -> sqlx::Result<()> {
        on_either!(&self.database, sql, pool => {
            sqlx::query(sql::DELETE_SILENT_WORKERS).bind(sql::moment(since)).execute(pool).await.map(drop)
        })
    }

    /// Events belong to the current run of an existing job. Those that a crash leaves behind are never read.
    pub(crate) async fn forget_events(&self, jobs: &[String]) -> anyhow::Result<()> {
        if jobs.is_empty() {
            return Ok(());
        }
        let jobs: Vec<&str> = jobs.iter().map(String::as_str).collect();
        on_either!(&self.database, sql, pool => {
            sqlx::query(sql::DELETE_EVENTS).bind(sql::names(&jobs)).execute(pool).await.map(drop)
        })
        .context("deleting events of jobs")
    }
}
