//! What the queue board says of the installation: queues that stand, jobs that died, processes that are gone, schedules
//! that are late. No job is looked at, so that whoever may only serve pages may ask as well.

use std::time::Duration;

use bus::Bus;
use config::Settings;
use domain::{Queue, Time};
use service::{Board, BoardFigures, ProcessInfo, QueueFigures};

use super::finding::Finding;
use crate::parts;
use crate::progress::count;

/// The alerts of the operators' guide ring at these ages.
const PUBLISH_AGE_MAX: Duration = Duration::from_secs(10);
const OTHERS_AGE_MAX: Duration = Duration::from_secs(600);
/// A process that has just started makes good within a second what was missed while none was there.
const LAG_MAX: Duration = Duration::from_secs(60);
/// So many processes are named; the board has all of them.
const NAMED_MAX: usize = 5;

pub(super) async fn look(settings: &Settings) -> anyhow::Result<Vec<Finding>> {
    let queues = parts::open_queues(settings, &Bus::local("doctor"), parts::clock()).await?;
    anyhow::ensure!(queues.is_current().await?, "it answers, but its schema is not the newest");
    let shown = queues.shown_from_afar().await?;
    let mut findings = of_queues(&shown);
    findings.extend(of_processes(&shown, if settings.dev_mode { nobody_yet() } else { nobody() }));
    Ok(findings)
}

/// Whether each schedule has fired when it was due.
pub(super) async fn schedules(settings: &Settings) -> anyhow::Result<Finding> {
    let store = parts::open_store(settings).await?;
    let clock = parts::clock_of(&store, settings).await?;
    let queues = parts::open_queues(settings, &Bus::local("doctor"), clock.clone()).await?;
    let now = clock.now();
    if !is_anybody_to_fire(&queues.shown_from_afar().await?, now) {
        return Ok(Finding::sound("schedules", "no process has been there for long to fire them"));
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
        return Ok(Finding::sound("schedules", "each has fired when it was due"));
    }
    let remedy = "see what the workers that take `upkeep` log, and the clocks of their machines";
    Ok(Finding::warning("schedules", late.join(", "), remedy))
}

fn of_queues(shown: &BoardFigures) -> Vec<Finding> {
    let in_all = |count: fn(&QueueFigures) -> u64| shown.queues.iter().map(count).sum::<u64>();
    let (waiting, given_up) = (in_all(|queue| queue.waiting), in_all(|queue| queue.dead));
    let state = format!("it answers; {waiting} jobs wait, {given_up} are dead");
    let mut findings = vec![Finding::sound("queue", state)];
    for queue in &shown.queues {
        findings.extend(paused(queue));
        findings.extend(old(queue, shown.at));
        findings.extend(dead(queue));
    }
    findings
}

fn paused(queue: &QueueFigures) -> Option<Finding> {
    let paused = queue.paused.as_ref()?;
    let what = format!("{} was paused by {} at {}", queue.queue.name(), paused.by, paused.since);
    Some(Finding::warning("queue", what, "`handbill admin resume QUEUE` when it is to go on"))
}

/// One that is paused is told of as such. What is judged again may wait for as long as it takes.
fn old(queue: &QueueFigures, now: Time) -> Option<Finding> {
    let age_max = match queue.queue {
        Queue::Publish => PUBLISH_AGE_MAX,
        Queue::Scan | Queue::Views | Queue::Upkeep => OTHERS_AGE_MAX,
        Queue::Rescan => return None,
    };
    let since = queue.oldest_waiting_since.filter(|since| now.since(*since) > age_max)?;
    if queue.paused.is_some() {
        return None;
    }
    let what = format!("the oldest job of {} that is due has waited since {since}", queue.queue.name());
    Some(Finding::warning("queue", what, "see what the workers log, or start another `handbill worker`"))
}

fn dead(queue: &QueueFigures) -> Option<Finding> {
    if queue.dead == 0 {
        return None;
    }
    let what = format!("{} in {}", count(queue.dead, "job is dead", "jobs are dead"), queue.queue.name());
    let remedy = "`handbill admin jobs QUEUE` says why; mend that, then `handbill admin requeue-dead QUEUE`";
    Some(Finding::warning("queue", what, remedy))
}

/// Whoever tries things out has not started it yet.
fn nobody_yet() -> Finding {
    Finding::sound("workers", "no process runs at present")
}

fn nobody() -> Finding {
    let remedy = "start the service, or examine it with its own database.url and queue.url";
    Finding::warning("workers", "no process runs at present", remedy)
}

/// Whoever is alive must take every queue between them.
fn of_processes(shown: &BoardFigures, nobody: Finding) -> Vec<Finding> {
    let alive: Vec<_> = shown.processes.iter().filter(|process| !process.is_lost).collect();
    let mut findings = Vec::new();
    findings.extend(lost(shown));
    findings.push(match alive.len() {
        0 => nobody,
        alive => taken(shown, alive),
    });
    findings
}

