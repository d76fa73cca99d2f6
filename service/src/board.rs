//! The queues as the operator's people see and steer them, whatever carries them: [`Board`] is what the workers crate
//! gives, and the operations here are what a page, a route and the command line call. Nothing here may show what
//! somebody publishes or pays with: payloads come redacted.

use async_trait::async_trait;
use domain::{Job, JobEnvelope, JobId, Missing, OperatorName, Queue, Refusal, Time};
use serde_json::Value;

use crate::{Service, ServiceResult};

/// Jobs in one list.
pub const JOBS_SHOWN_MAX: usize = 50;

/// Everything at a glance.
#[derive(Clone, Debug)]
pub struct BoardFigures {
    pub at: Time,
    /// One for each queue, in the order of [`Queue::ALL`].
    pub queues: Vec<QueueFigures>,
    /// Every process whose heartbeat was seen within five minutes, the workers first.
    pub processes: Vec<ProcessInfo>,
    /// How many processes fell silent longer ago than that, within the last hour.
    pub lost_earlier: u64,
    /// How many more processes there are than are listed.
    pub processes_not_listed: u64,
    /// How many more jobs are running than are listed with the processes.
    pub running_not_listed: u64,
}

impl BoardFigures {
    /// A sentence for each list that does not have everything.
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
    /// Not begun, due or not.
    pub waiting: u64,
    pub running: u64,
    /// Waiting for another attempt.
    pub failed: u64,
    /// Given up: they wait for a person.
    pub dead: u64,
    /// Called off by an operator, before they were begun or when they were dead.
    pub cancelled: u64,
    /// Since when the oldest job that is due, for its first attempt or for another, has not been begun.
    pub oldest_waiting_since: Option<Time>,
    /// Attempts that ended well, and badly, in the last minute that is over, in all processes.
    pub done_last_minute: u64,
    pub failed_last_minute: u64,
    pub paused: Option<Paused>,
}

impl BoardFigures {
    /// Whether some process that lives takes jobs of this queue. If none does, they wait for ever.
    pub fn is_taken(&self, queue: Queue) -> bool {
        self.takers(queue).next().is_some()
    }

    /// The processes that live and take jobs of this queue.
    pub fn takers(&self, queue: Queue) -> impl Iterator<Item = &ProcessInfo> {
        let takes = move |process: &ProcessInfo| process.takes.iter().any(|(taken, _)| *taken == queue);
        self.processes.iter().filter(move |process| !process.is_lost && takes(process))
    }
}

