//! How full the queues are.

use anyhow::Context;
use domain::{Queue, Time};

use crate::Queues;
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
    pub dead: u64,
    /// Since when the oldest job that is due has not been begun.
    pub oldest_waiting_since: Option<Time>,
}

/// Queue, status, how many, since when the oldest is due in milliseconds.
type CountRow = (String, String, i64, Option<i64>);

// Done jobs are millions: only what an index leads to is counted. On Postgres it is one index each for what waits, what is
// in hand and what is over or failed, and a question that asks for two at once would read the whole table.
pub(crate) const SQLITE_COUNT: &str = "
    SELECT job_type, status, count(*),
    min(CASE WHEN run_at <= unixepoch() THEN run_at END) * 1000
    FROM Jobs WHERE job_type IN (SELECT value FROM json_each(?1))
    AND status IN ('Pending', 'Queued', 'Running', 'Failed', 'Killed')
    GROUP BY job_type, status";
pub(crate) const POSTGRES_COUNT: &str = "
    SELECT job_type, status, count(*),
    (extract(epoch FROM min(run_at) FILTER (WHERE run_at <= now())) * 1000)::bigint
    FROM apalis.jobs WHERE job_type = ANY($1) AND status = 'Pending' GROUP BY job_type, status
    UNION ALL
    SELECT job_type, status, count(*), NULL
    FROM apalis.jobs WHERE job_type = ANY($1) AND status IN ('Queued', 'Running') GROUP BY job_type, status
    UNION ALL
    SELECT job_type, status, count(*), NULL
    FROM apalis.jobs WHERE job_type = ANY($1) AND status IN ('Failed', 'Killed') GROUP BY job_type, status";

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
    let count = |statuses: &[&str]| {
        let matching = of_queue().filter(|(_, status, ..)| statuses.contains(&status.as_str()));
        matching.map(|(_, _, count, _)| u64::try_from(*count).unwrap_or(0)).sum()
    };
    QueueDepth {
        queue,
        waiting: count(&["Pending"]),
        running: count(&["Queued", "Running"]),
        failed: count(&["Failed"]),
        dead: count(&["Killed"]),
        oldest_waiting_since: of_queue()
            .find(|(_, status, ..)| status == "Pending")
            .and_then(|(.., since_ms)| since_ms.map(Time::from_millis)),
    }
}
