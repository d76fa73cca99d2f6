//! The statements for PostgreSQL. Times on job rows are `timestamptz`. Lists of names are bound as arrays.
//!
//! A job is cancelled if its last event is `cancelled`. That condition repeats the predicate of the index
//! `handbill_job_events_cancelled` exactly, so that finding cancelled jobs does not read all dead ones.
//!
//! Statements that lock many jobs lock them in the order of their ids, so that two of them never deadlock.

mod fetch;
mod newest;

use domain::Time;
use sqlx::{PgPool, Postgres, QueryBuilder};

#[cfg(test)]
pub(crate) use fetch::FETCH;
pub(crate) use fetch::fetch;
pub(crate) use newest::{RETRY_THESE, SEARCH};

use super::{PushedJob, StoredJob};

pub(crate) const NOW_MS: &str = "SELECT (extract(epoch FROM now()) * 1000)::bigint";

// Attempts, and jobs that change hands.

/// Ends attempts whose workers still hold the jobs. Repeating it changes nothing, even if the worker has
/// fetched a job again, unless the job was restarted meanwhile, which counts its attempts from zero. A new
/// payload replaces the stored one. The jobs are found by their ids, whatever the planner believes about the
/// table. A condition on the status would lead it to the index of running jobs, which has a dead entry for
/// every job that has run lately. So would the statements below, without the `|| ''`.
pub(crate) const ACKNOWLEDGE: &str = "
    WITH ended AS MATERIALIZED (
        SELECT id, worker, attempt, status, result, new_payload FROM jsonb_to_recordset($1::jsonb)
            AS given (id text, worker text, attempt integer, status text, result jsonb, new_payload text)
    ), locked AS MATERIALIZED (
        SELECT id FROM apalis.jobs WHERE id = ANY(ARRAY(SELECT id FROM ended)) ORDER BY id FOR UPDATE
    )
    UPDATE apalis.jobs AS jobs
    SET status = ended.status, attempts = ended.attempt, last_result = ended.result, done_at = now(),
        job = coalesce(convert_to(ended.new_payload, 'UTF8'), jobs.job)
    FROM ended WHERE jobs.id = ANY(ARRAY(SELECT id FROM locked)) AND jobs.id = ended.id
        AND jobs.lock_by = ended.worker AND jobs.attempts < ended.attempt";

pub(crate) const RELEASE: &str = "
    UPDATE apalis.jobs SET status = 'Pending', run_at = now() + $1 * interval '1 second',
        lock_by = NULL, lock_at = NULL
    WHERE id = $2 AND lock_by = $3 AND status || '' IN ('Queued', 'Running')";

pub(crate) const POSTPONE: &str = "
    UPDATE apalis.jobs SET run_at = now() + $1 * interval '1 millisecond'
    WHERE id = $2 AND lock_by = $3 AND status || '' IN ('Queued', 'Running')";

pub(crate) const GIVE_BACK: &str = "
    UPDATE apalis.jobs SET status = 'Pending', lock_by = NULL, lock_at = NULL
    WHERE status IN ('Queued', 'Running') AND starts_with(lock_by, $1)";

/// Records an attempt that has begun, if its worker still holds the job and the attempt is not recorded.
pub(crate) const NOTE_BEGUN: &str = "
    WITH held AS (
        SELECT id, lock_by, (extract(epoch FROM lock_at) * 1000)::bigint AS began_ms,
            (extract(epoch FROM run_at) * 1000)::bigint AS pushed_ms
        FROM apalis.jobs WHERE id = $1 AND lock_by = $2 AND status || '' IN ('Queued', 'Running') FOR UPDATE
    )
    INSERT INTO handbill_job_events (job_id, at_ms, kind, attempt, worker)
    SELECT id, pushed_ms, 'pushed', 0, NULL FROM held
    WHERE NOT EXISTS (SELECT FROM handbill_job_events WHERE job_id = held.id)
    UNION ALL SELECT id, began_ms, 'began', $3::bigint, lock_by FROM held
    WHERE NOT EXISTS (SELECT FROM handbill_job_events AS known
        WHERE known.job_id = held.id AND known.kind = 'began' AND known.attempt = $3::bigint AND known.worker = $2)";

