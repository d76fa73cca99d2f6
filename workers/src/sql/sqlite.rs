//! The statements for SQLite. Times on job rows are in seconds. Lists of names are bound as one JSON text.
//!
//! A job is cancelled if its last event is `cancelled`. That condition repeats the predicate of the index
//! `handbill_job_events_cancelled` exactly. Otherwise SQLite would not use the index, and read every dead
//! job.

use domain::Time;
use sqlx::{QueryBuilder, Sqlite, SqlitePool};

use super::{PushedJob, StoredJob};

pub(crate) const NOW_MS: &str = "SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER)";

// Attempts, and jobs that change hands.

/// Ends attempts whose workers still hold the jobs. Repeating it changes nothing, even if the worker has
/// fetched a job again, unless the job was restarted meanwhile, which counts its attempts from zero. A new
/// payload replaces the stored one.
pub(crate) const ACKNOWLEDGE: &str = "
    WITH ended AS (
        SELECT value ->> 'id' AS id, value ->> 'worker' AS worker, value ->> 'attempt' AS attempt,
            value ->> 'status' AS status, value -> 'result' AS result, value ->> 'new_payload' AS new_payload
        FROM json_each(?1)
    )
    UPDATE Jobs SET status = ended.status, attempts = ended.attempt, last_result = ended.result, done_at = unixepoch(),
        job = coalesce(CAST(ended.new_payload AS BLOB), Jobs.job)
    FROM ended WHERE Jobs.id = ended.id AND Jobs.lock_by = ended.worker AND Jobs.attempts < ended.attempt";

pub(crate) const RELEASE: &str = "
    UPDATE Jobs SET status = 'Pending', run_at = unixepoch() + ?1, lock_by = NULL, lock_at = NULL
    WHERE id = ?2 AND lock_by = ?3 AND status IN ('Queued', 'Running')";

pub(crate) const POSTPONE: &str = "
    UPDATE Jobs SET run_at = (CAST(unixepoch('now', 'subsec') * 1000 AS INTEGER) + ?1 + 999) / 1000
    WHERE id = ?2 AND lock_by = ?3 AND status IN ('Queued', 'Running')";

pub(crate) const GIVE_BACK: &str = "
    UPDATE Jobs SET status = 'Pending', lock_by = NULL, lock_at = NULL
    WHERE status IN ('Queued', 'Running') AND substr(lock_by, 1, length(?1)) = ?1";

/// Records an attempt that has begun, if its worker still holds the job and the attempt is not recorded.
pub(crate) const NOTE_BEGUN: &str = "
    WITH held AS (
        SELECT id, lock_by, lock_at * 1000 AS began_ms, run_at * 1000 AS pushed_ms FROM Jobs
        WHERE id = $1 AND lock_by = $2 AND status IN ('Queued', 'Running')
    )
    INSERT INTO handbill_job_events (job_id, at_ms, kind, attempt, worker)
    SELECT id, pushed_ms, 'pushed', 0, NULL FROM held
    WHERE NOT EXISTS (SELECT 1 FROM handbill_job_events WHERE job_id = held.id)
    UNION ALL SELECT id, began_ms, 'began', $3, lock_by FROM held
    WHERE NOT EXISTS (SELECT 1 FROM handbill_job_events AS known
        WHERE known.job_id = held.id AND known.kind = 'began' AND known.attempt = $3 AND known.worker = $2)";

/// Selects exactly the jobs that apalis then takes from lost workers, in the same transaction.
pub(crate) const NOTE_LOST: &str = "
    WITH lost AS (
        SELECT Jobs.id, attempts + 1 AS attempt, lock_by, lock_at * 1000 AS began_ms, run_at * 1000 AS pushed_ms
        FROM Jobs INNER JOIN Workers ON lock_by = Workers.id
        WHERE (status = 'Running' OR status = 'Queued')
            AND strftime('%s', 'now') - Workers.last_seen >= $1
            AND Workers.worker_type = $2 AND Workers.id != $3
    )
    INSERT INTO handbill_job_events (job_id, at_ms, kind, attempt, worker, error)
    SELECT id, pushed_ms, 'pushed', 0, NULL, NULL FROM lost
    WHERE NOT EXISTS (SELECT 1 FROM handbill_job_events WHERE job_id = lost.id)
    UNION ALL SELECT id, began_ms, 'began', attempt, lock_by, NULL FROM lost
    UNION ALL SELECT id, $4, 'failed', attempt, lock_by, $5 FROM lost";

