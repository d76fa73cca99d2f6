//! The number of jobs in each queue, by state.

use std::collections::BTreeMap;

use anyhow::Context;
use domain::{Queue, Time};
use service::JobCounts;

use crate::Queues;
use crate::sql::on_either;

#[derive(sqlx::FromRow)]
struct CountRow {
    job_type: String,
    status: String,
    jobs: i64,
    oldest_due_ms: Option<i64>,
}

impl Queues {
    /// Every queue, including empty ones.
    pub async fn job_counts(&self) -> anyhow::Result<BTreeMap<Queue, JobCounts>> {
        let queues = Queue::ALL.map(Queue::name);
        let counts: Vec<CountRow> = on_either!(&self.database, sql, pool => {
            sqlx::query_as(sql::COUNT).bind(sql::names(&queues)).fetch_all(pool).await
        })
        .context("counting jobs")?;
        Ok(Queue::ALL.map(|queue| (queue, counts_of(queue, &counts))).into())
    }
}

fn counts_of(queue: Queue, counts: &[CountRow]) -> JobCounts {
    let of_queue = || counts.iter().filter(|row| row.job_type == queue.name());
    let count = |statuses: &[&str]| -> u64 {
        let matching = of_queue().filter(|row| statuses.contains(&row.status.as_str()));
        matching.map(|row| u64::try_from(row.jobs).unwrap_or(0)).sum()
    };
    let cancelled = count(&["Cancelled"]);
    let due = of_queue().filter(|row| ["Pending", "Failed"].contains(&row.status.as_str()));
    JobCounts {
        waiting: count(&["Pending"]),
        running: count(&["Queued", "Running"]),
        failed: count(&["Failed"]),
        dead: count(&["Killed"]).saturating_sub(cancelled),
        cancelled,
        oldest_waiting_since: due.filter_map(|row| row.oldest_due_ms).min().map(Time::from_millis),
    }
}
