//! Lists of jobs: one queue, one state, newest first, a page at a time. Only the beginning of a payload is
//! read, because a publish may hold 256 KiB of content.

use anyhow::Context;
use domain::{Queue, Time};
use serde::Deserialize;
use service::{ErrorKey, JobFilter, JobInfo, JobList, JobState};

use crate::Queues;
use crate::sql::on_either;

/// Bytes that contain a job's kind, which follows its id, the waiting process and its trace.
pub(super) const KIND_BYTES_MAX: i64 = 512;
/// Jobs that a filter by kind or error reads at once. Neither has an index.
const FILTERED_AT_ONCE: usize = 1_000;
/// Sorts after every ULID.
const AFTER_ALL_IDS: &str = "8";

/// A job's row on the board, with its payload or the beginning of it.
#[derive(sqlx::FromRow)]
pub(super) struct JobRow {
    id: String,
    job_type: String,
    status: String,
    attempts: i64,
    max_attempts: i64,
    due_ms: i64,
    begun_ms: Option<i64>,
    ended_ms: Option<i64>,
    lock_by: Option<String>,
    last_result: Option<String>,
    pub(super) payload: Vec<u8>,
}

impl Queues {
    pub(super) async fn list(&self, wanted: JobFilter) -> anyhow::Result<JobList> {
        let read_max = if wanted.is_narrowed() { FILTERED_AT_ONCE } else { wanted.jobs_max };
        let (mut jobs, is_cut) = self.newest(wanted, read_max).await?;
        let last_read = jobs.last().filter(|_| is_cut).map(|job| job.id);
        jobs.retain(|job| is_wanted(job, wanted));
        let has_more = jobs.len() > wanted.jobs_max;
        jobs.truncate(wanted.jobs_max);
        let next = if has_more { jobs.last().map(|job| job.id) } else { last_read };
        Ok(JobList { jobs, next })
    }

    /// The newest jobs of a queue in a state, and whether there are more.
    pub(super) async fn newest(
        &self,
        wanted: JobFilter,
        jobs_max: usize,
    ) -> anyhow::Result<(Vec<JobInfo>, bool)> {
        let mut jobs = Vec::new();
        for status in statuses(wanted.state) {
            jobs.extend(self.list_status(wanted, status, jobs_max + 1).await?.into_iter().filter_map(read));
        }
        jobs.sort_by_key(|job| std::cmp::Reverse(job.id));
        let is_cut = jobs.len() > jobs_max;
        jobs.truncate(jobs_max);
        Ok((jobs, is_cut))
    }

    async fn list_status(
        &self,
        wanted: JobFilter,
        status: &str,
        rows_max: usize,
    ) -> anyhow::Result<Vec<JobRow>> {
        let before = wanted.before.map_or_else(|| AFTER_ALL_IDS.to_owned(), |id| id.to_string());
        let limit = i64::try_from(rows_max)?;
        on_either!(&self.database, sql, pool => {
            let list = sqlx::query_as(sql::list_of(status)).bind(wanted.queue.name()).bind(status);
            // A cached plan does not know the status, and so does not use the index for it.
            let list = list.persistent(false);
            list.bind(before).bind(limit).bind(KIND_BYTES_MAX).fetch_all(pool).await
        })
        .context("listing jobs")
    }
}

fn is_wanted(job: &JobInfo, wanted: JobFilter) -> bool {
    wanted.kind.is_none_or(|kind| job.kind == kind)
        && wanted.error.is_none_or(|error| job.last_error.as_deref().map(ErrorKey::of) == Some(error))
}

/// As apalis writes them. `Cancelled` is ours: `Killed` jobs that an operator cancelled.
fn statuses(state: JobState) -> &'static [&'static str] {
    match state {
        JobState::Waiting => &["Pending"],
        JobState::Running => &["Queued", "Running"],
        JobState::Failed => &["Failed"],
        JobState::Dead => &["Killed"],
        JobState::Cancelled => &["Cancelled"],
        JobState::Done => &["Done"],
    }
}

