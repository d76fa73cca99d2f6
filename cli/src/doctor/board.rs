//! Findings from the queue board: paused or slow queues, dead jobs, lost processes, late schedules. It reads
//! no jobs, so an edge's login may run it, too.

use std::time::Duration;

use bus::Bus;
use config::Settings;
use domain::{Queue, Time};
use service::{Board, BoardFigures, ProcessInfo, QueueFigures};

use super::finding::Finding;
use crate::parts;
use crate::progress::count;

/// The same ages as in the alerts of the operators' guide.
const PUBLISH_AGE_MAX: Duration = Duration::from_secs(10);
const OTHERS_AGE_MAX: Duration = Duration::from_secs(600);
/// A process that has just started catches up with missed schedules within a second.
const LAG_MAX: Duration = Duration::from_secs(60);
/// How many processes are listed. The board has all of them.
const NAMED_MAX: usize = 5;

pub(super) async fn examine(settings: &Settings) -> anyhow::Result<Vec<Finding>> {
    let queues = parts::open_queues(settings, &Bus::local("doctor"), parts::clock()).await?;
    anyhow::ensure!(queues.is_current().await?, "it responds, but its schema is out of date");
    let board = queues.figures_without_jobs().await?;
    let mut findings = of_queues(&board);
    findings.extend(of_processes(&board, if settings.dev_mode { not_started() } else { none_running() }));
    Ok(findings)
}

/// Whether each schedule fired when it was due.
pub(super) async fn schedules(settings: &Settings) -> anyhow::Result<Finding> {
    let store = parts::open_store(settings).await?;
    let clock = parts::clock_of(&store, settings).await?;
    let queues = parts::open_queues(settings, &Bus::local("doctor"), clock.clone()).await?;
    let now = clock.now();
    if !has_firing_process(&queues.figures_without_jobs().await?, now) {
        return Ok(Finding::sound("schedules", "no process has been running long enough to fire them"));
    }
    let mut late = Vec::new();
    for planned in queues.schedules(now)? {
        let last = store.schedules().last_fire_time(planned.name).await?;
        let due = match last {
            Some(last) => queues.schedules(last)?.into_iter().find(|next| next.name == planned.name),
            None => None,
        };
        if due.is_none_or(|due| now.since(due.next) > LAG_MAX) {
            late.push(match last {
                Some(last) => format!("{} has not fired since {last}", planned.name),
                None => format!("{} has never fired", planned.name),
            });
        }
    }
    if late.is_empty() {
        return Ok(Finding::sound("schedules", "each has fired on time"));
    }
    let remedy = "check the logs of the workers on `upkeep`, and the clocks of their machines";
    Ok(Finding::warning("schedules", late.join(", "), remedy))
}

fn of_queues(board: &BoardFigures) -> Vec<Finding> {
    let in_all = |count: fn(&QueueFigures) -> u64| board.queues.iter().map(count).sum::<u64>();
    let (waiting, given_up) = (in_all(|queue| queue.jobs.waiting), in_all(|queue| queue.jobs.dead));
    let state = format!("it responds; {waiting} jobs are waiting, {given_up} are dead");
    let mut findings = vec![Finding::sound("queue", state)];
    for queue in &board.queues {
        findings.extend(paused(queue));
        findings.extend(old(queue, board.at));
        findings.extend(dead(queue));
    }
    findings
}

fn paused(queue: &QueueFigures) -> Option<Finding> {
    let paused = queue.paused.as_ref()?;
    let what = format!("{} was paused by {} at {}", queue.queue.name(), paused.by, paused.since);
    Some(Finding::warning("queue", what, "run `handbill admin resume QUEUE` to resume it"))
}

