//! One job in full: its row, its redacted payload and its history.

use anyhow::Context;
use domain::{JobId, Queue};
use service::JobDetail;

use super::index::{JobRow, read};
use super::payload::redacted;
use crate::Queues;
use crate::sql::on_either;

impl Queues {
    pub(super) async fn detail(&self, queue: Queue, id: JobId) -> anyhow::Result<Option<JobDetail>> {
        let row: Option<JobRow> = on_either!(&self.database, sql, pool => {
            let read = sqlx::query_as(sql::ONE).bind(id.to_string()).bind(queue.name());
            read.fetch_optional(pool).await
        })
        .context("reading a job")?;
        let Some(row) = row else { return Ok(None) };
        let (payload, reply_to) = redacted(&row.payload);
        let Some(job) = read(row) else { return Ok(None) };
        let timeline = self.timeline(&job).await?;
        Ok(Some(JobDetail { job, payload, reply_to, timeline }))
    }
}