/// Selects exactly the jobs that apalis then takes from lost workers, in the same transaction.
pub(crate) const NOTE_LOST: &str = "
    WITH lost AS (
        SELECT jobs.id, attempts + 1 AS attempt, lock_by,
            (extract(epoch FROM lock_at) * 1000)::bigint AS began_ms,
            (extract(epoch FROM run_at) * 1000)::bigint AS pushed_ms
        FROM apalis.jobs INNER JOIN apalis.workers ON jobs.lock_by = workers.id
        WHERE (jobs.status = 'Running' OR jobs.status = 'Queued')
            AND now() - workers.last_seen >= $1 * interval '1 second'
            AND workers.worker_type = $2
        FOR UPDATE OF jobs SKIP LOCKED
    )
    INSERT INTO handbill_job_events (job_id, at_ms, kind, attempt, worker, error)
    SELECT id, pushed_ms, 'pushed', 0, NULL, NULL FROM lost
    WHERE NOT EXISTS (SELECT FROM handbill_job_events WHERE job_id = lost.id)
    UNION ALL SELECT id, began_ms, 'began', attempt, lock_by, NULL FROM lost
    UNION ALL SELECT id, $3, 'failed', attempt, lock_by, $4 FROM lost";

/// The time of the push is not stored. Until the job is moved, it is the time when the first attempt is due.
pub(crate) const NOTE_PUSHED: &str = "
    INSERT INTO handbill_job_events (job_id, at_ms, kind, attempt)
    SELECT id, (extract(epoch FROM run_at) * 1000)::bigint, 'pushed', 0 FROM apalis.jobs
    WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM handbill_job_events WHERE job_id = $1)";

// Pushes.

pub(crate) const KNOWN: &str = "SELECT id, job_type FROM apalis.jobs WHERE id = ANY($1)";

pub(crate) const EXPEDITE: &str = "
    WITH asked AS MATERIALIZED (
        SELECT id FROM apalis.jobs WHERE id = ANY($1) ORDER BY id FOR UPDATE
    )
    UPDATE apalis.jobs SET status = 'Pending', run_at = now(), lock_by = NULL, lock_at = NULL,
        done_at = NULL, attempts = CASE status WHEN 'Killed' THEN 0 ELSE attempts END
    FROM asked WHERE jobs.id = asked.id
        AND (status = 'Killed' OR (status IN ('Pending', 'Failed') AND run_at > now()))";

// The board's lists. Finished and failed jobs have an index in the order of the list. The others are so few
// that they are sorted: `MATERIALIZED` keeps PostgreSQL from scanning millions of ids backwards instead.

const LIST_OVER: &str = "
    SELECT id, job_type, $2::text AS status, attempts::bigint AS attempts, max_attempts::bigint AS max_attempts,
        (extract(epoch FROM run_at) * 1000)::bigint AS due_ms, (extract(epoch FROM lock_at) * 1000)::bigint AS begun_ms,
        (extract(epoch FROM done_at) * 1000)::bigint AS ended_ms, lock_by, last_result::text AS last_result,
        substr(job, 1, $5::integer) AS payload
    FROM apalis.jobs WHERE job_type = $1 AND status = $2 AND id < $3 ORDER BY id DESC LIMIT $4";

const LIST_DEAD: &str = "
    SELECT id, job_type, $2::text AS status, attempts::bigint AS attempts, max_attempts::bigint AS max_attempts,
        (extract(epoch FROM run_at) * 1000)::bigint AS due_ms, (extract(epoch FROM lock_at) * 1000)::bigint AS begun_ms,
        (extract(epoch FROM done_at) * 1000)::bigint AS ended_ms, lock_by, last_result::text AS last_result,
        substr(job, 1, $5::integer) AS payload
    FROM apalis.jobs WHERE job_type = $1 AND status = $2 AND id < $3 AND id NOT IN (
        SELECT job_id FROM handbill_job_events AS called WHERE kind = 'cancelled' AND NOT EXISTS
        (SELECT 1 FROM handbill_job_events AS later WHERE later.job_id = called.job_id AND later.id > called.id)
    ) ORDER BY id DESC LIMIT $4";