/// The time of the push is not stored. Until the job is moved, it is the time when the first attempt is due.
pub(crate) const NOTE_PUSHED: &str = "
    INSERT INTO handbill_job_events (job_id, at_ms, kind, attempt)
    SELECT id, run_at * 1000, 'pushed', 0 FROM Jobs
    WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM handbill_job_events WHERE job_id = $1)";

// Pushes.

pub(crate) const KNOWN: &str = "SELECT id, job_type FROM Jobs WHERE id IN (SELECT value FROM json_each(?1))";

pub(crate) const EXPEDITE: &str = "
    UPDATE Jobs SET status = 'Pending', run_at = unixepoch(), lock_by = NULL, lock_at = NULL,
        done_at = NULL, attempts = CASE status WHEN 'Killed' THEN 0 ELSE attempts END
    WHERE id IN (SELECT value FROM json_each(?1))
        AND (status = 'Killed' OR (status IN ('Pending', 'Failed') AND run_at > unixepoch()))";

// The board's lists. Done jobs have an index in the order of the list. The others are so few that they are
// sorted: the plus keeps SQLite from scanning millions of ids backwards instead.

const LIST_DONE: &str = "
    SELECT id, job_type, ?2 AS status, attempts, max_attempts, run_at * 1000 AS due_ms, lock_at * 1000 AS begun_ms,
        done_at * 1000 AS ended_ms, lock_by, last_result, substr(job, 1, ?5) AS payload
    FROM Jobs WHERE job_type = ?1 AND status = 'Done' AND id < ?3 ORDER BY id DESC LIMIT ?4";

const LIST_DEAD: &str = "
    SELECT id, job_type, ?2 AS status, attempts, max_attempts, run_at * 1000 AS due_ms, lock_at * 1000 AS begun_ms,
        done_at * 1000 AS ended_ms, lock_by, last_result, substr(job, 1, ?5) AS payload
    FROM Jobs WHERE job_type = ?1 AND status = ?2 AND +id < ?3 AND +id NOT IN (
        SELECT job_id FROM handbill_job_events AS called WHERE kind = 'cancelled' AND NOT EXISTS
        (SELECT 1 FROM handbill_job_events AS later WHERE later.job_id = called.job_id AND later.id > called.id)
    ) ORDER BY +id DESC LIMIT ?4";

const LIST_CANCELLED: &str = "
    SELECT id, job_type, ?2 AS status, attempts, max_attempts, run_at * 1000 AS due_ms, lock_at * 1000 AS begun_ms,
        done_at * 1000 AS ended_ms, lock_by, last_result, substr(job, 1, ?5) AS payload
    FROM Jobs WHERE +job_type = ?1 AND +status = 'Killed' AND +id < ?3 AND id IN (
        SELECT job_id FROM handbill_job_events AS called WHERE kind = 'cancelled' AND NOT EXISTS
        (SELECT 1 FROM handbill_job_events AS later WHERE later.job_id = called.job_id AND later.id > called.id)
    ) ORDER BY +id DESC LIMIT ?4";

const LIST_OTHERS: &str = "
    SELECT id, job_type, ?2 AS status, attempts, max_attempts, run_at * 1000 AS due_ms, lock_at * 1000 AS begun_ms,
        done_at * 1000 AS ended_ms, lock_by, last_result, substr(job, 1, ?5) AS payload
    FROM Jobs WHERE job_type = ?1 AND status = ?2 AND +id < ?3 ORDER BY +id DESC LIMIT ?4";

