//! The dead list: jobs that were given up. They stay until an operator has looked.

use anyhow::Context;
use domain::{JobId, Queue, Time};
use serde::Deserialize;

use crate::Queues;
use crate::attempt::kind_of;
use crate::database::Database;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadJob {
    pub id: JobId,
    pub queue: Queue,
    /// `unreadable` when the row holds no job.
    pub kind: String,
    pub attempts: u32,
    pub last_error: String,
    pub died_at: Time,
}

/// Id, queue, payload, attempts, last result as JSON text, death in milliseconds.
type DeadRow = (String, String, Vec<u8>, i64, Option<String>, Option<i64>);

impl Queues {
    /// The latest dead jobs, newest first.
    pub async fn dead(&self, limit: u32) -> anyhow::Result<Vec<DeadJob>> {
        let rows: Vec<DeadRow> = match &self.database {
            Database::Sqlite(pool) => {
                sqlx::query_as(
                    "SELECT id, job_type, job, attempts, last_result, done_at * 1000
                     FROM Jobs WHERE status = 'Killed' ORDER BY done_at DESC, id DESC LIMIT ?1",
                )
                .bind(i64::from(limit))
                .fetch_all(pool)
                .await
            }
            Database::Postgres(pool) => {
                sqlx::query_as(
                    "SELECT id, job_type, job, attempts::bigint, last_result::text,
                        (extract(epoch FROM done_at) * 1000)::bigint
                     FROM apalis.jobs WHERE status = 'Killed' ORDER BY done_at DESC, id DESC LIMIT $1",
                )
                .bind(i64::from(limit))
                .fetch_all(pool)
                .await
            }
        }
        .context("listing dead jobs")?;
        // A row of a queue that is no longer ours is not listed: no worker could take it either.
        Ok(rows.into_iter().filter_map(read).collect())
    }

    /// Puts a dead job back into its queue with all its attempts before it. `false`: it is not on the list.
    pub async fn retry_dead(&self, id: JobId) -> anyhow::Result<bool> {
        let queue: Option<String> = match &self.database {
            Database::Sqlite(pool) => {
                sqlx::query_scalar(
                    "UPDATE Jobs SET status = 'Pending', attempts = 0, run_at = unixepoch(),
                        lock_by = NULL, lock_at = NULL, done_at = NULL
                     WHERE id = ?1 AND status = 'Killed' RETURNING job_type",
                )
                .bind(id.to_string())
                .fetch_optional(pool)
                .await
            }
            Database::Postgres(pool) => {
                sqlx::query_scalar(
                    "UPDATE apalis.jobs SET status = 'Pending', attempts = 0, run_at = now(),
                        lock_by = NULL, lock_at = NULL, done_at = NULL
                     WHERE id = $1 AND status = 'Killed' RETURNING job_type",
                )
                .bind(id.to_string())
                .fetch_optional(pool)
                .await
            }
        }
        .context("retrying a dead job")?;
        if let Some(queue) = queue.as_deref().and_then(Queue::parse) {
            self.wakes.ring(queue);
        }
        Ok(queue.is_some())
    }
}

fn read((id, queue, payload, attempts, last_result, died_ms): DeadRow) -> Option<DeadJob> {
    Some(DeadJob {
        id: id.parse().ok()?,
        queue: Queue::parse(&queue)?,
        kind: kind_of(&payload),
        attempts: u32::try_from(attempts).unwrap_or(0),
        last_error: last_result.as_deref().map(error_in).unwrap_or_default(),
        died_at: Time::from_millis(died_ms.unwrap_or_default()),
    })
}

/// apalis keeps a result as `{"Err": "AbortError: <text>"}`.
fn error_in(last_result: &str) -> String {
    #[derive(Deserialize)]
    struct Failed {
        #[serde(rename = "Err")]
        error: String,
    }
    match serde_json::from_str(last_result) {
        Ok(Failed { error }) => error.strip_prefix("AbortError: ").unwrap_or(&error).to_owned(),
        Err(_) => last_result.to_owned(),
    }
}
