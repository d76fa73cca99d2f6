//! Taking jobs from a queue on PostgreSQL.
//!
//! apalis' function for it is planned again in every call. The plan does not know the requested number of
//! jobs and assumes a tenth of the waiting ones. The function also returns whole rows, and so fails once
//! after a column was added.

use apalis_core::task::Task;
use apalis_core::task::builder::TaskBuilder;
use apalis_core::task::status::Status;
use apalis_core::task::task_id::TaskId;
use domain::Queue;
use sqlx::PgPool;

/// The same jobs in the same order as by apalis' function.
///
/// The constant limit lets the plan walk the index in the order of the jobs, even if the plan is cached and
/// does not know the other limit. It is the most that a worker requests. Only requested rows are locked,
/// because each limit reads no further row when it is reached. The rows are then found by their ids, whatever
/// the planner believes about the table.
pub(crate) const FETCH: &str = "
    WITH due AS MATERIALIZED (
        SELECT id FROM (
            SELECT id FROM apalis.jobs
            WHERE (status = 'Pending' OR (status = 'Failed' AND attempts < max_attempts))
                AND run_at < now() AND job_type = $2
            ORDER BY priority DESC, run_at LIMIT 16 FOR UPDATE SKIP LOCKED
        ) AS first LIMIT $3
    )
    UPDATE apalis.jobs SET status = 'Queued', lock_by = $1, lock_at = now()
    WHERE id = ANY(ARRAY(SELECT id FROM due))
    RETURNING id, job, attempts, max_attempts";

#[derive(sqlx::FromRow)]
struct FetchedJob {
    id: String,
    job: Vec<u8>,
    attempts: i32,
    max_attempts: i32,
}

/// Locks due jobs of a queue for a worker, at most 16.
pub(crate) async fn fetch(
    pool: &PgPool,
    queue: Queue,
    worker: &str,
    at_most: usize,
) -> sqlx::Result<Vec<Task<Vec<u8>>>> {
    let fetch = sqlx::query_as(FETCH)
        .bind(worker)
        .bind(queue.name())
        .bind(i64::try_from(at_most).unwrap_or(i64::MAX));
    let jobs: Vec<FetchedJob> = fetch.fetch_all(pool).await?;
    jobs.into_iter().map(|job| task_of(job, worker)).collect()
}

fn task_of(job: FetchedJob, worker: &str) -> sqlx::Result<Task<Vec<u8>>> {
    let id = ulid::Ulid::from_string(&job.id).map_err(|error| sqlx::Error::Decode(error.into()))?;
    Ok(TaskBuilder::new(job.job)
        .task_id(TaskId::from_ulid(id))
        .status(Status::Queued)
        .attempt(usize::try_from(job.attempts).unwrap_or_default())
        .max_attempts(usize::try_from(job.max_attempts).unwrap_or_default())
        .lock_by(Some(worker.to_owned()))
        .build())
}