// Nothing leads from a text to the jobs that contain it, so the newest jobs are read, and the beginning of
// each.
/// The newest jobs whose payloads contain every text of at least one term. `?1` is a JSON array of terms, and
/// a term is an array of texts.
pub(crate) const SEARCH: &str = "
    SELECT id, job_type,
        CASE WHEN status = 'Killed' AND (SELECT kind FROM handbill_job_events WHERE job_id = newest.id
            ORDER BY id DESC LIMIT 1) = 'cancelled' THEN 'Cancelled' ELSE status END AS status,
        attempts, max_attempts, run_at * 1000 AS due_ms, lock_at * 1000 AS begun_ms, done_at * 1000 AS ended_ms,
        lock_by, last_result, substr(job, 1, ?2) AS payload
    FROM (SELECT * FROM Jobs ORDER BY id DESC LIMIT ?3) AS newest
    WHERE EXISTS (SELECT 1 FROM json_each(?1) AS term WHERE NOT EXISTS (SELECT 1 FROM json_each(term.value) AS part
        WHERE instr(CAST(substr(job, 1, ?4) AS TEXT), part.value) = 0))
    ORDER BY id DESC LIMIT ?5";

/// One job, with its whole payload. A dead job that was cancelled has the status `Cancelled`.
pub(crate) const ONE: &str = "
    SELECT id, job_type,
        CASE WHEN status = 'Killed' AND (SELECT kind FROM handbill_job_events WHERE job_id = jobs.id
            ORDER BY id DESC LIMIT 1) = 'cancelled' THEN 'Cancelled' ELSE status END AS status,
        attempts, max_attempts, run_at * 1000 AS due_ms, lock_at * 1000 AS begun_ms, done_at * 1000 AS ended_ms,
        lock_by, last_result, job AS payload
    FROM Jobs WHERE id = ?1 AND job_type = ?2";

pub(crate) const STATUS: &str = "
    SELECT CASE WHEN status = 'Killed' AND (SELECT kind FROM handbill_job_events WHERE job_id = jobs.id
        ORDER BY id DESC LIMIT 1) = 'cancelled' THEN 'Cancelled' ELSE status END
    FROM Jobs WHERE id = ?1 AND job_type = ?2";

/// There are millions of done jobs, so only rows that an index leads to are counted. Cancelled jobs count as
/// `Killed` too.
pub(crate) const COUNT: &str = "
    SELECT job_type, status, count(*) AS jobs,
        min(CASE WHEN run_at <= unixepoch() THEN run_at END) * 1000 AS oldest_due_ms
    FROM Jobs WHERE job_type IN (SELECT value FROM json_each(?1))
        AND status IN ('Pending', 'Queued', 'Running', 'Failed', 'Killed')
    GROUP BY job_type, status
    UNION ALL
    SELECT job_type, 'Cancelled', count(*), NULL
    FROM Jobs WHERE id IN (
        SELECT job_id FROM handbill_job_events AS called WHERE kind = 'cancelled' AND NOT EXISTS
        (SELECT 1 FROM handbill_job_events AS later WHERE later.job_id = called.job_id AND later.id > called.id)
    ) AND +status = 'Killed' GROUP BY job_type";

pub(crate) const RUNNING: &str = "
    SELECT id, job_type, lock_by, lock_at * 1000 AS begun_ms, substr(job, 1, ?1) AS payload FROM Jobs
    WHERE job_type IN (SELECT value FROM json_each(?2)) AND status IN ('Queued', 'Running')
    AND lock_by IS NOT NULL LIMIT ?3";

// Processes.

/// Returns true: the process that uses a SQLite file locks it, so no other process reads its data.
pub(crate) const HEARTBEAT: &str = "
    INSERT INTO handbill_processes
        (instance, role, host, process_id, version, takes, rates, started_at_ms, bus, format, rss_bytes,
        seen_at_ms)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $12, CAST(unixepoch('subsec') * 1000 AS INTEGER))
    ON CONFLICT (instance) DO UPDATE SET rates = excluded.rates, bus = excluded.bus,
        format = excluded.format, rss_bytes = excluded.rss_bytes, seen_at_ms = excluded.seen_at_ms
    RETURNING $11 > 0";

pub(crate) const PROCESSES: &str = "
    SELECT instance, role, host, process_id, version, takes, rss_bytes, started_at_ms,
        CAST(unixepoch('subsec') * 1000 AS INTEGER) - seen_at_ms AS silent_ms
    FROM handbill_processes WHERE seen_at_ms > CAST(unixepoch('subsec') * 1000 AS INTEGER) - $1
    ORDER BY seen_at_ms DESC LIMIT $2";