const LIST_CANCELLED: &str = "
    SELECT id, job_type, $2::text AS status, attempts::bigint AS attempts, max_attempts::bigint AS max_attempts,
        (extract(epoch FROM run_at) * 1000)::bigint AS due_ms, (extract(epoch FROM lock_at) * 1000)::bigint AS begun_ms,
        (extract(epoch FROM done_at) * 1000)::bigint AS ended_ms, lock_by, last_result::text AS last_result,
        substr(job, 1, $5::integer) AS payload
    FROM apalis.jobs WHERE job_type = $1 AND status = 'Killed' AND id < $3 AND id IN (
        SELECT job_id FROM handbill_job_events AS called WHERE kind = 'cancelled' AND NOT EXISTS
        (SELECT 1 FROM handbill_job_events AS later WHERE later.job_id = called.job_id AND later.id > called.id)
    ) ORDER BY id DESC LIMIT $4";

const LIST_OTHERS: &str = "
    WITH listed AS MATERIALIZED (
        SELECT id FROM apalis.jobs WHERE job_type = $1 AND status = $2 AND id < $3
    )
    SELECT id, job_type, $2::text AS status, attempts::bigint AS attempts, max_attempts::bigint AS max_attempts,
        (extract(epoch FROM run_at) * 1000)::bigint AS due_ms, (extract(epoch FROM lock_at) * 1000)::bigint AS begun_ms,
        (extract(epoch FROM done_at) * 1000)::bigint AS ended_ms, lock_by, last_result::text AS last_result,
        substr(job, 1, $5::integer) AS payload
    FROM apalis.jobs WHERE id IN (SELECT id FROM listed ORDER BY id DESC LIMIT $4) ORDER BY id DESC";

/// One job, with its whole payload. A dead job that was cancelled has the status `Cancelled`.
pub(crate) const ONE: &str = "
    SELECT id, job_type,
        CASE WHEN status = 'Killed' AND (SELECT kind FROM handbill_job_events WHERE job_id = jobs.id
            ORDER BY id DESC LIMIT 1) = 'cancelled' THEN 'Cancelled' ELSE status END AS status,
        attempts::bigint AS attempts, max_attempts::bigint AS max_attempts,
        (extract(epoch FROM run_at) * 1000)::bigint AS due_ms, (extract(epoch FROM lock_at) * 1000)::bigint AS begun_ms,
        (extract(epoch FROM done_at) * 1000)::bigint AS ended_ms, lock_by, last_result::text AS last_result,
        job AS payload
    FROM apalis.jobs WHERE id = $1 AND job_type = $2";

pub(crate) const STATUS: &str = "
    SELECT CASE WHEN status = 'Killed' AND (SELECT kind FROM handbill_job_events WHERE job_id = jobs.id
        ORDER BY id DESC LIMIT 1) = 'cancelled' THEN 'Cancelled' ELSE status END
    FROM apalis.jobs WHERE id = $1 AND job_type = $2";

// There are millions of done jobs, so only rows that an index leads to are counted. Waiting jobs, running
// jobs, and finished or failed ones have an index each; a query for two of them at once would read the whole
// table.
/// Cancelled jobs count as `Killed` too.
pub(crate) const COUNT: &str = "
    SELECT job_type, status, count(*) AS jobs,
        (extract(epoch FROM min(run_at) FILTER (WHERE run_at <= now())) * 1000)::bigint AS oldest_due_ms
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
    FROM apalis.jobs WHERE id IN (
        SELECT job_id FROM handbill_job_events AS called WHERE kind = 'cancelled' AND NOT EXISTS
        (SELECT 1 FROM handbill_job_events AS later WHERE later.job_id = called.job_id AND later.id > called.id)
    ) AND status = 'Killed' GROUP BY job_type";