/// Paused queues have their own finding. Rescans may wait for any time.
fn old(queue: &QueueFigures, now: Time) -> Option<Finding> {
    let age_max = match queue.queue {
        Queue::Publish => PUBLISH_AGE_MAX,
        Queue::Scan | Queue::Views | Queue::Upkeep => OTHERS_AGE_MAX,
        Queue::Rescan => return None,
    };
    let since = queue.jobs.oldest_waiting_since.filter(|since| now.since(*since) > age_max)?;
    if queue.paused.is_some() {
        return None;
    }
    let what = format!("the oldest due job of {} has been waiting since {since}", queue.queue.name());
    Some(Finding::warning("queue", what, "check the workers' logs, or start another `handbill worker`"))
}

fn dead(queue: &QueueFigures) -> Option<Finding> {
    if queue.jobs.dead == 0 {
        return None;
    }
    let what =
        format!("{} in {}", count(queue.jobs.dead, "job is dead", "jobs are dead"), queue.queue.name());
    let remedy =
        "`handbill admin jobs QUEUE` shows why; fix the cause, then run `handbill admin requeue-dead QUEUE`";
    Some(Finding::warning("queue", what, remedy))
}

/// In dev mode the service may simply not be started yet.
fn not_started() -> Finding {
    Finding::sound("workers", "no process is running")
}

fn none_running() -> Finding {
    let remedy = "start the service, or run the doctor with its database.url and queue.url";
    Finding::warning("workers", "no process is running", remedy)
}

/// The running processes must take every queue between them.
fn of_processes(board: &BoardFigures, none_running: Finding) -> Vec<Finding> {
    let alive: Vec<_> = board.processes.iter().filter(|process| !process.is_lost).collect();
    let mut findings = Vec::new();
    findings.extend(lost(board));
    findings.push(match alive.len() {
        0 => none_running,
        alive => taken(board, alive),
    });
    findings
}

fn taken(board: &BoardFigures, alive: usize) -> Finding {
    let untaken: Vec<_> =
        Queue::ALL.into_iter().filter(|queue| !board.is_taken(*queue)).map(Queue::name).collect();
    if !untaken.is_empty() {
        return Finding::fault(
            "workers",
            format!("no worker takes jobs from {}", untaken.join(", ")),
            "start a `handbill worker` for it; without --queues it takes every queue",
        );
    }
    let alive = count(alive as u64, "process is", "processes are");
    Finding::sound("workers", format!("{alive} running, and every queue has a worker"))
}

fn lost(board: &BoardFigures) -> Option<Finding> {
    let lost: Vec<_> = board.processes.iter().filter(|process| process.is_lost).collect();
    let count_all = lost.len() as u64 + board.lost_earlier;
    if count_all == 0 {
        return None;
    }
    let named: Vec<_> = lost.iter().take(NAMED_MAX).map(|process| named(process)).collect();
    let how_many = count(count_all, "process has", "processes have");
    let what = match (named.is_empty(), count_all > named.len() as u64) {
        (true, _) => format!("{how_many} disappeared in the last hour without stopping cleanly"),
        (false, true) => {
            format!(
                "{how_many} disappeared in the last hour without stopping cleanly: {}, and others",
                named.join(", ")
            )
        }
        (false, false) => {
            format!("{how_many} disappeared in the last hour without stopping cleanly: {}", named.join(", "))
        }
    };
    Some(Finding::warning(
        "workers",
        what,
        "check whether they were killed; other processes take over their jobs",
    ))
}

fn named(process: &ProcessInfo) -> String {
    let ProcessInfo { role, host, process_id, seen_at, .. } = process;
    format!("{role} {process_id} on {host} (last seen at {seen_at})")
}

fn has_firing_process(board: &BoardFigures, now: Time) -> bool {
    board.processes.iter().any(|process| {
        let takes_upkeep = process.takes.iter().any(|(queue, _)| *queue == Queue::Upkeep);
        !process.is_lost && takes_upkeep && now.since(process.started_at) > LAG_MAX
    })
}

#[cfg(test)]
mod tests {
    use service::{JobCounts, Paused};

    use super::*;

    const NOW: Time = Time::from_millis(1_790_000_000_000);

