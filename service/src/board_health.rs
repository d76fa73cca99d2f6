//! What an operator should know first: whether the queues are healthy, and if not, why.

use std::collections::BTreeSet;
use std::time::Duration;

use domain::{Queue, Time};

use crate::board_figures::{BoardFigures, QueueFigures};

/// A job that has been due for longer is late, even in a busy queue. The alert fires at the same age.
const LATE_AFTER: Duration = Duration::from_secs(600);

impl BoardFigures {
    /// What is wrong, the gravest first, such as `34 dead jobs in scan`. Empty if all is well.
    pub fn problems(&self) -> Vec<String> {
        let all = || self.queues.iter();
        let untaken = all()
            .filter(|queue| self.is_untaken(queue))
            .map(|queue| format!("no worker takes jobs from {}", queue.queue.name()));
        let paused = all().filter_map(|queue| {
            let since = queue.paused.as_ref()?.since;
            Some(format!("{} has been paused for {}", queue.queue.name(), age(since, self.at)))
        });
        let dead = all()
            .filter(|queue| queue.jobs.dead > 0)
            .map(|queue| format!("{} in {}", counted(queue.jobs.dead, "dead job"), queue.queue.name()));
        let late = all().filter_map(|queue| self.late(queue));
        let lost = self.processes.iter().filter(|process| process.is_lost).count() as u64;
        let lost = (lost > 0).then(|| format!("{} lost", counted(lost, "process")));
        let silent = self.processes.is_empty().then(|| "no process has sent a heartbeat recently".to_owned());
        silent.into_iter().chain(untaken).chain(paused).chain(dead).chain(late).chain(lost).collect()
    }

    /// Whether the queue has jobs that no process takes.
    pub fn is_untaken(&self, queue: &QueueFigures) -> bool {
        queue.jobs.unfinished() > 0 && !self.is_taken(queue.queue)
    }

    /// Rescans have the lowest priority, and may wait.
    fn late(&self, queue: &QueueFigures) -> Option<String> {
        let since = queue.jobs.oldest_waiting_since?;
        let may_wait = queue.queue == Queue::Rescan || queue.paused.is_some() || self.is_untaken(queue);
        if may_wait || self.at.since(since) < LATE_AFTER {
            return None;
        }
        Some(format!("the oldest job of {} has waited for {}", queue.queue.name(), age(since, self.at)))
    }

    /// The versions of the running processes. More than one means that an upgrade is not finished.
    pub fn versions(&self) -> Vec<&str> {
        let running = self.processes.iter().filter(|process| !process.is_lost);
        running.map(|process| process.version.as_str()).collect::<BTreeSet<_>>().into_iter().collect()
    }
}

fn counted(count: u64, what: &str) -> String {
    let ending = match (count, what.ends_with('s')) {
        (1, _) => "",
        (_, true) => "es",
        (_, false) => "s",
    };
    format!("{count} {what}{ending}")
}

fn age(since: Time, now: Time) -> String {
    match now.since(since).as_secs() {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7_200 => format!("{} min", seconds / 60),
        seconds @ 7_200..172_800 => format!("{} h", seconds / 3_600),
        seconds => format!("{} days", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board_figures::{JobCounts, Paused, ProcessInfo};

    fn now() -> Time {
        Time::from_millis(1_000_000_000)
    }

    fn before(seconds: u64) -> Time {
        now().minus(Duration::from_secs(seconds))
    }

    fn healthy() -> BoardFigures {
        let queues = Queue::ALL.map(|queue| QueueFigures {
            queue,
            jobs: JobCounts { waiting: 1, oldest_waiting_since: Some(before(599)), ..JobCounts::default() },
            done_last_minute: 0,
            failed_last_minute: 0,
            minutes: vec![],
            paused: None,
        });
        let worker = ProcessInfo {
            instance: "one".into(),
            role: "worker".into(),
            host: "a".into(),
            process_id: 1,
            version: "1.0.0".into(),
            started_at: before(900),
            seen_at: before(1),
            is_lost: false,
            takes: Queue::ALL.map(|queue| (queue, 4)).to_vec(),
            memory_bytes: None,
            running: vec![],
        };
        BoardFigures {
            at: now(),
            queues: queues.to_vec(),
            processes: vec![worker],
            lost_earlier: 0,
            processes_not_listed: 0,
            running_not_listed: 0,
        }
    }

    #[test]
    fn healthy_board_has_no_problems_and_one_version() {
        let board = healthy();
        assert_eq!(board.problems(), Vec::<String>::new());
        assert_eq!(board.versions(), ["1.0.0"]);
        assert_eq!(board.slots(Queue::Scan), 4);
    }

    #[test]
    fn pauses_dead_jobs_late_jobs_and_lost_processes_are_problems() {
        let mut board = healthy();
        board.queues[1].paused = Some(Paused { by: "ada".into(), since: before(14 * 60) });
        board.queues[1].jobs.oldest_waiting_since = Some(before(700));
        board.queues[1].jobs.dead = 34;
        board.queues[2].jobs.dead = 1;
        board.queues[0].jobs.oldest_waiting_since = Some(before(600));
        board.queues[4].jobs.oldest_waiting_since = Some(before(6_000));
        let lost = ProcessInfo { is_lost: true, version: "0.9.0".into(), ..board.processes[0].clone() };
        board.processes.extend([lost.clone(), lost]);
        let expected = [
            "scan has been paused for 14 min",
            "34 dead jobs in scan",
            "1 dead job in views",
            "the oldest job of publish has waited for 10 min",
            "2 processes lost",
        ];
        assert_eq!(board.problems(), expected);
        assert_eq!(board.versions(), ["1.0.0"], "a lost process runs no version");
    }

    #[test]
    fn queue_without_workers_is_a_problem_only_if_it_has_jobs() {
        let mut board = healthy();
        board.processes.clear();
        board.queues.truncate(2);
        board.queues[1].jobs = JobCounts::default();
        let expected = ["no process has sent a heartbeat recently", "no worker takes jobs from publish"];
        assert_eq!(board.problems(), expected);
    }
}
