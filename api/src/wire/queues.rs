//! Queues, processes and schedules in responses.

use domain::{JobId, Queue};
use poem_openapi::{Enum, Object};

use super::Timestamp;

/// A queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[oai(rename_all = "lowercase")]
pub enum QueueName {
    Publish,
    Scan,
    Views,
    Upkeep,
    Rescan,
}

/// All queues and processes.
#[derive(Debug, Object)]
pub struct QueueBoard {
    /// The server's time of these figures. Compare the other times with it, not with your own clock.
    pub at: Timestamp,
    /// What is wrong, the most urgent first, such as `34 dead jobs in scan`. Empty if all queues are healthy.
    pub problems: Vec<String>,
    /// The versions of the running processes. More than one while an upgrade is in progress.
    pub versions: Vec<String>,
    pub queues: Vec<QueueShown>,
    /// Processes with a heartbeat in the last five minutes, workers first. Processes that shut down cleanly
    /// are not listed.
    pub processes: Vec<Process>,
    /// The number of processes lost within the last hour but more than five minutes ago.
    pub lost_earlier: u64,
    /// The number of processes that are not listed because there are too many.
    pub processes_not_listed: u64,
    /// The number of running jobs that are not listed because there are too many.
    pub running_not_listed: u64,
}

/// A queue with the number of its jobs in each state.
#[derive(Debug, Object)]
pub struct QueueShown {
    pub name: QueueName,
    /// The number of unfinished jobs: `waiting`, `running` and `failed` together.
    pub depth: u64,
    /// Jobs that are not started yet, due or not.
    pub waiting: u64,
    pub running: u64,
    /// Jobs that failed and are retried automatically.
    pub failed: u64,
    /// Jobs that failed for good. They stay until an operator retries or discards them.
    pub dead: u64,
    /// Jobs that an operator cancelled. They can be retried until they are deleted after 48 hours.
    pub cancelled: u64,
    /// When the oldest waiting job became due. Null if no job is due. If it waits for minutes,
    /// there are too few workers or none.
    #[oai(nullable)]
    pub oldest_waiting_since: Option<Timestamp>,
    /// Attempts that succeeded in the last 60 seconds, in all processes.
    pub done_last_minute: u64,
    /// Failed attempts in the last 60 seconds.
    pub failed_last_minute: u64,
    /// How many of its jobs can run at a time, in all running processes.
    pub slots: u64,
    /// The last 60 minutes, oldest first. The last one is not over.
    pub minutes: Vec<QueueMinute>,
    /// Whether a running process takes jobs of this queue. If not, start one with
    /// `handbill worker --queues {name}`.
    pub taken: bool,
    /// Null if the queue is not paused.
    #[oai(nullable)]
    pub paused: Option<Pause>,
}

/// A minute of a queue, in all processes.
#[derive(Debug, Object)]
pub struct QueueMinute {
    /// The start of the minute.
    pub at: Timestamp,
    /// The number of unfinished jobs at the start. Null if no process was running to count them.
    #[oai(nullable)]
    pub depth: Option<u64>,
    /// Attempts that succeeded.
    pub done: u64,
    /// Attempts that failed.
    pub failed: u64,
    /// The median time per attempt in milliseconds, estimated from a histogram. Null if no attempt ended.
    #[oai(nullable)]
    pub took_p50_ms: Option<u64>,
    /// The 95th percentile of the time per attempt.
    #[oai(nullable)]
    pub took_p95_ms: Option<u64>,
}

/// A pause. It lasts until an operator resumes the queue.
#[derive(Debug, Object)]
pub struct Pause {
    /// The operator who paused it first.
    pub by: String,
    pub since: Timestamp,
}

/// A process of this deployment.
#[derive(Debug, Object)]
pub struct Process {
    /// The id of the process, new at each start. The names of its workers start with it.
    pub instance: String,
    /// `serve`, `api`, `edge` or `worker`.
    pub role: String,
    /// The machine's hostname.
    pub host: String,
    pub process_id: u32,
    pub version: String,
    pub started_at: Timestamp,
    /// The time of the last heartbeat. A process sends one every two seconds.
    pub seen_at: Timestamp,
    /// Whether its heartbeat is overdue for so long that other processes take over its jobs.
    pub lost: bool,
    /// The queues whose jobs it runs. Empty if it has no workers.
    pub takes: Vec<QueueTaken>,
    /// The resident memory. Null if the process cannot read it.
    #[oai(nullable)]
    pub memory_bytes: Option<u64>,
    pub running: Vec<RunningJob>,
}

/// A queue whose jobs a process runs.
#[derive(Debug, Object)]
pub struct QueueTaken {
    pub queue: QueueName,
    /// How many of its jobs the process runs at a time.
    pub concurrency: u64,
    /// How many run now.
    pub in_use: u64,
}

/// A running job.
#[derive(Debug, Object)]
pub struct RunningJob {
    pub id: String,
    pub queue: QueueName,
    pub kind: String,
    #[oai(nullable)]
    pub since: Option<Timestamp>,
}

/// A queue after a pause or resume.
#[derive(Debug, Object)]
pub struct QueueSteered {
    pub queue: QueueName,
    /// Whether the queue is paused now.
    pub paused: bool,
}

