//! Jobs in responses. `service` redacts the payloads.

use domain::{JobId, Queue};
use poem_openapi::{Enum, Object};
use serde_json::Value;
use service::JobEventKind;

use super::Timestamp;
use super::queues::QueueName;

/// The state of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[oai(rename_all = "lowercase")]
pub enum JobState {
    /// Not started yet.
    Waiting,
    Running,
    /// Waiting for another attempt.
    Failed,
    /// No attempts are left, or another attempt cannot succeed.
    Dead,
    /// Cancelled by an operator.
    Cancelled,
    Done,
}

/// One page of jobs.
#[derive(Debug, Object)]
pub struct JobList {
    /// The jobs, newest first.
    pub items: Vec<Job>,
    /// The `after` of the next page. Null on the last page.
    #[oai(nullable)]
    pub next: Option<String>,
}

/// A job.
#[derive(Debug, Object)]
pub struct Job {
    pub id: String,
    pub queue: QueueName,
    /// What the job does, such as `publish`, `scan` or `cleanup`. `unreadable` if the row cannot be parsed.
    pub kind: String,
    pub state: JobState,
    /// The number of started attempts.
    pub attempts: u32,
    /// The number of failed attempts after which the job is dead.
    pub attempts_max: u32,
    /// When the next attempt is due, or when the last one was.
    pub due_at: Timestamp,
    /// When the last attempt started.
    #[oai(nullable)]
    pub begun_at: Option<Timestamp>,
    /// When the job completed, died or was cancelled.
    #[oai(nullable)]
    pub ended_at: Option<Timestamp>,
    /// The worker that runs it or ran it last. The name starts with the `instance` of its process.
    #[oai(nullable)]
    pub worker: Option<String>,
    /// Why the last attempt failed.
    #[oai(nullable)]
    pub last_error: Option<String>,
}

/// A job with its payload and timeline.
#[derive(Debug, Object)]
pub struct JobDetail {
    #[oai(flatten)]
    pub job: Job,
    /// The job's data. File contents are replaced by their size, payments by their amount, and secrets are
    /// removed.
    pub payload: Value,
    /// The `instance` of the process that waits for the result.
    #[oai(nullable)]
    pub reply_to: Option<String>,
    /// The events of the job, oldest first.
    pub timeline: Vec<JobEvent>,
}

/// The kind of an event of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[oai(rename_all = "lowercase")]
pub enum JobHappened {
    Pushed,
    Began,
    Failed,
    Died,
    Done,
    Retried,
    Cancelled,
}

/// An event of a job. Fields that do not apply are null.
#[derive(Debug, Object)]
pub struct JobEvent {
    pub at: Timestamp,
    pub what: JobHappened,
    /// The number of the attempt, from 1.
    #[oai(nullable)]
    pub attempt: Option<u32>,
    #[oai(nullable)]
    pub worker: Option<String>,
    /// Why the attempt failed.
    #[oai(nullable)]
    pub error: Option<String>,
    /// When the next attempt is due.
    #[oai(nullable)]
    pub retry_at: Option<Timestamp>,
    /// The operator who did it.
    #[oai(nullable)]
    pub by: Option<String>,
}

/// A job that runs again, with all its attempts.
#[derive(Debug, Object)]
pub struct JobRetried {
    pub queue: QueueName,
    pub id: String,
    /// Always true.
    pub retried: bool,
}

/// A cancelled job.
#[derive(Debug, Object)]
pub struct JobCancelled {
    pub queue: QueueName,
    pub id: String,
    /// Always true.
    pub cancelled: bool,
}

/// A discarded job. Its state is now `cancelled`.
#[derive(Debug, Object)]
pub struct JobDiscarded {
    pub queue: QueueName,
    pub id: String,
    /// Always true.
    pub discarded: bool,
}

impl JobRetried {
    pub fn of(queue: Queue, id: JobId) -> Self {
        Self { queue: queue.into(), id: id.to_string(), retried: true }
    }
}

impl JobCancelled {
    pub fn of(queue: Queue, id: JobId) -> Self {
        Self { queue: queue.into(), id: id.to_string(), cancelled: true }
    }
}

impl JobDiscarded {
    pub fn of(queue: Queue, id: JobId) -> Self {
        Self { queue: queue.into(), id: id.to_string(), discarded: true }
    }
}

impl From<JobState> for service::JobState {
    fn from(state: JobState) -> Self {
        match state {
            JobState::Waiting => service::JobState::Waiting,
            JobState::Running => service::JobState::Running,
            JobState::Failed => service::JobState::Failed,
            JobState::Dead => service::JobState::Dead,
            JobState::Cancelled => service::JobState::Cancelled,
            JobState::Done => service::JobState::Done,
        }
    }
}

impl From<service::JobState> for JobState {
    fn from(state: service::JobState) -> Self {
        match state {
            service::JobState::Waiting => JobState::Waiting,
            service::JobState::Running => JobState::Running,
            service::JobState::Failed => JobState::Failed,
            service::JobState::Dead => JobState::Dead,
            service::JobState::Cancelled => JobState::Cancelled,
            service::JobState::Done => JobState::Done,
        }
    }
}

impl From<service::JobList> for JobList {
    fn from(list: service::JobList) -> Self {
        Self {
            items: list.jobs.into_iter().map(Job::from).collect(),
            next: list.next.map(|id| id.to_string()),
        }
    }
}

impl From<service::JobInfo> for Job {
    fn from(job: service::JobInfo) -> Self {
        Self {
            id: job.id.to_string(),
            queue: job.queue.into(),
            kind: job.kind,
            state: job.state.into(),
            attempts: job.attempts,
            attempts_max: job.attempts_max,
            due_at: job.due_at.into(),
            begun_at: job.begun_at.map(Timestamp::from),
            ended_at: job.ended_at.map(Timestamp::from),
            worker: job.worker,
            last_error: job.last_error,
        }
    }
}

impl From<service::JobDetail> for JobDetail {
    fn from(detail: service::JobDetail) -> Self {
        Self {
            job: detail.job.into(),
            payload: detail.payload,
            reply_to: detail.reply_to,
            timeline: detail.timeline.into_iter().map(JobEvent::from).collect(),
        }
    }
}

impl From<service::JobEvent> for JobEvent {
    fn from(event: service::JobEvent) -> Self {
        let bare = |what| Self {
            at: event.at.into(),
            what,
            attempt: None,
            worker: None,
            error: None,
            retry_at: None,
            by: None,
        };
        match event.what {
            JobEventKind::Pushed => bare(JobHappened::Pushed),
            JobEventKind::Began { attempt, worker } => {
                Self { attempt: Some(attempt), worker: Some(worker), ..bare(JobHappened::Began) }
            }
            JobEventKind::Failed { attempt, error, retry_at } => Self {
                attempt: Some(attempt),
                error: Some(error),
                retry_at: retry_at.map(Timestamp::from),
                ..bare(JobHappened::Failed)
            },
            JobEventKind::Died { attempt, error } => {
                Self { attempt: Some(attempt), error: Some(error), ..bare(JobHappened::Died) }
            }
            JobEventKind::Done { attempt } => Self { attempt: Some(attempt), ..bare(JobHappened::Done) },
            JobEventKind::Retried { by } => Self { by: Some(by), ..bare(JobHappened::Retried) },
            JobEventKind::Cancelled { by } => Self { by: Some(by), ..bare(JobHappened::Cancelled) },
        }
    }
}
