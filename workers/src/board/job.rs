//! One job, whole: its row, what it carries as far as that may be seen, and what happened to it.

use anyhow::Context;
use domain::{JobId, Queue};
use service::JobDetail;

use super::index::{JobRow, POSTGRES_ONE, SQLITE_ONE, read};
use super::payload::redacted;
use crate::Queues;
use crate::database::Database;

impl Queues {
    pub(super) async fn detail(&self, queue: Queue, id: JobId) -> anyhow::Result<Option<JobDetail>> {
        let row: Option<JobRow> = match &self.database {
            Database::Sqlite(pool) => {
                sqlx::query_as(SQLITE_ONE).bind(id.to_string()).bind(queue.name()).fetch_optional(pool).await
            }
            Database::Postgres(pool) => {
                sqlx::query_as(POSTGRES_ONE)
                    .bind(id.to_string())
                    .bind(queue.name())
                    .fetch_optional(pool)
                    .await
            }
        }
        .context("reading a job")?;
        let Some(row) = row else { return Ok(None) };
        let (payload, reply_to) = redacted(&row.10);
        let Some(job) = read(row) else { return Ok(None) };
        let timeline = self.timeline(&job).await?;
        Ok(Some(JobDetail { job, payload, reply_to, timeline }))
    }
}
