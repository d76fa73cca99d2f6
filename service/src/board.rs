//! The queues as operators see and control them. The workers crate implements [`Board`]; the pages, the API
//! and the command line call the operations here. Payloads must be redacted, because they hold content and
//! payments of users.

use std::collections::HashSet;

use async_trait::async_trait;
use domain::{Job, JobEnvelope, JobId, Missing, OperatorName, Queue, Refusal, Time};
use serde_json::Value;

use crate::board_errors::{ErrorGroups, ErrorKey};
use crate::board_figures::BoardFigures;
use crate::job_state::JobState;
use crate::{Service, ServiceResult};

/// Jobs on one page of a list, unless the caller asks for another number.
pub const JOBS_SHOWN_MAX: usize = 50;
/// The newest jobs that a search reads.
pub const JOBS_SEARCHED_MAX: usize = 10_000;

/// A query for the jobs of one queue in one state, newest first.
#[derive(Clone, Copy, Debug)]
pub struct JobFilter {
    pub queue: Queue,
    pub state: JobState,
    /// Only jobs older than this one.
    pub before: Option<JobId>,
    /// Only jobs of this kind.
    pub kind: Option<&'static str>,
    /// Only jobs whose last error is in this group.
    pub error: Option<ErrorKey>,
    /// The most jobs of a page.
    pub jobs_max: usize,
}

impl JobFilter {
    pub fn of(queue: Queue, state: JobState) -> Self {
        Self { queue, state, before: None, kind: None, error: None, jobs_max: JOBS_SHOWN_MAX }
    }

    /// Only jobs of a kind of the queue.
    pub fn of_kind(self, name: &str) -> Result<Self, Refusal> {
        let known = self.queue.kinds().iter().copied().find(|kind| *kind == name);
        let kind = known.ok_or_else(|| Refusal::invalid("kind", "is not a kind of job of this queue"))?;
        Ok(Self { kind: Some(kind), ..self })
    }

    /// Whether it leaves out jobs of the state.
    pub fn is_narrowed(&self) -> bool {
        self.kind.is_some() || self.error.is_some()
    }
}

#[derive(Clone, Debug)]
pub struct JobList {
    pub jobs: Vec<JobInfo>,
    /// The `before` of the next list, if there is more.
    pub next: Option<JobId>,
}

#[derive(Clone, Debug)]
pub struct JobInfo {
    pub id: JobId,
    pub queue: Queue,
    /// `unreadable` when the row does not decode.
    pub kind: String,
    pub state: JobState,
    pub attempts: u32,
    pub attempts_max: u32,
    /// When the next attempt is due, or the last one was.
    pub due_at: Time,
    pub begun_at: Option<Time>,
    pub ended_at: Option<Time>,
    /// The worker that runs it or ran it last.
    pub worker: Option<String>,
    pub last_error: Option<String>,
}

#[derive(Clone, Debug)]
pub struct JobDetail {
    pub job: JobInfo,
    /// The payload without secrets and user content.
    pub payload: Value,
    /// The process that waits for its outcome.
    pub reply_to: Option<String>,
    /// The history of the job, oldest event first.
    pub timeline: Vec<JobEvent>,
}

#[derive(Clone, Debug)]
pub struct JobEvent {
    pub at: Time,
    pub what: JobEventKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobEventKind {
    Pushed,
    Began { attempt: u32, worker: String },
    Failed { attempt: u32, error: String, retry_at: Option<Time> },
    Died { attempt: u32, error: String },
    Done { attempt: u32 },
    Retried { by: String },
    Cancelled { by: String },
}

/// The result of an operator's action on a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobActionResult {
    Done,
    /// The state of the job does not allow the action.
    Is(JobState),
    Unknown,
}

/// A schedule and its next fire time.
#[derive(Clone, Debug)]
pub struct Planned {
    pub name: &'static str,
    /// In cron syntax, UTC.
    pub cron: &'static str,
    pub job: Job,
    pub next: Time,
}

