//! How full the queues are.

use anyhow::Context;
use domain::{Queue, Time};

use crate::Queues;
use crate::board::called_off;
use crate::database::Database;

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

/// Queue, status, how many, since when the oldest is due in milliseconds.
type CountRow = (String, String, i64, Option<i64>);

// Done jobs are millions: only what an index leads to is counted. On Postgres it is one index each for what waits, what is
// in hand and what is over or failed, and a question that asks for two at once would read the whole table; of the dead the
// index alone is read. What was called off is among the `Killed` as well.
pub(crate) const SQLITE_COUNT: &str = concat!(
    "SELECT job_type, status, count(*),
    min(CASE WHEN run_at <= unixepoch() THEN run_at END) * 1000
    FROM Jobs WHERE job_type IN (SELECT value FROM json_each(?1))
    AND status IN ('Pending', 'Queued', 'Running', 'Failed', 'Killed')
    GROUP BY job_type, status
    UNION ALL
    SELECT job_type, 'Cancelled', count(*), NULL
    FROM Jobs WHERE id IN (",
    called_off!(),
    ") AND +status = 'Killed' GROUP BY job_type"
);
pub(crate) const POSTGRES_COUNT: &str = concat!(
    "SELECT job_type, status, count(*),
    (extract(epoch FROM min(run_at) FILTER (WHERE run_at <= now())) * 1000)::bigint
    FROM apalis.jobs WHERE job_type = ANY($1) AND status = 'Pending' GROUP BY job_type, status
    UNION ALL
    SELECT job_type, status, count(*),
    (extract(epoch FROM min(run_at) FILTER (WHERE run_at <= now())) * 1000)::bigint
    FROM apalis.jobs WHERE job_type = ANY($1) AND status = 'Failed' GROUP BY job_type, status
    UNION ALL
    SELECT job_type, status, count(*), NULL
    FROM apalis.jobs WHERE job_type = ANY($1) AND status IN ('Queued', 'Running') GROUP BY job_type, status
    UNION ALL
    SELECT job_type, status, count(*), NULL
    FROM apalis.jobs WHERE job_type = ANY($1) AND status = 'Killed' GROUP BY job_type, status
    UNION ALL
    SELECT job_type, 'Cancelled', count(*), NULL
    FROM apalis.jobs WHERE id IN (",
    called_off!(),
    ") AND status = 'Killed' GROUP BY job_type"
);

impl Queues {
    /// One entry for each queue, also for empty ones, in the order of [`Queue::ALL`].
    pub async fn depth(&self) -> anyhow::Result<Vec<QueueDepth>> {
        let counts: Vec<CountRow> = match &self.database {
            Database::Sqlite(pool) => {
                sqlx::query_as(SQLITE_COUNT)
                    .bind(serde_json::to_string(&Queue::ALL.map(Queue::name))?)
                    .fetch_all(pool)
                    .await
            }
            Database::Postgres(pool) => {
                sqlx::query_as(POSTGRES_COUNT)
                    .bind(Queue::ALL.map(Queue::name).to_vec())
                    .fetch_all(pool)
                    .await
            }
        }
        .context("counting jobs")?;
        Ok(Queue::ALL.map(|queue| depth_of(queue, &counts)).to_vec())
    }
}

fn depth_of(queue: Queue, counts: &[CountRow]) -> QueueDepth {
    let of_queue = || counts.iter().filter(|(name, ..)| name == queue.name());
    let count = |statuses: &[&str]| -> u64 {
        let matching = of_queue().filter(|(_, status, ..)| statuses.contains(&status.as_str()));
        matching.map(|(_, _, count, _)| u64::try_from(*count).unwrap_or(0)).sum()
    };
    let cancelled = count(&["Cancelled"]);
    let due = of_queue().filter(|(_, status, ..)| ["Pending", "Failed"].contains(&status.as_str()));
    QueueDepth {
        queue,
        waiting: count(&["Pending"]),
        running: count(&["Queued", "Running"]),
        failed: count(&["Failed"]),
        dead: count(&["Killed"]).saturating_sub(cancelled),
        cancelled,
        oldest_waiting_since: due.filter_map(|(.., since_ms)| *since_ms).min().map(Time::from_millis),
    }
}