    fn at_rest() -> BoardFigures {
        let queues = Queue::ALL.map(|queue| QueueFigures {
            queue,
            jobs: JobCounts::default(),
            done_last_minute: 0,
            failed_last_minute: 0,
            minutes: Vec::new(),
            paused: None,
        });
        BoardFigures {
            at: NOW,
            queues: queues.to_vec(),
            processes: vec![process("serve")],
            lost_earlier: 0,
            processes_not_listed: 0,
            running_not_listed: 0,
        }
    }

    fn process(role: &str) -> ProcessInfo {
        ProcessInfo {
            instance: "one".to_owned(),
            role: role.to_owned(),
            host: "here".to_owned(),
            process_id: 7,
            version: "1.0.0".to_owned(),
            started_at: NOW.minus(Duration::from_secs(3_600)),
            seen_at: NOW,
            is_lost: false,
            takes: Queue::ALL.map(|queue| (queue, 1)).to_vec(),
            memory_bytes: None,
            running: Vec::new(),
        }
    }

    fn all_of(board: &BoardFigures) -> String {
        let findings = of_queues(board).into_iter().chain(of_processes(board, none_running()));
        findings.map(|finding| finding.to_string()).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn board_without_problems_gives_no_warnings() {
        let text = all_of(&at_rest());
        assert!(!text.contains("WARN") && !text.contains("FAULT"), "{text}");
        assert!(text.contains("ok    workers: 1 process is running, and every queue has a worker"), "{text}");
    }

    #[test]
    fn paused_dead_and_overdue_jobs_give_warnings_that_name_the_queue() {
        let mut board = at_rest();
        board.queues[1].paused = Some(Paused { by: "Bea".to_owned(), since: NOW });
        board.queues[1].jobs.oldest_waiting_since = Some(NOW.minus(Duration::from_secs(7_200)));
        board.queues[2].jobs.dead = 2;
        board.queues[0].jobs.oldest_waiting_since = Some(NOW.minus(Duration::from_secs(11)));
        let text = all_of(&board);
        assert!(text.contains("WARN  queue: scan was paused by Bea"), "{text}");
        assert!(
            !text.contains("the oldest due job of scan"),
            "it is paused, which has its own finding: {text}"
        );
        assert!(text.contains("WARN  queue: 2 jobs are dead in views"), "{text}");
        assert!(text.contains("WARN  queue: the oldest due job of publish"), "{text}");
        assert!(!text.contains("FAULT"), "{text}");
    }

    #[test]
    fn jobs_within_their_waiting_limit_give_no_warning() {
        let mut board = at_rest();
        for (queue, seconds) in board.queues.iter_mut().zip([10, 600, 600, 600, 86_400]) {
            queue.jobs.oldest_waiting_since = Some(NOW.minus(Duration::from_secs(seconds)));
        }
        let text = all_of(&board);
        assert!(!text.contains("WARN"), "{text}");
    }

    #[test]
    fn a_lost_process_is_named_and_takes_no_queue() {
        let mut board = at_rest();
        board.processes.push(ProcessInfo { is_lost: true, ..process("worker") });
        let text = all_of(&board);
        assert!(text.contains("WARN  workers: 1 process has disappeared"), "{text}");
        assert!(text.contains("worker 7 on here"), "{text}");
        board.lost_earlier = 2;
        assert!(all_of(&board).contains("3 processes have disappeared"), "{}", all_of(&board));
        board.processes[0].takes.retain(|(queue, _)| *queue != Queue::Scan);
        assert!(all_of(&board).contains("FAULT workers: no worker takes jobs from scan"));
    }

    #[test]
    fn missing_processes_give_a_warning_only_outside_dev_mode() {
        let board = BoardFigures { processes: Vec::new(), ..at_rest() };
        assert!(all_of(&board).contains("WARN  workers: no process is running"));
        assert!(of_processes(&board, not_started()).iter().all(Finding::is_sound));
    }
}