/// A schedule with its last fire time.
#[derive(Clone, Debug)]
pub struct ScheduleInfo {
    pub planned: Planned,
    pub last_slot: Option<Time>,
}

/// What the queue implementation offers to operators. Changes take effect in every process within two
/// seconds.
#[async_trait]
pub trait Board: Send + Sync {
    async fn figures(&self) -> anyhow::Result<BoardFigures>;
    async fn jobs(&self, wanted: JobFilter) -> anyhow::Result<JobList>;
    async fn job(&self, queue: Queue, id: JobId) -> anyhow::Result<Option<JobDetail>>;
    /// The queue of a job.
    async fn find_job(&self, id: JobId) -> anyhow::Result<Option<Queue>>;
    /// The newest jobs of all queues whose payloads contain every text of one of the terms.
    async fn search(&self, terms: &[Vec<String>]) -> anyhow::Result<Vec<JobInfo>>;
    /// The errors of the newest jobs in a state.
    async fn errors(&self, queue: Queue, state: JobState) -> anyhow::Result<ErrorGroups>;
    /// Whether an attempt at the job is recorded that its row may no longer count, because an operator has
    /// retried the job or a worker was stopped.
    async fn has_begun(&self, id: JobId) -> anyhow::Result<bool>;
    /// Which of these jobs the queue has, including finished ones that it still keeps.
    async fn find_known(&self, ids: &[JobId]) -> anyhow::Result<HashSet<JobId>>;
    /// Whether every running process reads the newest format of stored data. False while an upgrade from an
    /// older release is in progress. Bundles and publishes under a condition wait for the end of it.
    fn is_format_shared(&self) -> bool;
    /// Restarts a job that is dead, cancelled or waiting for another attempt, with all its attempts.
    async fn retry(&self, queue: Queue, id: JobId, by: &OperatorName) -> anyhow::Result<JobActionResult>;
    /// Cancels a waiting job. A running one is left alone.
    async fn cancel(&self, queue: Queue, id: JobId, by: &OperatorName) -> anyhow::Result<JobActionResult>;
    /// Cancels a dead job.
    async fn discard(&self, queue: Queue, id: JobId, by: &OperatorName) -> anyhow::Result<JobActionResult>;
    /// Restarts every dead job of the queue, and returns how many.
    async fn requeue_dead(&self, queue: Queue, by: &OperatorName) -> anyhow::Result<u64>;
    /// Restarts the dead jobs of a group of equal errors, and returns how many.
    async fn requeue_dead_with(
        &self,
        queue: Queue,
        error: ErrorKey,
        by: &OperatorName,
    ) -> anyhow::Result<u64>;
    /// Cancels every dead job of the queue, and returns how many.
    async fn discard_dead(&self, queue: Queue, by: &OperatorName) -> anyhow::Result<u64>;
    /// No worker starts a job of the queue until it is resumed; running jobs finish. Pausing twice keeps the
    /// first pause.
    async fn pause(&self, queue: Queue, by: &OperatorName) -> anyhow::Result<()>;
    /// Returns whether the queue was paused.
    async fn resume(&self, queue: Queue) -> anyhow::Result<bool>;
    /// Whether an operator has paused the queue, as of at most a second ago. Cheap enough to call for each
    /// request.
    async fn is_paused(&self, queue: Queue) -> bool;
    fn schedules(&self, now: Time) -> anyhow::Result<Vec<Planned>>;
}

impl Service {
    pub async fn board(&self) -> ServiceResult<BoardFigures> {
        Ok(self.0.board.figures().await?)
    }

    pub async fn jobs(&self, wanted: JobFilter) -> ServiceResult<JobList> {
        Ok(self.0.board.jobs(wanted).await?)
    }

    pub async fn job(&self, queue: Queue, id: JobId) -> ServiceResult<JobDetail> {
        Ok(self.0.board.job(queue, id).await?.ok_or(Refusal::NotFound(Missing::Job))?)
    }

