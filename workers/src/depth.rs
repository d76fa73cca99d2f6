//! The number of jobs in each queue, by state.

use anyhow::Context;
use domain::{Queue, Time};

use crate::Queues;
use crate::sql::on_either;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueDepth {
    pub queue: Queue,
    /// Not begun, due or not.
    pub waiting: u64,
    /// In the hands of a worker.
    pub running: u64,
    /// Waiting for another attempt.
    pub failed: u64,
    /// Given up.
    pub dead: u64,
    /// Called off by an operator.
    pub cancelled: u64,
    /// Since when the oldest job that is due, for its first attempt or for another, has not been begun.
    pub oldest_waiting_since: Option<Time>,
}

#[derive(sqlx::FromRow)]
struct CountRow {
    job_type: String,
    status: String,
    jobs: i64,
    oldest_due_ms: Option<i64>,
}

impl Queues {
    /// One entry per queue, including empty ones, in the order of [`Queue::ALL`].
    pub async fn depth(&self) -> anyhow::Result<Vec<QueueDepth>> {
        let queues = Queue::ALL.map(Queue::name);
        let counts: Vec<CountRow> = on_either!(&self.database, sql, pool => {
            sqlx::query_as(sql::COUNT).bind(sql::names(&queues)).fetch_all(pool).await
        })
        .context("counting jobs")?;
        Ok(Queue::ALL.map(|queue| depth_of(queue, &counts)).to_vec())
    }
}

fn depth_of(queue: Queue, counts: &[CountRow]) -> QueueDepth {
    let of_queue = || counts.iter().filter(|row| row.job_type == queue.name());
    let count = |statuses: &[&str]| -> u64 {
        let matching = of_queue().filter(|row| statuses.contains(&row.status.as_str()));
        matching.map(|row| u64::try_from(row.jobs).unwrap_or(0)).sum()
    };
    let cancelled = count(&["Cancelled"]);
    let due = of_queue().filter(|row| ["Pending", "Failed"].contains(&row.status.as_str()));
    QueueDepth {
        queue,
        waiting: count(&["Pending"]),
        running: count(&["Queued", "Running"]),
        failed: count(&["Failed"]),
        dead: count(&["Killed"]).saturating_sub(cancelled),
        cancelled,
        oldest_waiting_since: due.filter_map(|row| row.oldest_due_ms).min().map(Time::from_millis),
    }
}