/// The requeued dead jobs of a queue.
#[derive(Debug, Object)]
pub struct DeadRequeued {
    pub queue: QueueName,
    /// The number of requeued jobs.
    pub requeued: u64,
}

/// The discarded dead jobs of a queue. Their state is now `cancelled`.
#[derive(Debug, Object)]
pub struct DeadDiscarded {
    pub queue: QueueName,
    /// The number of discarded jobs.
    pub discarded: u64,
}

/// A schedule.
#[derive(Debug, Object)]
pub struct Schedule {
    pub name: String,
    /// When it fires, as a cron expression in UTC. With six fields, the first is the second.
    pub cron: String,
    /// The queue of its jobs.
    pub queue: QueueName,
    /// The kind of its jobs.
    pub kind: String,
    /// The last time that it fired for. Null if it never fired.
    #[oai(nullable)]
    pub last_slot: Option<Timestamp>,
    pub next_slot: Timestamp,
}

/// A schedule that was started by hand.
#[derive(Debug, Object)]
pub struct ScheduleRun {
    pub schedule: String,
    /// The queue of the job.
    pub queue: QueueName,
    /// The job's id. `GET /internal/queues/{queue}/jobs/{id}` returns its state.
    pub job_id: String,
}

impl ScheduleRun {
    pub fn of(schedule: &str, queue: Queue, job: JobId) -> Self {
        Self { schedule: schedule.to_owned(), queue: queue.into(), job_id: job.to_string() }
    }
}

impl From<Queue> for QueueName {
    fn from(queue: Queue) -> Self {
        match queue {
            Queue::Publish => QueueName::Publish,
            Queue::Scan => QueueName::Scan,
            Queue::Views => QueueName::Views,
            Queue::Upkeep => QueueName::Upkeep,
            Queue::Rescan => QueueName::Rescan,
        }
    }
}

impl From<service::BoardFigures> for QueueBoard {
    fn from(board: service::BoardFigures) -> Self {
        let slots: Vec<usize> = board.queues.iter().map(|queue| board.slots(queue.queue)).collect();
        let (problems, versions) =
            (board.problems(), board.versions().into_iter().map(str::to_owned).collect());
        let queues = board.queues.into_iter().zip(slots);
        Self {
            at: board.at.into(),
            problems,
            versions,
            queues: queues.map(|(queue, slots)| QueueShown::new(queue, slots)).collect(),
            processes: board.processes.into_iter().map(Process::from).collect(),
            lost_earlier: board.lost_earlier,
            processes_not_listed: board.processes_not_listed,
            running_not_listed: board.running_not_listed,
        }
    }
}

impl QueueShown {
    fn new(queue: service::QueueFigures, slots: usize) -> Self {
        Self {
            name: queue.queue.into(),
            depth: queue.jobs.unfinished(),
            waiting: queue.jobs.waiting,
            running: queue.jobs.running,
            failed: queue.jobs.failed,
            dead: queue.jobs.dead,
            cancelled: queue.jobs.cancelled,
            oldest_waiting_since: queue.jobs.oldest_waiting_since.map(Timestamp::from),
            done_last_minute: queue.done_last_minute,
            failed_last_minute: queue.failed_last_minute,
            slots: slots as u64,
            minutes: queue.minutes.into_iter().map(QueueMinute::from).collect(),
            // Every process takes at least one job at a time from each of its queues.
            taken: slots > 0,
            paused: queue.paused.map(|paused| Pause { by: paused.by, since: paused.since.into() }),
        }
    }
}

impl From<service::QueueMinute> for QueueMinute {
    fn from(minute: service::QueueMinute) -> Self {
        Self {
            at: minute.at.into(),
            depth: minute.depth,
            done: minute.done,
            failed: minute.failed,
            took_p50_ms: minute.took_p50_ms,
            took_p95_ms: minute.took_p95_ms,
        }
    }
}

impl From<service::ProcessInfo> for Process {
    fn from(process: service::ProcessInfo) -> Self {
        let taken = |&(queue, concurrency): &(Queue, usize)| QueueTaken {
            queue: queue.into(),
            concurrency: concurrency as u64,
            in_use: process.in_use(queue) as u64,
        };
        Self {
            takes: process.takes.iter().map(taken).collect(),
            memory_bytes: process.memory_bytes,
            instance: process.instance,
            role: process.role,
            host: process.host,
            process_id: process.process_id,
            version: process.version,
            started_at: process.started_at.into(),
            seen_at: process.seen_at.into(),
            lost: process.is_lost,
            running: process.running.into_iter().map(RunningJob::from).collect(),
        }
    }
}

impl From<service::RunningJob> for RunningJob {
    fn from(job: service::RunningJob) -> Self {
        Self {
            id: job.id.to_string(),
            queue: job.queue.into(),
            kind: job.kind,
            since: job.since.map(Timestamp::from),
        }
    }
}

impl From<service::ScheduleInfo> for Schedule {
    fn from(schedule: service::ScheduleInfo) -> Self {
        let planned = schedule.planned;
        Self {
            name: planned.name.to_owned(),
            cron: planned.cron.to_owned(),
            queue: planned.job.queue().into(),
            kind: planned.job.kind().to_owned(),
            last_slot: schedule.last_slot.map(Timestamp::from),
            next_slot: planned.next.into(),
        }
    }
}