    pub async fn retry_job(&self, queue: Queue, id: JobId, by: &OperatorName) -> ServiceResult<()> {
        require_done(self.0.board.retry(queue, id, by).await?)?;
        tracing::info!(job.id = %id, queue.name = queue.name(), operator.name = %by, "an operator retries a job");
        Ok(())
    }

    pub async fn cancel_job(&self, queue: Queue, id: JobId, by: &OperatorName) -> ServiceResult<()> {
        require_done(self.0.board.cancel(queue, id, by).await?)?;
        tracing::info!(job.id = %id, queue.name = queue.name(), operator.name = %by, "an operator cancels a job");
        Ok(())
    }

    pub async fn discard_job(&self, queue: Queue, id: JobId, by: &OperatorName) -> ServiceResult<()> {
        require_done(self.0.board.discard(queue, id, by).await?)?;
        tracing::info!(job.id = %id, queue.name = queue.name(), operator.name = %by, "an operator discards a job");
        Ok(())
    }

    /// Returns how many jobs were requeued.
    pub async fn requeue_dead(&self, queue: Queue, by: &OperatorName) -> ServiceResult<u64> {
        let jobs = self.0.board.requeue_dead(queue, by).await?;
        tracing::info!(jobs.requeued = jobs, queue.name = queue.name(), operator.name = %by, "an operator requeues dead jobs");
        Ok(jobs)
    }

    /// Returns how many jobs were discarded.
    pub async fn discard_dead(&self, queue: Queue, by: &OperatorName) -> ServiceResult<u64> {
        let jobs = self.0.board.discard_dead(queue, by).await?;
        tracing::info!(jobs.discarded = jobs, queue.name = queue.name(), operator.name = %by, "an operator discards dead jobs");
        Ok(jobs)
    }

    pub async fn pause_queue(&self, queue: Queue, by: &OperatorName) -> ServiceResult<()> {
        self.0.board.pause(queue, by).await?;
        tracing::warn!(queue.name = queue.name(), operator.name = %by, "an operator pauses a queue");
        Ok(())
    }

    /// Returns whether the queue was paused.
    pub async fn resume_queue(&self, queue: Queue, by: &OperatorName) -> ServiceResult<bool> {
        let was_paused = self.0.board.resume(queue).await?;
        tracing::info!(queue.name = queue.name(), operator.name = %by, "an operator resumes a queue");
        Ok(was_paused)
    }

    pub async fn schedules(&self) -> ServiceResult<Vec<ScheduleInfo>> {
        let mut schedules = Vec::new();
        for planned in self.0.board.schedules(self.0.clock.now())? {
            let last_slot = self.0.store.schedules().last_fire_time(planned.name).await?;
            schedules.push(ScheduleInfo { planned, last_slot });
        }
        Ok(schedules)
    }

    /// Runs the job of a schedule now, without affecting its fire times. Returns the id of the job.
    pub async fn run_schedule(&self, name: &str, by: &OperatorName) -> ServiceResult<JobId> {
        let now = self.0.clock.now();
        let planned = self.0.board.schedules(now)?.into_iter().find(|planned| planned.name == name);
        let planned = planned.ok_or(Refusal::NotFound(Missing::Schedule))?;
        let id = JobId::new(now, &self.0.chance);
        self.0.queue.push(JobEnvelope { id, reply_to: None, trace: None, job: planned.job }).await?;
        tracing::info!(job.id = %id, schedule.name = name, operator.name = %by, "an operator runs a schedule");
        Ok(id)
    }
}

fn require_done(steered: JobActionResult) -> Result<(), Refusal> {
    match steered {
        JobActionResult::Done => Ok(()),
        JobActionResult::Is(state) => Err(Refusal::JobIs { state: state.name().to_owned() }),
        JobActionResult::Unknown => Err(Refusal::NotFound(Missing::Job)),
    }
}
