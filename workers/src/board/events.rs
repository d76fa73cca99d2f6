//! The history of jobs that did not simply succeed: failed attempts, deaths, retries, cancellations. A job
//! that succeeds at once costs no write, because its row is enough. Events are deleted with their jobs.

use std::time::Duration;

use anyhow::Context;
use domain::{JobId, OperatorName, Time};
use service::{JobEvent, JobEventKind, JobInfo, JobState};
use sqlx::QueryBuilder;

use crate::Queues;
use crate::database::Database;
use crate::sql::{EventRow, on_either};

/// The latest events of a job that are shown. Only repeated manual retries cause more.
const EVENTS_SHOWN_MAX: i64 = 200;

const FAILED: &str = "
    INSERT INTO handbill_job_events (job_id, at_ms, kind, attempt, worker, error, retry_at_ms)
    VALUES ($1, $2, 'began', $3, $4, NULL, NULL), ($1, $5, $6, $3, $4, $7, $8)";

const HAS_BEGUN: &str =
    "SELECT EXISTS (SELECT 1 FROM handbill_job_events WHERE job_id = $1 AND kind = 'began')";

const LIST: &str = "
    SELECT job_id, at_ms, kind, attempt, worker, told_by, error, retry_at_ms FROM handbill_job_events
    WHERE job_id = $1 ORDER BY id DESC LIMIT $2";

/// A failed attempt.
pub(crate) struct FailedAttempt<'a> {
    pub(crate) job: &'a str,
    pub(crate) worker: &'a str,
    pub(crate) attempt: u32,
    pub(crate) took: Duration,
    pub(crate) error: &'a str,
    /// `None`: the job is dead.
    pub(crate) retry_after: Option<Duration>,
}

impl Database {
    /// Must be called before the job is postponed, because its time still shows when it was pushed.
    pub(crate) async fn note_failure(&self, failed: &FailedAttempt<'_>, now: Time) -> anyhow::Result<()> {
        let kind = if failed.retry_after.is_some() { "failed" } else { "died" };
        on_either!(self, sql, pool => {
            sqlx::query(sql::NOTE_PUSHED).bind(failed.job).execute(pool).await?;
            let insert = sqlx::query(FAILED).bind(failed.job).bind(now.minus(failed.took).millis());
            let insert = insert.bind(i64::from(failed.attempt)).bind(failed.worker).bind(now.millis());
            let insert = insert.bind(kind).bind(failed.error);
            insert.bind(failed.retry_after.map(|after| now.plus(after).millis())).execute(pool).await?;
        });
        Ok(())
    }
}

impl Queues {
    /// See [`Board::has_begun`](service::Board::has_begun).
    pub(super) async fn is_begun(&self, job: JobId) -> anyhow::Result<bool> {
        let has_begun = on_either!(&self.database, pool => {
            sqlx::query_scalar(HAS_BEGUN).bind(job.to_string()).fetch_one(pool).await
        });
        has_begun.context("reading whether a job has begun")
    }
}

/// An operator's action, for its event.
pub(super) struct Steering<'a> {
    /// `retried` or `cancelled`.
    pub(super) kind: &'static str,
    pub(super) by: &'a OperatorName,
    pub(super) at: Time,
}

/// One event per job, for the same action.
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

impl Queues {
    /// The history of a job, oldest event first.
    pub(super) async fn timeline(&self, job: &JobInfo) -> anyhow::Result<Vec<JobEvent>> {
        let id: JobId = job.id;
        let mut rows: Vec<EventRow> = on_either!(&self.database, pool => {
            sqlx::query_as(LIST).bind(id.to_string()).bind(EVENTS_SHOWN_MAX).fetch_all(pool).await
        })
        .context("reading what happened to a job")?;
        rows.reverse();
        Ok(completed(rows.into_iter().filter_map(read).collect(), job))
    }
}

fn read(row: EventRow) -> Option<JobEvent> {
    let attempt = u32::try_from(row.attempt).unwrap_or_default();
    let (error, by) = (row.error.unwrap_or_default(), row.told_by.unwrap_or_default());
    let what = match row.kind.as_str() {
        "pushed" => JobEventKind::Pushed,
        "began" => JobEventKind::Began { attempt, worker: row.worker.unwrap_or_default() },
        "failed" => JobEventKind::Failed { attempt, error, retry_at: row.retry_at_ms.map(Time::from_millis) },
        "died" => JobEventKind::Died { attempt, error },
        "retried" => JobEventKind::Retried { by },
        "cancelled" => JobEventKind::Cancelled { by },
        // A later release may record more kinds.
        _ => return None,
    };
    Some(JobEvent { at: Time::from_millis(row.at_ms), what })
}

/// The stored events, completed with those that only the job's row shows.
fn completed(kept: Vec<JobEvent>, job: &JobInfo) -> Vec<JobEvent> {
    let mut timeline = kept;
    if timeline.is_empty() {
        let pushed_at = job.begun_at.map_or(job.due_at, |begun_at| begun_at.min(job.due_at));
        timeline.push(JobEvent { at: pushed_at, what: JobEventKind::Pushed });
    }
    let attempt = job.attempts;
    let is_running_or_done = matches!(job.state, JobState::Running | JobState::Done);
    if is_running_or_done && let (Some(at), Some(worker)) = (job.begun_at, job.worker.clone()) {
        timeline.push(JobEvent { at, what: JobEventKind::Began { attempt, worker } });
    }
    if job.state == JobState::Done
        && let Some(at) = job.ended_at
    {
        timeline.push(JobEvent { at, what: JobEventKind::Done { attempt } });
    }
    // Rows count in seconds and events in milliseconds, so an event could seem earlier than the one before
    // it.
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

    fn job(state: JobState) -> JobInfo {
        JobInfo {
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
    fn job_that_succeeded_at_once_has_a_timeline_without_stored_events() {
        let timeline: Vec<_> =
            completed(Vec::new(), &job(JobState::Done)).into_iter().map(|e| (e.at, e.what)).collect();
        let began = JobEventKind::Began { attempt: 1, worker: "one-x-scan-0".into() };
        assert_eq!(
            timeline,
            [(at(10), JobEventKind::Pushed), (at(12), began), (at(13), JobEventKind::Done { attempt: 1 })]
        );
    }

    #[test]
    fn timeline_events_are_never_dated_before_earlier_ones() {
        let retried = JobEventKind::Retried { by: "ada".into() };
        let kept = vec![JobEvent { at: Time::from_millis(12_700), what: retried.clone() }];
        let timeline = completed(kept, &job(JobState::Running));
        assert_eq!(timeline.iter().map(|event| event.at.millis()).collect::<Vec<_>>(), [12_700, 12_700]);
        assert_eq!(timeline[0].what, retried);
    }

    #[test]
    fn unknown_event_kinds_of_a_later_release_are_skipped() {
        let promoted = EventRow {
            job_id: String::new(),
            at_ms: 0,
            kind: "promoted".into(),
            attempt: 0,
            worker: None,
            told_by: None,
            error: None,
            retry_at_ms: None,
        };
        assert!(read(promoted).is_none());
    }
}