pub(crate) const COUNT_SILENT: &str = "
    SELECT count(*) FROM handbill_processes
    WHERE seen_at_ms <= CAST(unixepoch('subsec') * 1000 AS INTEGER) - $1
        AND seen_at_ms > CAST(unixepoch('subsec') * 1000 AS INTEGER) - $2";

// What operators do to jobs.

pub(crate) const RETRY: &str = "
    UPDATE Jobs SET status = 'Pending', attempts = 0, run_at = unixepoch(), lock_by = NULL, lock_at = NULL,
        done_at = NULL
    WHERE id = $1 AND job_type = $2 AND status IN ('Killed', 'Failed')";

pub(crate) const CANCEL: &str = "
    UPDATE Jobs SET status = 'Killed', done_at = unixepoch(), last_result = $3
    WHERE id = $1 AND job_type = $2 AND status IN ('Pending', 'Failed')";

/// A discarded job keeps its error. From now on it is kept as long as done jobs are.
pub(crate) const DISCARD: &str = "
    UPDATE Jobs SET done_at = unixepoch() WHERE id = $1 AND job_type = $2 AND status = 'Killed' AND id NOT IN (
        SELECT job_id FROM handbill_job_events AS called WHERE kind = 'cancelled' AND NOT EXISTS
        (SELECT 1 FROM handbill_job_events AS later WHERE later.job_id = called.job_id AND later.id > called.id)
    )";

/// Retries some jobs that were dead at a time. A cancelled job stays cancelled until that job itself is
/// retried.
pub(crate) const RETRY_DEAD: &str = "
    UPDATE Jobs SET status = 'Pending', attempts = 0, run_at = unixepoch(), lock_by = NULL, lock_at = NULL,
        done_at = NULL
    WHERE id IN (
        SELECT id FROM Jobs
        WHERE job_type = $1 AND status = 'Killed' AND (done_at IS NULL OR done_at * 1000 <= $2) AND id NOT IN (
            SELECT job_id FROM handbill_job_events AS called WHERE kind = 'cancelled' AND NOT EXISTS
            (SELECT 1 FROM handbill_job_events AS later WHERE later.job_id = called.job_id AND later.id > called.id)
        ) LIMIT $3
    ) RETURNING id";

/// Retries those of the jobs that are dead.
pub(crate) const RETRY_THESE: &str = "
    UPDATE Jobs SET status = 'Pending', attempts = 0, run_at = unixepoch(), lock_by = NULL, lock_at = NULL,
        done_at = NULL
    WHERE id IN (SELECT value FROM json_each($1)) AND job_type = $2 AND status = 'Killed' AND id NOT IN (
        SELECT job_id FROM handbill_job_events AS called WHERE kind = 'cancelled' AND NOT EXISTS
        (SELECT 1 FROM handbill_job_events AS later WHERE later.job_id = called.job_id AND later.id > called.id)
    ) RETURNING id";

pub(crate) const DISCARD_DEAD: &str = "
    UPDATE Jobs SET done_at = unixepoch()
    WHERE id IN (
        SELECT id FROM Jobs
        WHERE job_type = $1 AND status = 'Killed' AND (done_at IS NULL OR done_at * 1000 <= $2) AND id NOT IN (
            SELECT job_id FROM handbill_job_events AS called WHERE kind = 'cancelled' AND NOT EXISTS
            (SELECT 1 FROM handbill_job_events AS later WHERE later.job_id = called.job_id AND later.id > called.id)
        ) LIMIT $3
    ) RETURNING id";

// Retention and copies.

pub(crate) const DELETE_DONE: &str = "
    DELETE FROM Jobs WHERE id IN (SELECT id FROM Jobs WHERE status = 'Done' AND done_at < ?1 LIMIT ?2)
    RETURNING id";