pub(crate) const RUNNING: &str = "
    SELECT id, job_type, lock_by, (extract(epoch FROM lock_at) * 1000)::bigint AS begun_ms,
        substr(job, 1, $1::integer) AS payload
    FROM apalis.jobs WHERE status IN ('Queued', 'Running') AND lock_by IS NOT NULL LIMIT $2";

// Processes.

/// Returns whether every other running process reads this format, too.
pub(crate) const HEARTBEAT: &str = "
    INSERT INTO handbill_processes
        (instance, role, host, process_id, version, takes, rates, started_at_ms, bus, format, rss_bytes,
        seen_at_ms)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $12, (extract(epoch FROM now()) * 1000)::bigint)
    ON CONFLICT (instance) DO UPDATE SET rates = excluded.rates, bus = excluded.bus,
        format = excluded.format, rss_bytes = excluded.rss_bytes, seen_at_ms = excluded.seen_at_ms
    RETURNING NOT EXISTS (SELECT FROM handbill_processes AS other
        WHERE other.instance <> $1 AND coalesce(other.format, 0) < $10
            AND other.seen_at_ms > (extract(epoch FROM now()) * 1000)::bigint - $11)";

pub(crate) const PROCESSES: &str = "
    SELECT instance, role, host, process_id, version, takes, rss_bytes, started_at_ms,
        (extract(epoch FROM now()) * 1000)::bigint - seen_at_ms AS silent_ms
    FROM handbill_processes WHERE seen_at_ms > (extract(epoch FROM now()) * 1000)::bigint - $1
    ORDER BY seen_at_ms DESC LIMIT $2";

pub(crate) const COUNT_SILENT: &str = "
    SELECT count(*) FROM handbill_processes
    WHERE seen_at_ms <= (extract(epoch FROM now()) * 1000)::bigint - $1
        AND seen_at_ms > (extract(epoch FROM now()) * 1000)::bigint - $2";

/// Processes on another bus. A process of a release that reports no bus is not one, because it runs during an
/// upgrade.
pub(crate) const ON_OTHER_BUS: &str = "
    SELECT role, host, process_id FROM handbill_processes
    WHERE instance <> $1 AND bus <> $2 AND seen_at_ms > (extract(epoch FROM now()) * 1000)::bigint - $3
    ORDER BY started_at_ms LIMIT 1";

// What operators do to jobs.

pub(crate) const RETRY: &str = "
    UPDATE apalis.jobs SET status = 'Pending', attempts = 0, run_at = now(), lock_by = NULL, lock_at = NULL,
        done_at = NULL
    WHERE id = $1 AND job_type = $2 AND status IN ('Killed', 'Failed')";

pub(crate) const CANCEL: &str = "
    UPDATE apalis.jobs SET status = 'Killed', done_at = now(), last_result = $3::jsonb
    WHERE id = $1 AND job_type = $2 AND status IN ('Pending', 'Failed')";

/// A discarded job keeps its error. From now on it is kept as long as done jobs are.
pub(crate) const DISCARD: &str = "
    UPDATE apalis.jobs SET done_at = now() WHERE id = $1 AND job_type = $2 AND status = 'Killed' AND id NOT IN (
        SELECT job_id FROM handbill_job_events AS called WHERE kind = 'cancelled' AND NOT EXISTS
        (SELECT 1 FROM handbill_job_events AS later WHERE later.job_id = called.job_id AND later.id > called.id)
    )";

