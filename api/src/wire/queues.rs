//! The queues, the processes and the schedules as the operator's programs see them.

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

/// All queues and processes at a glance.
#[derive(Debug, Object)]
pub struct QueueBoard {
    /// When it was so; compare the other moments with this one, not with your own clock.
    pub at: Timestamp,
    pub queues: Vec<QueueShown>,
    /// Those whose heartbeat was seen within five minutes, the workers first. One that stopped in good order is not listed.
    pub processes: Vec<Process>,
    /// How many processes were lost longer ago than that, within the last hour.
    pub lost_earlier: u64,
    /// How many more processes there are than are listed.
    pub processes_not_listed: u64,
    /// How many more jobs are running than are listed with the processes.
    pub running_not_listed: u64,
}

/// A queue and its jobs by number.
#[derive(Debug, Object)]
pub struct QueueShown {
    pub name: QueueName,
    /// What is still to be done: `waiting`, `running` and `failed` together.
    pub depth: u64,
    /// Not begun, due or not.
    pub waiting: u64,
    pub running: u64,
    /// Waiting for another attempt, which comes by itself.
    pub failed: u64,
    /// Given up: nothing happens to them until somebody retries or discards them.
    pub dead: u64,
    /// Called off by one of the operator's people: they are forgotten after 48 hours, and until then can be retried.
    pub cancelled: u64,
    /// Since when the oldest job that is due, for its first attempt or for another, has not been begun; null when none
    /// is. Minutes mean that there are too few workers, or none.
    #[oai(nullable)]
    pub oldest_waiting_since: Option<Timestamp>,
    /// Attempts that ended well in the last minute that is over, in all processes.
    pub done_last_minute: u64,
    /// Attempts that ended badly in that minute.
    pub failed_last_minute: u64,
    /// Whether a process that lives takes jobs of it. If not, start one with `handbill worker --queues {name}`.
    pub taken: bool,
    /// Null when it is not paused.
    #[oai(nullable)]
    pub paused: Option<Pause>,
}

/// A pause, which ends when somebody resumes the queue.
#[derive(Debug, Object)]
pub struct Pause {
    /// Who of the operator's people paused it first.
    pub by: String,
    pub since: Timestamp,
}

/// A process of this deployment.
#[derive(Debug, Object)]
pub struct Process {
    /// Its own name, new at each start. The worker of a job begins with it.
    pub instance: String,
    /// `serve`, `api`, `edge` or `worker`.
    pub role: String,
    /// The machine.
    pub host: String,
    pub process_id: u32,
    pub version: String,
    pub started_at: Timestamp,
    /// When it last said that it lives; it does every two seconds.
    pub seen_at: Timestamp,
    /// It has been silent for so long that others take over its jobs.
    pub lost: bool,
    /// Whose jobs it does; empty for one without workers.
    pub takes: Vec<QueueTaken>,
    pub running: Vec<RunningJob>,
}

/// A queue that a process takes jobs of.
#[derive(Debug, Object)]
pub struct QueueTaken {
    pub queue: QueueName,
    /// How many jobs of it at a time.
    pub concurrency: u64,
}

/// A job that a process does now.
#[derive(Debug, Object)]
pub struct RunningJob {
    pub id: String,
    pub queue: QueueName,
    pub kind: String,
    #[oai(nullable)]
    pub since: Option<Timestamp>,
}

/// A queue that was paused or resumed.
#[derive(Debug, Object)]
pub struct QueueSteered {
    pub queue: QueueName,
    /// What it is from now on.
    pub paused: bool,
}

/// The dead jobs of a queue, begun anew.
#[derive(Debug, Object)]
pub struct DeadRequeued {
    pub queue: QueueName,
    /// How many there were.
    pub requeued: u64,
}

/// The dead jobs of a queue, given up for good: they are `cancelled` from now on.
#[derive(Debug, Object)]
pub struct DeadDiscarded {
    pub queue: QueueName,
    /// How many there were.
    pub discarded: u64,
}

/// What happens by itself, and when.
#[derive(Debug, Object)]
pub struct Schedule {
    pub name: String,
    /// When, as cron has it, in UTC; six fields begin with the second.
    pub cron: String,
    /// Where its jobs go.
    pub queue: QueueName,
    /// What its jobs do.
    pub kind: String,
    /// The last time for which it fired; null when it never did.
    #[oai(nullable)]
    pub last_slot: Option<Timestamp>,
    pub next_slot: Timestamp,
}

/// A schedule that was run by hand.
#[derive(Debug, Object)]
pub struct ScheduleRun {
    pub schedule: String,
    /// Where its job is.
    pub queue: QueueName,
    /// Its id: `GET /internal/queues/{queue}/jobs/{id}` tells how far it is.
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
        let taken: Vec<bool> = board.queues.iter().map(|queue| board.is_taken(queue.queue)).collect();
        let queues = board.queues.into_iter().zip(taken);
        Self {
            at: board.at.into(),
            queues: queues.map(|(queue, taken)| QueueShown::new(queue, taken)).collect(),
            processes: board.processes.into_iter().map(Process::from).collect(),
            lost_earlier: board.lost_earlier,
            processes_not_listed: board.processes_not_listed,
            running_not_listed: board.running_not_listed,
        }
    }
}

impl QueueShown {
    fn new(queue: service::QueueFigures, taken: bool) -> Self {
        Self {
            name: queue.queue.into(),
            depth: queue.depth(),
            waiting: queue.waiting,
            running: queue.running,
            failed: queue.failed,
            dead: queue.dead,
            cancelled: queue.cancelled,
            oldest_waiting_since: queue.oldest_waiting_since.map(Timestamp::from),
            done_last_minute: queue.done_last_minute,
            failed_last_minute: queue.failed_last_minute,
            taken,
            paused: queue.paused.map(|paused| Pause { by: paused.by, since: paused.since.into() }),
        }
    }
}

impl From<service::ProcessInfo> for Process {
    fn from(process: service::ProcessInfo) -> Self {
        let taken = |(queue, concurrency): (Queue, usize)| QueueTaken {
            queue: queue.into(),
            concurrency: u64::try_from(concurrency).unwrap_or(u64::MAX),
        };
        Self {
            instance: process.instance,
            role: process.role,
            host: process.host,
            process_id: process.process_id,
            version: process.version,
            started_at: process.started_at.into(),
            seen_at: process.seen_at.into(),
            lost: process.is_lost,
            takes: process.takes.into_iter().map(taken).collect(),
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
