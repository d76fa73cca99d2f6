//! What happened to a job, kept for those that did not simply succeed: failed attempts, deaths, retries, cancels. A job
//! that succeeds at once costs no write; its row tells all there is. Events go with their jobs.

use std::time::Duration;

use anyhow::Context;
use domain::{JobId, OperatorName, Time};
use service::{JobEvent, JobHappening, JobShown, JobState};
use sqlx::{PgConnection, QueryBuilder, SqliteConnection};

use crate::Queues;
use crate::database::{Database, on_either};
use crate::persistence::LOST_AFTER_S;

/// Selects the ids of jobs of which the last that happened is that an operator called them off. Dead ones among them did
/// not die, or are nobody's concern any more. Word for word the condition of an index, so that what was called off is found
/// without a look at what died.
macro_rules! called_off {
    () => {
        "SELECT job_id FROM handbill_job_events AS called WHERE kind = 'cancelled' AND NOT EXISTS \
         (SELECT 1 FROM handbill_job_events AS later WHERE later.job_id = called.job_id AND later.id > called.id)"
    };
}
pub(crate) use called_off;

/// The latest events of a job that are shown. Only people who retry it again and again make more.
const EVENTS_SHOWN_MAX: i64 = 200;

/// When a job was pushed is not kept; until something moves it, that is when its first attempt is due.
const SQLITE_PUSHED: &str = "
    INSERT INTO handbill_job_events (job_id, at_ms, kind, attempt)
    SELECT id, run_at * 1000, 'pushed', 0 FROM Jobs
    WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM handbill_job_events WHERE job_id = $1)";
const POSTGRES_PUSHED: &str = "
    INSERT INTO handbill_job_events (job_id, at_ms, kind, attempt)
    SELECT id, (extract(epoch FROM run_at) * 1000)::bigint, 'pushed', 0 FROM apalis.jobs
    WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM handbill_job_events WHERE job_id = $1)";

const FAILED: &str = "
    INSERT INTO handbill_job_events (job_id, at_ms, kind, attempt, worker, error, retry_at_ms)
    VALUES ($1, $2, 'began', $3, $4, NULL, NULL), ($1, $5, $6, $3, $4, $7, $8)";

// Word for word the jobs that apalis then takes from them, in the same transaction.
const SQLITE_LOST: &str = "
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
const POSTGRES_LOST: &str = "
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
const LOST_ERROR: &str = "its worker fell silent: another takes it over";

const LIST: &str = "
    SELECT kind, at_ms, attempt, worker, told_by, error, retry_at_ms FROM handbill_job_events
    WHERE job_id = $1 ORDER BY id DESC LIMIT $2";

/// An attempt that ended badly.
pub(crate) struct FailedAttempt<'a> {
    pub(crate) job: &'a str,
    pub(crate) worker: &'a str,
    pub(crate) attempt: u32,
    pub(crate) took: Duration,
    pub(crate) error: &'a str,
    /// None: the job died.
    pub(crate) retry_after: Option<Duration>,
}

impl Database {
    /// Call it before the job's next attempt is put off.
    pub(crate) async fn note_failure(&self, failed: &FailedAttempt<'_>, now: Time) -> anyhow::Result<()> {
        let kind = if failed.retry_after.is_some() { "failed" } else { "died" };
        let pushed = self.pushed();
        on_either!(self, pool => {
            sqlx::query(pushed).bind(failed.job).execute(pool).await?;
            let insert = sqlx::query(FAILED).bind(failed.job).bind(now.minus(failed.took).millis());
            let insert = insert.bind(i64::from(failed.attempt)).bind(failed.worker).bind(now.millis());
            let insert = insert.bind(kind).bind(failed.error);
            insert.bind(failed.retry_after.map(|after| now.plus(after).millis())).execute(pool).await?;
        });
        Ok(())
    }

    pub(super) fn pushed(&self) -> &'static str {
        match self {
            Database::Sqlite(_) => SQLITE_PUSHED,
            Database::Postgres(_) => POSTGRES_PUSHED,
        }
    }
}

/// Keeps what becomes of the jobs of workers that are lost, before they are taken over.
pub(crate) async fn note_lost_in_sqlite(
    beat: &mut SqliteConnection,
    queue: &str,
    worker: &str,
    now: Time,
) -> sqlx::Result<()> {
    let note = sqlx::query(SQLITE_LOST).bind(LOST_AFTER_S.cast_signed()).bind(queue).bind(worker);
    note.bind(now.millis()).bind(LOST_ERROR).execute(beat).await.map(drop)
}

pub(crate) async fn note_lost_in_postgres(
    beat: &mut PgConnection,
    queue: &str,
    now: Time,
) -> sqlx::Result<()> {
    let note = sqlx::query(POSTGRES_LOST).bind(LOST_AFTER_S.cast_signed()).bind(queue);
    note.bind(now.millis()).bind(LOST_ERROR).execute(beat).await.map(drop)
}

/// Who did what, for an event of their own.
pub(super) struct Steering<'a> {
    /// `retried` or `cancelled`.
    pub(super) kind: &'static str,
    pub(super) by: &'a OperatorName,
    pub(super) at: Time,
}

