//! The figures of the queue board: queues and processes, now and in the last hour.

use domain::{JobId, Queue, Time};

/// The minutes of a queue's history on the board.
pub const HISTORY_MINUTES: usize = 60;

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
    /// Attempts that succeeded and failed in the last 60 seconds, in all processes.
    pub done_last_minute: u64,
    pub failed_last_minute: u64,
    /// The last [`HISTORY_MINUTES`], oldest first. The last one is not over.
    pub minutes: Vec<QueueMinute>,
    pub paused: Option<Paused>,
}

/// One minute of a queue, in all processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueMinute {
    pub at: Time,
    /// Unfinished jobs at its start. `None` if no process was running to count them.
    pub depth: Option<u64>,
    /// Attempts that succeeded and failed.
    pub done: u64,
    pub failed: u64,
    /// How long attempts took: the median and the 95th percentile. `None` if none ended.
    pub took_p50_ms: Option<u64>,
    pub took_p95_ms: Option<u64>,
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

    /// How many jobs of this queue can run at a time, in all running processes.
    pub fn slots(&self, queue: Queue) -> usize {
        let of_queue =
            |process: &ProcessInfo| process.takes.iter().find(|(taken, _)| *taken == queue).copied();
        self.takers(queue).filter_map(of_queue).map(|(_, slots)| slots).sum()
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
    /// Its resident memory, where it can read it.
    pub memory_bytes: Option<u64>,
    pub running: Vec<RunningJob>,
}

impl ProcessInfo {
    /// How many jobs of a queue it runs now.
    pub fn in_use(&self, queue: Queue) -> usize {
        self.running.iter().filter(|job| job.queue == queue).count()
    }
}

#[derive(Clone, Debug)]
pub struct RunningJob {
    pub id: JobId,
    pub queue: Queue,
    pub kind: String,
    pub since: Option<Time>,
}