fn taken(shown: &BoardFigures, alive: usize) -> Finding {
    let untaken: Vec<_> =
        Queue::ALL.into_iter().filter(|queue| !shown.is_taken(*queue)).map(Queue::name).collect();
    if !untaken.is_empty() {
        return Finding::fault(
            "workers",
            format!("no process that is alive takes the queue {}", untaken.join(", ")),
            "start a `handbill worker` that takes it; one without --queues takes every queue",
        );
    }
    let alive = count(alive as u64, "process is", "processes are");
    Finding::sound("workers", format!("{alive} alive, and every queue is taken"))
}

fn lost(shown: &BoardFigures) -> Option<Finding> {
    let lost: Vec<_> = shown.processes.iter().filter(|process| process.is_lost).collect();
    let count_all = lost.len() as u64 + shown.lost_earlier;
    if count_all == 0 {
        return None;
    }
    let named: Vec<_> = lost.iter().take(NAMED_MAX).map(|process| named(process)).collect();
    let silent = count(count_all, "process has gone silent", "processes have gone silent");
    let what = match (named.is_empty(), count_all > named.len() as u64) {
        (true, _) => format!("{silent} within the hour and took no leave"),
        (false, true) => {
            format!("{silent} within the hour and took no leave: {}, and others", named.join(", "))
        }
        (false, false) => format!("{silent} within the hour and took no leave: {}", named.join(", ")),
    };
    Some(Finding::warning(
        "workers",
        what,
        "see whether they were killed; their jobs are taken over by others",
    ))
}

fn named(process: &ProcessInfo) -> String {
    let ProcessInfo { role, host, process_id, seen_at, .. } = process;
    format!("{role} {process_id} at {host} (heard of at {seen_at})")
}

fn is_anybody_to_fire(shown: &BoardFigures, now: Time) -> bool {
    shown.processes.iter().any(|process| {
        let takes_upkeep = process.takes.iter().any(|(queue, _)| *queue == Queue::Upkeep);
        !process.is_lost && takes_upkeep && now.since(process.started_at) > LAG_MAX
    })
}

#[cfg(test)]
mod tests {
    use service::Paused;

    use super::*;

    const NOW: Time = Time::from_millis(1_790_000_000_000);

    fn at_rest() -> BoardFigures {
        let queues = Queue::ALL.map(|queue| QueueFigures {
            queue,
            waiting: 0,
            running: 0,
            failed: 0,
            dead: 0,
            cancelled: 0,
            oldest_waiting_since: None,
            done_last_minute: 0,
            failed_last_minute: 0,
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
            running: Vec::new(),
        }
    }

    fn all_of(shown: &BoardFigures) -> String {
        let findings = of_queues(shown).into_iter().chain(of_processes(shown, nobody()));
        findings.map(|finding| finding.to_string()).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn nothing_is_amiss_where_nothing_is() {
        let told = all_of(&at_rest());
        assert!(!told.contains("WARN") && !told.contains("FAULT"), "{told}");
        assert!(told.contains("ok    workers: 1 process is alive, and every queue is taken"), "{told}");
    }

    #[test]
    fn what_stands_died_or_is_old_is_warned_of_by_the_name_of_its_queue() {
        let mut shown = at_rest();
        shown.queues[1].paused = Some(Paused { by: "Bea".to_owned(), since: NOW });
        shown.queues[1].oldest_waiting_since = Some(NOW.minus(Duration::from_secs(7_200)));
        shown.queues[2].dead = 2;
        shown.queues[0].oldest_waiting_since = Some(NOW.minus(Duration::from_secs(11)));
        let told = all_of(&shown);
        assert!(told.contains("WARN  queue: scan was paused by Bea"), "{told}");
        assert!(!told.contains("the oldest job of scan"), "it is paused, which is told: {told}");
        assert!(told.contains("WARN  queue: 2 jobs are dead in views"), "{told}");
        assert!(told.contains("WARN  queue: the oldest job of publish"), "{told}");
        assert!(!told.contains("FAULT"), "{told}");
    }

    #[test]
    fn what_has_waited_no_longer_than_it_may_is_not_told() {
        let mut shown = at_rest();
        for (queue, seconds) in shown.queues.iter_mut().zip([10, 600, 600, 600, 86_400]) {
            queue.oldest_waiting_since = Some(NOW.minus(Duration::from_secs(seconds)));
        }
        let told = all_of(&shown);
        assert!(!told.contains("WARN"), "{told}");
    }

    #[test]
    fn a_lost_process_is_named_and_takes_no_queue() {
        let mut shown = at_rest();
        shown.processes.push(ProcessInfo { is_lost: true, ..process("worker") });
        let told = all_of(&shown);
        assert!(told.contains("WARN  workers: 1 process has gone silent"), "{told}");
        assert!(told.contains("worker 7 at here"), "{told}");
        shown.lost_earlier = 2;
        assert!(all_of(&shown).contains("3 processes have gone silent"), "{}", all_of(&shown));
        shown.processes[0].takes.retain(|(queue, _)| *queue != Queue::Scan);
        assert!(all_of(&shown).contains("FAULT workers: no process that is alive takes the queue scan"));
    }

    #[test]
    fn that_nobody_is_there_is_warned_of_outside_dev_mode_only() {
        let shown = BoardFigures { processes: Vec::new(), ..at_rest() };
        assert!(all_of(&shown).contains("WARN  workers: no process runs"));
        assert!(of_processes(&shown, nobody_yet()).iter().all(Finding::is_sound));
    }
}