impl QueueFigures {
    /// Jobs that are still to be done.
    pub fn depth(&self) -> u64 {
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
    /// It has been silent for so long that its jobs are taken over.
    pub is_lost: bool,
    /// Which queues it takes, and how many jobs of each at a time.
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
    /// Not begun.
    Waiting,
    Running,
    /// Waiting for another attempt.
    Failed,
    /// Given up: no attempt was left, or none could help.
    Dead,
    /// Called off by an operator. It is forgotten with what is done.
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

/// A list of jobs that is asked for: those of one queue in one state, the newest first.
#[derive(Clone, Copy, Debug)]
pub struct JobsWanted {
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
    /// `unreadable` when the row holds no job.
    pub kind: String,
    pub state: JobState,
    pub attempts: u32,
    pub attempts_max: u32,
    /// When the next attempt is due, or the last one was.
    pub due_at: Time,
    pub begun_at: Option<Time>,
    pub ended_at: Option<Time>,
    /// The worker that has it or had it last.
    pub worker: Option<String>,
    pub last_error: Option<String>,
}

#[derive(Clone, Debug)]
pub struct JobDetail {
    pub job: JobInfo,
    /// What the job is about, without what is secret or somebody's.
    pub payload: Value,
    /// The process that waits for its outcome.
    pub reply_to: Option<String>,
    /// What happened to it, the oldest first.
    pub timeline: Vec<JobEvent>,
}

#[derive(Clone, Debug)]
pub struct JobEvent {
    pub at: Time,
    pub what: JobHappening,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobHappening {
    Pushed,
    Began { attempt: u32, worker: String },
    Failed { attempt: u32, error: String, retry_at: Option<Time> },
    Died { attempt: u32, error: String },
    Done { attempt: u32 },
    Retried { by: String },
    Cancelled { by: String },
}

/// What came of an operator's word on a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steered {
    Done,
    /// It is in a state in which that cannot be done.
    Is(JobState),
    Unknown,
}

/// A schedule, and when it is due.
#[derive(Clone, Debug)]
pub struct Planned {
    pub name: &'static str,
    /// As cron has it, in UTC.
    pub cron: &'static str,
    pub job: Job,
    pub next: Time,
}

/// A schedule with what is known of its past.
#[derive(Clone, Debug)]
pub struct ScheduleInfo {
    pub planned: Planned,
    pub last_slot: Option<Time>,
}

/// What the carrier of the queues shows of them, and lets be done. In force in every process within two seconds.
#[async_trait]
pub trait Board: Send + Sync {
    async fn shown(&self) -> anyhow::Result<BoardFigures>;
    async fn jobs(&self, wanted: JobsWanted) -> anyhow::Result<JobList>;
    async fn job(&self, queue: Queue, id: JobId) -> anyhow::Result<Option<JobDetail>>;
    /// Has a job that is dead or cancelled, or waits for another attempt, begun anew now, with all its attempts before it.
    async fn retry(&self, queue: Queue, id: JobId, by: &OperatorName) -> anyhow::Result<Steered>;
    /// Ends a job that waits: it is cancelled. One that runs is let be.
    async fn cancel(&self, queue: Queue, id: JobId, by: &OperatorName) -> anyhow::Result<Steered>;
    /// Gives a dead job up for good: it is cancelled.
    async fn discard(&self, queue: Queue, id: JobId, by: &OperatorName) -> anyhow::Result<Steered>;
    /// Has every dead job of the queue begun anew. How many there were.
    async fn requeue_dead(&self, queue: Queue, by: &OperatorName) -> anyhow::Result<u64>;
    /// Gives every dead job of the queue up for good. How many there were.
    async fn discard_dead(&self, queue: Queue, by: &OperatorName) -> anyhow::Result<u64>;
    /// No worker begins a job of the queue until it is resumed; what runs is finished. Pausing twice keeps the first.
    async fn pause(&self, queue: Queue, by: &OperatorName) -> anyhow::Result<()>;
    async fn resume(&self, queue: Queue) -> anyhow::Result<()>;
    /// Whether an operator has paused the queue, as of a second ago at most: cheap enough to be asked for each request.
    async fn is_paused(&self, queue: Queue) -> bool;
    fn schedules(&self, now: Time) -> anyhow::Result<Vec<Planned>>;
}

impl Service {
    pub async fn board(&self) -> ServiceResult<BoardFigures> {
        Ok(self.0.board.shown().await?)
    }

    pub async fn jobs(&self, wanted: JobsWanted) -> ServiceResult<JobList> {
        Ok(self.0.board.jobs(wanted).await?)
    }

    pub async fn job(&self, queue: Queue, id: JobId) -> ServiceResult<JobDetail> {
        Ok(self.0.board.job(queue, id).await?.ok_or(Refusal::NotFound(Missing::Job))?)
    }

    pub async fn retry_job(&self, queue: Queue, id: JobId, by: &OperatorName) -> ServiceResult<()> {
        settled(self.0.board.retry(queue, id, by).await?)?;
        tracing::info!(job.id = %id, queue.name = queue.name(), operator.name = %by, "an operator retries a job");
        Ok(())
    }

    pub async fn cancel_job(&self, queue: Queue, id: JobId, by: &OperatorName) -> ServiceResult<()> {
        settled(self.0.board.cancel(queue, id, by).await?)?;
        tracing::info!(job.id = %id, queue.name = queue.name(), operator.name = %by, "an operator cancels a job");
        Ok(())
    }

    pub async fn discard_job(&self, queue: Queue, id: JobId, by: &OperatorName) -> ServiceResult<()> {
        settled(self.0.board.discard(queue, id, by).await?)?;
        tracing::info!(job.id = %id, queue.name = queue.name(), operator.name = %by, "an operator discards a job");
        Ok(())
    }

    /// How many jobs begin anew.
    pub async fn requeue_dead(&self, queue: Queue, by: &OperatorName) -> ServiceResult<u64> {
        let jobs = self.0.board.requeue_dead(queue, by).await?;
        tracing::info!(jobs.requeued = jobs, queue.name = queue.name(), operator.name = %by, "an operator requeues the dead");
        Ok(jobs)
    }

    /// How many jobs are discarded.
    pub async fn discard_dead(&self, queue: Queue, by: &OperatorName) -> ServiceResult<u64> {
        let jobs = self.0.board.discard_dead(queue, by).await?;
        tracing::info!(jobs.discarded = jobs, queue.name = queue.name(), operator.name = %by, "an operator discards the dead");
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
        let mut shown = Vec::new();
        for planned in self.0.board.schedules(self.0.clock.now())? {
            let last_slot = self.0.store.schedules().last_fire_time(planned.name).await?;
            shown.push(ScheduleInfo { planned, last_slot });
        }
        Ok(shown)
    }

    /// Does now what a schedule does; its slots go on as if nothing had been. The id of the job.
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

/// Nothing, or why not.
fn settled(steered: Steered) -> Result<(), Refusal> {
    match steered {
        Steered::Done => Ok(()),
        Steered::Is(state) => Err(Refusal::JobIs { state: state.name().to_owned() }),
        Steered::Unknown => Err(Refusal::NotFound(Missing::Job)),
    }
}
