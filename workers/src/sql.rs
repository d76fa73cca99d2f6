//! The queue's SQL. [`sqlite`] and [`postgres`] have the same names, each with the statement for its
//! database; [`on_either!`] selects the module along with the pool. A statement that both databases
//! understand is defined where it is used, and the schema in `schema.rs`.
//!
//! Times on a job's row come only from the database's clock, because a process's clock may be off.

pub(crate) mod postgres;
pub(crate) mod sqlite;

use domain::Queue;

/// Runs the same code on either database. The three-part form also names the module with that database's
/// statements.
macro_rules! on_either {
    ($database:expr, $pool:ident => $does:expr) => {
        match $database {
            $crate::database::Database::Sqlite($pool) => $does,
            $crate::database::Database::Postgres($pool) => $does,
        }
    };
    ($database:expr, $sql:ident, $pool:ident => $does:expr) => {
        match $database {
            $crate::database::Database::Sqlite($pool) => {
                use $crate::sql::sqlite as $sql;
                $does
            }
            $crate::database::Database::Postgres($pool) => {
                use $crate::sql::postgres as $sql;
                $does
            }
        }
    };
}
pub(crate) use on_either;

/// A pushed job.
#[derive(Clone, Copy)]
pub(crate) struct PushedJob<'a> {
    pub(crate) id: &'a str,
    pub(crate) queue: Queue,
    pub(crate) payload: &'a [u8],
}

/// A job as stored. Times are in seconds, as in apalis.
#[derive(sqlx::FromRow)]
pub(crate) struct StoredJob {
    pub(crate) id: String,
    pub(crate) job_type: String,
    pub(crate) job: Vec<u8>,
    pub(crate) status: String,
    pub(crate) attempts: i64,
    pub(crate) max_attempts: i64,
    pub(crate) run_at: i64,
    pub(crate) last_result: Option<String>,
    pub(crate) done_at: Option<i64>,
    pub(crate) priority: i64,
}

impl StoredJob {
    /// The status in a copy, where the worker that held the job is gone.
    pub(crate) fn copied_status(&self) -> &str {
        match self.status.as_str() {
            "Queued" | "Running" => "Pending",
            status => status,
        }
    }
}

/// An event as stored.
#[derive(sqlx::FromRow)]
pub(crate) struct EventRow {
    pub(crate) job_id: String,
    pub(crate) at_ms: i64,
    pub(crate) kind: String,
    pub(crate) attempt: i64,
    pub(crate) worker: Option<String>,
    pub(crate) told_by: Option<String>,
    pub(crate) error: Option<String>,
    pub(crate) retry_at_ms: Option<i64>,
}