// The status is checked again on the row itself. Otherwise a statement that waited for a row lock would take
// a job that runs again from its worker.
/// Retries some jobs that were dead at a time. A cancelled job stays cancelled until that job itself is
/// retried.
pub(crate) const RETRY_DEAD: &str = "
    WITH dead AS MATERIALIZED (
        SELECT id FROM apalis.jobs
        WHERE job_type = $1 AND status = 'Killed'
            AND (done_at IS NULL OR done_at <= to_timestamp($2::float8 / 1000)) AND id NOT IN (
            SELECT job_id FROM handbill_job_events AS called WHERE kind = 'cancelled' AND NOT EXISTS
            (SELECT 1 FROM handbill_job_events AS later WHERE later.job_id = called.job_id AND later.id > called.id)
        ) ORDER BY id LIMIT $3 FOR UPDATE
    )
    UPDATE apalis.jobs SET status = 'Pending', attempts = 0, run_at = now(), lock_by = NULL, lock_at = NULL,
        done_at = NULL
    FROM dead WHERE jobs.id = dead.id AND jobs.status = 'Killed'
    RETURNING jobs.id";

pub(crate) const DISCARD_DEAD: &str = "
    WITH dead AS MATERIALIZED (
        SELECT id FROM apalis.jobs
        WHERE job_type = $1 AND status = 'Killed'
            AND (done_at IS NULL OR done_at <= to_timestamp($2::float8 / 1000)) AND id NOT IN (
            SELECT job_id FROM handbill_job_events AS called WHERE kind = 'cancelled' AND NOT EXISTS
            (SELECT 1 FROM handbill_job_events AS later WHERE later.job_id = called.job_id AND later.id > called.id)
        ) ORDER BY id LIMIT $3 FOR UPDATE
    )
    UPDATE apalis.jobs SET done_at = now()
    FROM dead WHERE jobs.id = dead.id AND jobs.status = 'Killed'
    RETURNING jobs.id";

// Retention and copies. A locked job is being retried, so it is left to the next pass.

pub(crate) const DELETE_DONE: &str = "
    WITH forgotten AS MATERIALIZED (
        SELECT id FROM apalis.jobs WHERE status = 'Done'
            AND done_at < to_timestamp($1::float8 / 1000) LIMIT $2 FOR UPDATE SKIP LOCKED
    )
    DELETE FROM apalis.jobs USING forgotten WHERE jobs.id = forgotten.id RETURNING jobs.id";

pub(crate) const DELETE_CANCELLED: &str = "
    WITH forgotten AS MATERIALIZED (
        SELECT id FROM apalis.jobs WHERE status = 'Killed' AND id IN (
            SELECT job_id FROM handbill_job_events AS called WHERE kind = 'cancelled' AND NOT EXISTS
            (SELECT 1 FROM handbill_job_events AS later WHERE later.job_id = called.job_id AND later.id > called.id)
        ) AND done_at < to_timestamp($1::float8 / 1000) LIMIT $2 FOR UPDATE SKIP LOCKED
    )
    DELETE FROM apalis.jobs USING forgotten WHERE jobs.id = forgotten.id RETURNING jobs.id";

pub(crate) const DELETE_SILENT_WORKERS: &str = "
    DELETE FROM apalis.workers WHERE last_seen < to_timestamp($1::float8 / 1000)
        AND NOT EXISTS (SELECT FROM apalis.jobs WHERE lock_by = workers.id)";

pub(crate) const DELETE_EVENTS: &str = "DELETE FROM handbill_job_events WHERE job_id = ANY($1)";

pub(crate) const COUNT_ALL: &str = "SELECT count(*) FROM apalis.jobs";

pub(crate) const UNFINISHED: &str = "
    SELECT id, job_type, job, status, attempts::bigint AS attempts, max_attempts::bigint AS max_attempts,
        extract(epoch FROM run_at)::bigint AS run_at, last_result::text AS last_result,
        extract(epoch FROM done_at)::bigint AS done_at, coalesce(priority, 0)::bigint AS priority
    FROM apalis.jobs WHERE id > $1 AND status <> 'Done' AND ($2::text IS NULL OR job_type = $2)
    ORDER BY id LIMIT $3";

/// The statement that lists the jobs of a status for the board.
pub(crate) fn list_of(status: &str) -> &'static str {
    match status {
        "Done" | "Failed" => LIST_OVER,
        "Killed" => LIST_DEAD,
        "Cancelled" => LIST_CANCELLED,
        _ => LIST_OTHERS,
    }
}