/// Events of the same steering, one for each job.
pub(super) fn insert_steered<D: sqlx::Database>(ids: &[String], steering: &Steering<'_>) -> QueryBuilder<D>
where
    String: sqlx::Type<D> + for<'q> sqlx::Encode<'q, D>,
    i64: sqlx::Type<D> + for<'q> sqlx::Encode<'q, D>,
{
    let mut insert =
        QueryBuilder::new("INSERT INTO handbill_job_events (job_id, at_ms, kind, attempt, told_by) ");
    insert.push_values(ids, |mut values, id| {
        values.push_bind(id.clone()).push_bind(steering.at.millis()).push_bind(steering.kind.to_owned());
        values.push("0").push_bind(steering.by.to_string());
    });
    insert
}

/// As the list has them: kind, time, attempt, worker, operator, error, next attempt.
type EventRow = (String, i64, i64, Option<String>, Option<String>, Option<String>, Option<i64>);

impl Queues {
    /// Everything that is known of what happened to a job, the oldest first.
    pub(super) async fn timeline(&self, job: &JobShown) -> anyhow::Result<Vec<JobEvent>> {
        let id: JobId = job.id;
        let mut rows: Vec<EventRow> = on_either!(&self.database, pool => {
            sqlx::query_as(LIST).bind(id.to_string()).bind(EVENTS_SHOWN_MAX).fetch_all(pool).await
        })
        .context("reading what happened to a job")?;
        rows.reverse();
        Ok(completed(rows.into_iter().filter_map(read).collect(), job))
    }
}

fn read((kind, at_ms, attempt, worker, by, error, retry_at_ms): EventRow) -> Option<JobEvent> {
    let attempt = u32::try_from(attempt).unwrap_or_default();
    let (error, by) = (error.unwrap_or_default(), by.unwrap_or_default());
    let what = match kind.as_str() {
        "pushed" => JobHappening::Pushed,
        "began" => JobHappening::Began { attempt, worker: worker.unwrap_or_default() },
        "failed" => JobHappening::Failed { attempt, error, retry_at: retry_at_ms.map(Time::from_millis) },
        "died" => JobHappening::Died { attempt, error },
        "retried" => JobHappening::Retried { by },
        "cancelled" => JobHappening::Cancelled { by },
        // A later release may keep more.
        _ => return None,
    };
    Some(JobEvent { at: Time::from_millis(at_ms), what })
}

/// The events that are kept, with what the job's row alone tells.
fn completed(kept: Vec<JobEvent>, job: &JobShown) -> Vec<JobEvent> {
    let mut timeline = kept;
    if timeline.is_empty() {
        let pushed_at = job.begun_at.map_or(job.due_at, |begun_at| begun_at.min(job.due_at));
        timeline.push(JobEvent { at: pushed_at, what: JobHappening::Pushed });
    }
    let attempt = job.attempts;
    let is_running_or_done = matches!(job.state, JobState::Running | JobState::Done);
    if is_running_or_done && let (Some(at), Some(worker)) = (job.begun_at, job.worker.clone()) {
        timeline.push(JobEvent { at, what: JobHappening::Began { attempt, worker } });
    }
    if job.state == JobState::Done
        && let Some(at) = job.ended_at
    {
        timeline.push(JobEvent { at, what: JobHappening::Done { attempt } });
    }
    // A row counts in seconds and the events in milliseconds: what follows is never told as earlier.
    let mut latest = Time::from_millis(i64::MIN);
    for event in &mut timeline {
        latest = latest.max(event.at);
        event.at = latest;
    }
    timeline
}

#[cfg(test)]
mod tests {
    use domain::{Chance, Queue};

    use super::*;

    fn at(seconds: i64) -> Time {
        Time::from_millis(seconds * 1000)
    }

    fn job(state: JobState) -> JobShown {
        JobShown {
            id: JobId::new(at(0), &Chance::seeded(1)),
            queue: Queue::Scan,
            kind: "scan".into(),
            state,
            attempts: 1,
            attempts_max: 8,
            due_at: at(10),
            begun_at: Some(at(12)),
            ended_at: Some(at(13)),
            worker: Some("one-x-scan-0".into()),
            last_error: None,
        }
    }

    #[test]
    fn a_job_that_succeeded_at_once_tells_its_life_without_any_event() {
        let told: Vec<_> =
            completed(Vec::new(), &job(JobState::Done)).into_iter().map(|e| (e.at, e.what)).collect();
        let began = JobHappening::Began { attempt: 1, worker: "one-x-scan-0".into() };
        assert_eq!(
            told,
            [(at(10), JobHappening::Pushed), (at(12), began), (at(13), JobHappening::Done { attempt: 1 })]
        );
    }

    #[test]
    fn what_follows_is_never_told_as_earlier() {
        let retried = JobHappening::Retried { by: "ada".into() };
        let kept = vec![JobEvent { at: Time::from_millis(12_700), what: retried.clone() }];
        let told = completed(kept, &job(JobState::Running));
        assert_eq!(told.iter().map(|event| event.at.millis()).collect::<Vec<_>>(), [12_700, 12_700]);
        assert_eq!(told[0].what, retried);
    }

    #[test]
    fn a_kind_of_event_of_a_later_release_is_passed_over() {
        assert!(read(("promoted".into(), 0, 0, None, None, None, None)).is_none());
    }
}