pub(super) fn state_of(status: &str) -> Option<JobState> {
    JobState::ALL.into_iter().find(|state| statuses(*state).contains(&status))
}

/// `None` for a row that Handbill did not write. No worker can take it.
pub(super) fn read(row: JobRow) -> Option<JobInfo> {
    let state = state_of(&row.status)?;
    let count = |attempts: i64| u32::try_from(attempts).unwrap_or_default();
    Some(JobInfo {
        id: row.id.parse().ok()?,
        queue: Queue::parse(&row.job_type)?,
        kind: kind_at_the_start(&row.payload),
        state,
        // apalis counts an attempt when it ends.
        attempts: count(row.attempts) + u32::from(state == JobState::Running),
        attempts_max: count(row.max_attempts),
        due_at: Time::from_millis(row.due_ms),
        begun_at: row.begun_ms.map(Time::from_millis),
        // A repeated job keeps the end of the previous attempt.
        ended_at: row
            .ended_ms
            .filter(|_| !matches!(state, JobState::Waiting | JobState::Running))
            .map(Time::from_millis),
        worker: row.lock_by,
        last_error: row.last_result.as_deref().and_then(error_in),
    })
}

/// The kind of a job, from the beginning of its payload. A quote inside a JSON string is always escaped, so
/// the pattern can only match in the envelope itself.
pub(super) fn kind_at_the_start(start: &[u8]) -> String {
    const NAME: &[u8] = br#""kind":""#;
    let kind = start.windows(NAME.len()).position(|window| window == NAME).and_then(|at| {
        let value = start.get(at + NAME.len()..)?;
        let end = value.iter().position(|byte| *byte == b'"')?;
        std::str::from_utf8(value.get(..end)?).ok()
    });
    kind.unwrap_or("unreadable").to_owned()
}

/// apalis keeps a result as `{"Ok": …}` or `{"Err": "AbortError: <text>"}`.
fn error_in(last_result: &str) -> Option<String> {
    #[derive(Deserialize)]
    enum Ended {
        Ok(serde::de::IgnoredAny),
        Err(String),
    }
    match serde_json::from_str(last_result) {
        Ok(Ended::Ok(_)) => None,
        Ok(Ended::Err(error)) => Some(error.strip_prefix("AbortError: ").unwrap_or(&error).to_owned()),
        Err(_) => Some(last_result.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use domain::{Chance, Job, JobEnvelope, JobId};

    use super::*;

    #[test]
    fn every_status_of_the_queue_is_one_state() {
        for state in JobState::ALL {
            assert!(statuses(state).iter().all(|status| state_of(status) == Some(state)));
        }
        assert_eq!(state_of("Odd"), None);
    }

    #[test]
    fn job_kind_is_read_from_the_start_of_the_payload_despite_quoted_kinds() {
        let envelope = JobEnvelope {
            id: JobId::new(Time::from_millis(0), &Chance::seeded(1)),
            reply_to: Some(r#"a "kind":"publish" of name"#.into()),
            trace: None,
            job: Job::SweepScans,
        };
        let text = serde_json::to_vec(&envelope).unwrap();
        assert_eq!(kind_at_the_start(&text), "sweep_scans");
        for odd in ["", "{", r#"{"kind":"#, r#"{"kind":"publ"#, r#"{"kind":7}"#] {
            assert_eq!(kind_at_the_start(odd.as_bytes()), "unreadable", "{odd}");
        }
        assert_eq!(kind_at_the_start(b"\xff{\"kind\":\"\xff\"}"), "unreadable");
    }

    #[test]
    fn result_of_an_attempt_is_an_error_or_none() {
        assert_eq!(error_in(r#"{"Ok":null}"#), None);
        assert_eq!(error_in(r#"{"Err":"AbortError: hopeless"}"#).as_deref(), Some("hopeless"));
        assert_eq!(error_in(r#"{"Err":"again"}"#).as_deref(), Some("again"));
        assert_eq!(error_in("odd").as_deref(), Some("odd"));
    }
}