pub(crate) const DELETE_CANCELLED: &str = "
    DELETE FROM Jobs WHERE id IN (
        SELECT id FROM Jobs WHERE status = 'Killed' AND id IN (
            SELECT job_id FROM handbill_job_events AS called WHERE kind = 'cancelled' AND NOT EXISTS
            (SELECT 1 FROM handbill_job_events AS later WHERE later.job_id = called.job_id AND later.id > called.id)
        ) AND done_at < ?1 LIMIT ?2
    ) RETURNING id";

pub(crate) const DELETE_SILENT_WORKERS: &str = "
    DELETE FROM Workers WHERE last_seen < ?1 AND NOT EXISTS (SELECT 1 FROM Jobs WHERE lock_by = Workers.id)";

pub(crate) const DELETE_EVENTS: &str = "
    DELETE FROM handbill_job_events WHERE job_id IN (SELECT value FROM json_each(?1))";

pub(crate) const COUNT_ALL: &str = "SELECT count(*) FROM Jobs";

pub(crate) const UNFINISHED: &str = "
    SELECT id, job_type, job, status, attempts, max_attempts, run_at, last_result, done_at, priority
    FROM Jobs WHERE id > ?1 AND status <> 'Done' AND (?2 IS NULL OR job_type = ?2)
    ORDER BY id LIMIT ?3";

/// The statement that lists the jobs of a status for the board.
pub(crate) fn list_of(status: &str) -> &'static str {
    match status {
        "Done" => LIST_DONE,
        "Killed" => LIST_DEAD,
        "Cancelled" => LIST_CANCELLED,
        _ => LIST_OTHERS,
    }
}

/// A list of names, as the statements bind it.
pub(crate) fn names(names: &[&str]) -> String {
    serde_json::Value::from(names).to_string()
}

/// A time, as apalis' columns store it.
pub(crate) fn moment(time: Time) -> i64 {
    time.millis() / 1000
}

/// Returns the ids of the new jobs.
pub(crate) async fn insert_pushed(pool: &SqlitePool, jobs: &[PushedJob<'_>]) -> sqlx::Result<Vec<String>> {
    let mut insert: QueryBuilder<Sqlite> =
        QueryBuilder::new("INSERT INTO Jobs (id, job_type, job, max_attempts, run_at) ");
    insert.push_values(jobs, |mut values, job| {
        values.push_bind(job.id).push_bind(job.queue.name()).push_bind(job.payload);
        values.push_bind(i64::from(job.queue.attempts_max())).push("unixepoch()");
    });
    insert.push(" ON CONFLICT DO NOTHING RETURNING id");
    insert.build_query_scalar().fetch_all(pool).await
}

/// Restarts finished jobs, and returns their ids.
pub(crate) async fn restart(pool: &SqlitePool, jobs: &[PushedJob<'_>]) -> sqlx::Result<Vec<String>> {
    let mut update: QueryBuilder<Sqlite> = QueryBuilder::new("WITH pushed (id, job) AS (");
    update.push_values(jobs, |mut values, job| {
        values.push_bind(job.id).push_bind(job.payload);
    });
    update.push(
        ") UPDATE Jobs SET status = 'Pending', attempts = 0, run_at = unixepoch(), job = pushed.job,
            lock_by = NULL, lock_at = NULL, done_at = NULL
         FROM pushed WHERE Jobs.id = pushed.id AND Jobs.status IN ('Done', 'Killed') RETURNING Jobs.id",
    );
    update.build_query_scalar().fetch_all(pool).await
}

pub(crate) async fn insert_copied(pool: &SqlitePool, jobs: &[StoredJob]) -> sqlx::Result<()> {
    let mut insert: QueryBuilder<Sqlite> = QueryBuilder::new(
        "INSERT INTO Jobs (id, job_type, job, status, attempts, max_attempts, run_at, last_result, done_at, priority) ",
    );
    insert.push_values(jobs, |mut values, row| {
        values.push_bind(&row.id).push_bind(&row.job_type).push_bind(&row.job).push_bind(row.copied_status());
        values.push_bind(row.attempts).push_bind(row.max_attempts).push_bind(row.run_at);
        values.push_bind(&row.last_result).push_bind(row.done_at).push_bind(row.priority);
    });
    insert.build().execute(pool).await.map(drop)
}
