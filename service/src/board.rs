//! The queues as operators see and control them. The workers crate implements [`Board`]; the pages, the API
//! and the command line call the operations here. Payloads must be redacted, because they hold content and
//! payments of users.

use std::collections::HashSet;

use async_trait::async_trait;
use domain::{Job, JobEnvelope, JobId, Missing, OperatorName, Queue, Refusal, Time};
use serde_json::Value;

use crate::{Service, ServiceResult};

/// Jobs on one page of a list.
pub const JOBS_SHOWN_MAX: usize = 50;

/// The state of all queues and processes.
#[derive(Clone, Debug)]
pub struct BoardFigures {
    pub at: Time,
    /// One per queue, in the order of [`Queue::ALL`].
    pub queues: Vec<QueueFigures>,
    /// Every process with a heartbeat in the last five minutes, workers first.
    pub processes: Vec<ProcessInfo>,
    /// Processes that were lost earlier than that, within the last hour.
    pub lost_earlier: u64,
    /// Processes beyond the limit of the list.
    pub processes_not_listed: u64,
    /// Running jobs beyond the limit of the list.
    pub running_not_listed: u64,
}

impl BoardFigures {
    /// A sentence for each truncated list.
    pub fn omissions(&self) -> Vec<String> {
        let processes = self.processes.len() as u64;
        let running = self.processes.iter().map(|process| process.running.len() as u64).sum();
        [
            ("processes", processes, self.processes_not_listed),
            ("running jobs", running, self.running_not_listed),
        ]
        .into_iter()
        .filter(|(_, _, not_listed)| *not_listed > 0)
        .map(|(what, listed, more)| format!("Showing the first {listed} of {} {what}.", listed + more))
        .collect()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueFigures {
    pub queue: Queue,
    pub jobs: JobCounts,
    /// Attempts that succeeded and failed in the last full minute, in all processes.
    pub done_last_minute: u64,
    pub failed_last_minute: u64,
    pub paused: Option<Paused>,
}

impl BoardFigures {
    /// Whether a running process takes jobs of this queue. If none does, its jobs wait forever.
    pub fn is_taken(&self, queue: Queue) -> bool {
        self.takers(queue).next().is_some()
    }

    /// The running processes that take jobs of this queue.
    pub fn takers(&self, queue: Queue) -> impl Iterator<Item = &ProcessInfo> {
        let takes = move |process: &ProcessInfo| process.takes.iter().any(|(taken, _)| *taken == queue);
        self.processes.iter().filter(move |process| !process.is_lost && takes(process))
    }
}

/// How many jobs of a queue are in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobCounts {
    /// Not started, due or not.
    pub waiting: u64,
    pub running: u64,
    /// Waiting for another attempt.
    pub failed: u64,
    /// No attempt is left. They wait for an operator.
    pub dead: u64,
    /// Cancelled by an operator, before they started or when they were dead.
    pub cancelled: u64,
    /// When the job that has been due for longest became due, for its first attempt or for another.
    pub oldest_waiting_since: Option<Time>,
}

impl JobCounts {
    /// Jobs that are not finished.
    pub fn unfinished(&self) -> u64 {
        self.waiting + self.running + self.failed
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paused {
    pub by: String,
    pub since: Time,
}

/// A process of this deployment.
#[derive(Clone, Debug)]
pub struct ProcessInfo {
    pub instance: String,
    /// `serve`, `api`, `edge` or `worker`.
    pub role: String,
    pub host: String,
    pub process_id: u32,
    pub version: String,
    pub started_at: Time,
    pub seen_at: Time,
    /// It has missed so many heartbeats that its jobs are taken over.
    pub is_lost: bool,
    /// The queues that it takes jobs of, with the number of concurrent jobs of each.
    pub takes: Vec<(Queue, usize)>,
    pub running: Vec<RunningJob>,
}

#[derive(Clone, Debug)]
pub struct RunningJob {
    pub id: JobId,
    pub queue: Queue,
    pub kind: String,
    pub since: Option<Time>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JobState {
    /// Not started.
    Waiting,
    Running,
    /// Waiting for another attempt.
    Failed,
    /// No attempts are left, or none can succeed.
    Dead,
    /// Cancelled by an operator. It is deleted along with done jobs.
    Cancelled,
    Done,
}

impl JobState {
    pub const ALL: [JobState; 6] = [
        JobState::Waiting,
        JobState::Running,
        JobState::Failed,
        JobState::Dead,
        JobState::Cancelled,
        JobState::Done,
    ];

    pub fn name(self) -> &'static str {
        match self {
            JobState::Waiting => "waiting",
            JobState::Running => "running",
            JobState::Failed => "failed",
            JobState::Dead => "dead",
            JobState::Cancelled => "cancelled",
            JobState::Done => "done",
        }
    }

    pub fn parse(name: &str) -> Option<JobState> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }
}

/// A query for the jobs of one queue in one state, newest first.
#[derive(Clone, Copy, Debug)]
pub struct JobFilter {
    pub queue: Queue,
    pub state: JobState,
    /// Only jobs older than this one.
    pub before: Option<JobId>,
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
    /// Cancels every dead job of the queue, and returns how many.
    async fn discard_dead(&self, queue: Queue, by: &OperatorName) -> anyhow::Result<u64>;
    /// No worker starts a job of the queue until it is resumed; running jobs finish. Pausing twice keeps the
    /// first pause.
    async fn pause(&self, queue: Queue, by: &OperatorName) -> anyhow::Result<()>;
    async fn resume(&self, queue: Queue) -> anyhow::Result<()>;
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

    pub async fn resume_queue(&self, queue: Queue, by: &OperatorName) -> ServiceResult<()> {
        self.0.board.resume(queue).await?;
        tracing::info!(queue.name = queue.name(), operator.name = %by, "an operator resumes a queue");
        Ok(())
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