/// A list of names, as the statements bind it.
pub(crate) fn names<'a>(names: &'a [&'a str]) -> &'a [&'a str] {
    names
}

/// A time, as the statements bind it.
pub(crate) fn moment(time: Time) -> i64 {
    time.millis()
}

/// Returns the ids of the new jobs.
pub(crate) async fn insert_pushed(pool: &PgPool, jobs: &[PushedJob<'_>]) -> sqlx::Result<Vec<String>> {
    sqlx::query_scalar(
        "INSERT INTO apalis.jobs (id, job_type, job, max_attempts, run_at)
         SELECT id, job_type, job, max_attempts, now()
         FROM unnest($1::text[], $2::text[], $3::bytea[], $4::integer[])
             AS pushed (id, job_type, job, max_attempts)
         ON CONFLICT DO NOTHING RETURNING id",
    )
    .bind(jobs.iter().map(|job| job.id).collect::<Vec<_>>())
    .bind(jobs.iter().map(|job| job.queue.name()).collect::<Vec<_>>())
    .bind(jobs.iter().map(|job| job.payload).collect::<Vec<_>>())
    .bind(jobs.iter().map(|job| job.queue.attempts_max().cast_signed()).collect::<Vec<_>>())
    .fetch_all(pool)
    .await
}

/// Restarts finished jobs, and returns their ids.
pub(crate) async fn restart(pool: &PgPool, jobs: &[PushedJob<'_>]) -> sqlx::Result<Vec<String>> {
    sqlx::query_scalar(
        "WITH finished AS MATERIALIZED (
             SELECT id FROM apalis.jobs WHERE id = ANY($1) AND status IN ('Done', 'Killed') ORDER BY id FOR UPDATE
         )
         UPDATE apalis.jobs SET status = 'Pending', attempts = 0, run_at = now(), job = pushed.job,
            lock_by = NULL, lock_at = NULL, done_at = NULL
         FROM finished, unnest($1::text[], $2::bytea[]) AS pushed (id, job)
         WHERE jobs.id = finished.id AND finished.id = pushed.id AND jobs.status IN ('Done', 'Killed')
         RETURNING jobs.id",
    )
    .bind(jobs.iter().map(|job| job.id).collect::<Vec<_>>())
    .bind(jobs.iter().map(|job| job.payload).collect::<Vec<_>>())
    .fetch_all(pool)
    .await
}

pub(crate) async fn insert_copied(pool: &PgPool, jobs: &[StoredJob]) -> sqlx::Result<()> {
    let mut insert: QueryBuilder<Postgres> = QueryBuilder::new(
        "INSERT INTO apalis.jobs (id, job_type, job, status, attempts, max_attempts, run_at, last_result, done_at, \
         priority) ",
    );
    insert.push_values(jobs, |mut values, row| {
        values.push_bind(&row.id).push_bind(&row.job_type).push_bind(&row.job).push_bind(row.copied_status());
        values.push_bind(row.attempts).push_unseparated("::integer");
        values.push_bind(row.max_attempts).push_unseparated("::integer");
        values.push("to_timestamp(").push_bind_unseparated(row.run_at).push_unseparated("::bigint)");
        values.push_bind(result_as_json(row)).push_unseparated("::jsonb");
        values.push("to_timestamp(").push_bind_unseparated(row.done_at).push_unseparated("::bigint)");
        values.push_bind(row.priority).push_unseparated("::integer");
    });
    insert.build().execute(pool).await.map(drop)
}

/// SQLite stores any text as a result, and PostgreSQL only JSON.
fn result_as_json(job: &StoredJob) -> Option<String> {
    let result = job.last_result.as_ref()?;
    let is_json = serde_json::from_str::<serde_json::Value>(result).is_ok();
    Some(if is_json { result.clone() } else { serde_json::Value::from(result.as_str()).to_string() })
}
