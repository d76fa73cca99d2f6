//! The queue board's commands: queues, processes, schedules, and operations on whole queues.

use api::operator_json;
use client::show::{Fit, or_nothing, table, when};
use domain::{Missing, OperatorName, Queue, Refusal, Time};
use service::{BoardFigures, Failure, ProcessInfo, QueueFigures, RunningJob, ScheduleInfo, Service};

use crate::output::Form;

pub(super) async fn show(service: &Service, form: Form) -> Result<(), Failure> {
    let board = service.board().await?;
    form.print(|| board_text(&board), || operator_json::board(board.clone()));
    Ok(())
}

pub(super) async fn pause(
    service: &Service,
    form: Form,
    queue: Queue,
    by: &OperatorName,
) -> Result<(), Failure> {
    service.pause_queue(queue, by).await?;
    let text = || {
        format!(
            "Paused {0}. Within two seconds, workers stop starting its jobs. Running jobs finish.\n\
             Resume it with `handbill admin resume {0}`.",
            queue.name()
        )
    };
    form.print(text, || operator_json::paused(queue));
    Ok(())
}

pub(super) async fn resume(
    service: &Service,
    form: Form,
    queue: Queue,
    by: &OperatorName,
) -> Result<(), Failure> {
    let text = match service.resume_queue(queue, by).await? {
        true => format!("Resumed {}.", queue.name()),
        false => format!("Nothing to do: {} was not paused.", queue.name()),
    };
    form.print(|| text, || operator_json::resumed(queue));
    Ok(())
}

pub(super) async fn requeue_dead(
    service: &Service,
    form: Form,
    queue: Queue,
    by: &OperatorName,
) -> Result<(), Failure> {
    let jobs = service.requeue_dead(queue, by).await?;
    let text = || match jobs {
        0 => format!("Nothing to do: {} has no dead jobs.", queue.name()),
        1 => format!("Queued 1 dead job of {} again.", queue.name()),
        jobs => format!("Queued {jobs} dead jobs of {} again.", queue.name()),
    };
    form.print(text, || operator_json::requeued(queue, jobs));
    Ok(())
}

pub(super) async fn discard_dead(
    service: &Service,
    form: Form,
    queue: Queue,
    by: &OperatorName,
) -> Result<(), Failure> {
    let jobs = service.discard_dead(queue, by).await?;
    let text = || {
        let queue = queue.name();
        let discarded = match jobs {
            0 => return format!("Nothing to do: {queue} has no dead jobs."),
            1 => format!("Discarded 1 dead job of {queue}."),
            jobs => format!("Discarded {jobs} dead jobs of {queue}."),
        };
        format!("{discarded} `handbill admin jobs {queue} --state cancelled` lists them for 48 hours.")
    };
    form.print(text, || operator_json::dead_discarded(queue, jobs));
    Ok(())
}

pub(super) async fn schedules(service: &Service, form: Form) -> Result<(), Failure> {
    let (schedules, now) = (service.schedules().await?, service.clock().now());
    form.print(|| planned(&schedules, now), || operator_json::schedules(schedules.clone()));
    Ok(())
}

pub(super) async fn run(service: &Service, form: Form, name: &str, by: &OperatorName) -> Result<(), Failure> {
    let known = service.schedules().await?.into_iter().find(|known| known.planned.name == name);
    let queue = known.ok_or(Refusal::NotFound(Missing::Schedule))?.planned.job.queue();
    let id = service.run_schedule(name, by).await?;
    let text = || {
        let queue = queue.name();
        format!("Queued {name} in {queue}. `handbill admin job {queue} {id}` shows its progress.")
    };
    form.print(text, || operator_json::ran(name, queue, id));
    Ok(())
}

fn board_text(board: &BoardFigures) -> String {
    let names = [
        "QUEUE",
        "OPEN",
        "WAITING",
        "RUNNING",
        "FAILED",
        "DEAD",
        "CANCELLED",
        "OLDEST",
        "DONE 60 S",
        "FAILED 60 S",
        "STATE",
    ];
    let queues = board.queues.iter().map(|queue| queue_in_columns(queue, board));
    let fit = Fit {
        shortened: None,
        left_out: &["CANCELLED", "FAILED 60 S", "WAITING", "DONE 60 S", "RUNNING", "FAILED", "OLDEST"],
    };
    let queues = table(names, fit, queues, "No queues.");
    let names = ["PROCESS", "ROLE", "HOST", "VERSION", "MEMORY", "LAST SEEN", "IN USE", "RUNNING"];
    let processes = board.processes.iter().map(|process| process_in_columns(process, board.at));
    let fit = Fit {
        shortened: Some("IN USE"),
        left_out: &["MEMORY", "RUNNING", "VERSION", "HOST", "ROLE", "IN USE"],
    };
    let processes = table(names, fit, processes, "No process has sent a heartbeat recently.");
    let dead = board.queues.iter().filter(|queue| queue.jobs.dead > 0);
    let hints =
        dead.map(|queue| format!("`handbill admin jobs {}` shows why its jobs died.", queue.queue.name()));
    let lost_earlier = match board.lost_earlier {
        0 => None,
        1 => Some("1 more process was lost in the last hour".to_owned()),
        lost => Some(format!("{lost} more processes were lost in the last hour")),
    };
    let parts = [health(board), String::new(), queues, String::new(), processes].into_iter();
    let parts = parts.chain(versions(board)).chain(board.omissions());
    let parts = parts.chain(lost_earlier);
    let hints: Vec<_> = hints.collect();
    let gap = (!hints.is_empty()).then(String::new);
    parts.chain(gap).chain(hints).collect::<Vec<_>>().join("\n")
}

fn health(board: &BoardFigures) -> String {
    let problems = board.problems();
    if problems.is_empty() { "All queues healthy".to_owned() } else { problems.join(", ") }
}

fn versions(board: &BoardFigures) -> Option<String> {
    let versions = board.versions();
    let is_mixed = versions.len() > 1;
    is_mixed.then(|| format!("{} versions are running: {}", versions.len(), versions.join(", ")))
}

fn queue_in_columns(queue: &QueueFigures, board: &BoardFigures) -> [String; 11] {
    let state = match &queue.paused {
        Some(paused) => format!("paused by {}, {}", paused.by, moment(paused.since, board.at)),
        None if !board.is_taken(queue.queue) => "no worker".to_owned(),
        None => String::new(),
    };
    [
        queue.queue.name().to_owned(),
        queue.jobs.unfinished().to_string(),
        queue.jobs.waiting.to_string(),
        queue.jobs.running.to_string(),
        queue.jobs.failed.to_string(),
        queue.jobs.dead.to_string(),
        queue.jobs.cancelled.to_string(),
        or_nothing(queue.jobs.oldest_waiting_since.map(|since| moment(since, board.at))),
        queue.done_last_minute.to_string(),
        queue.failed_last_minute.to_string(),
        state,
    ]
}

fn process_in_columns(process: &ProcessInfo, now: Time) -> [String; 8] {
    let takes = process
        .takes
        .iter()
        .map(|(queue, slots)| format!("{} {}/{slots}", queue.name(), process.in_use(*queue)));
    let running = |job: &RunningJob| match job.since {
        Some(since) => format!("{} {} ({})", job.kind, job.id, moment(since, now)),
        None => format!("{} {}", job.kind, job.id),
    };
    let last_seen = moment(process.seen_at, now);
    [
        process.instance.clone(),
        process.role.clone(),
        format!("{}:{}", process.host, process.process_id),
        process.version.clone(),
        or_nothing(process.memory_bytes.map(|bytes| format!("{} MB", bytes / 1_000_000))),
        if process.is_lost { format!("{last_seen}, lost") } else { last_seen },
        listed(takes.collect()),
        listed(process.running.iter().map(running).collect()),
    ]
}

fn planned(schedules: &[ScheduleInfo], now: Time) -> String {
    let names = ["SCHEDULE", "CRON (UTC)", "QUEUE", "LAST", "NEXT"];
    let rows = schedules.iter().map(|schedule| {
        let planned = &schedule.planned;
        [
            planned.name.to_owned(),
            planned.cron.to_owned(),
            planned.job.queue().name().to_owned(),
            schedule.last_slot.map_or_else(|| "never".to_owned(), |last| moment(last, now)),
            moment(planned.next, now),
        ]
    });
    let fit = Fit { shortened: None, left_out: &["QUEUE", "CRON (UTC)", "LAST"] };
    table(names, fit, rows, "No schedules.")
}

fn listed(parts: Vec<String>) -> String {
    or_nothing((!parts.is_empty()).then(|| parts.join(", ")))
}

/// A time relative to now: `in 24 s`, `3 min ago`.
pub(super) fn moment(at: Time, now: Time) -> String {
    when(&at.rfc3339(), now)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use domain::{Job, JobId};
    use service::{JobCounts, Paused, Planned};

    use super::*;

    fn now() -> Time {
        Time::parse_rfc3339("2026-11-21T14:05:00Z").unwrap()
    }

    fn before(seconds: u64) -> Time {
        now().minus(Duration::from_secs(seconds))
    }

    fn calm(queue: Queue) -> QueueFigures {
        QueueFigures {
            queue,
            jobs: JobCounts::default(),
            done_last_minute: 0,
            failed_last_minute: 0,
            minutes: Vec::new(),
            paused: None,
        }
    }

    fn board() -> BoardFigures {
        let paused = Some(Paused { by: "Ada".into(), since: before(30) });
        let id = "01KC4GZJ2Q8W5T7RXN3VB6M9DE".parse::<JobId>().unwrap();
        let running = RunningJob { id, queue: Queue::Scan, kind: "scan".into(), since: Some(before(7)) };
        let worker = ProcessInfo {
            instance: "worker-1".into(),
            role: "worker".into(),
            host: "node-3".into(),
            process_id: 4711,
            version: "0.1.0".into(),
            started_at: before(900),
            seen_at: before(20),
            is_lost: true,
            memory_bytes: Some(94_371_840),
            takes: vec![(Queue::Publish, 16), (Queue::Scan, 2)],
            running: vec![running],
        };
        let publish = QueueFigures {
            jobs: JobCounts {
                waiting: 12,
                running: 1,
                failed: 2,
                dead: 3,
                cancelled: 4,
                oldest_waiting_since: Some(before(90)),
            },
            done_last_minute: 240,
            failed_last_minute: 1,
            ..calm(Queue::Publish)
        };
        let scan = QueueFigures {
            jobs: JobCounts { cancelled: 1, ..JobCounts::default() },
            paused,
            ..calm(Queue::Scan)
        };
        BoardFigures {
            at: now(),
            queues: vec![publish, scan],
            processes: vec![worker],
            lost_earlier: 12,
            processes_not_listed: 511,
            running_not_listed: 0,
        }
    }

    /// The cells of a table row.
    fn columns(line: &str) -> Vec<&str> {
        line.split("  ").map(str::trim).filter(|part| !part.is_empty()).collect()
    }

    #[test]
    fn board_text_lists_queues_and_processes_in_columns() {
        let shown = board_text(&board());
        let problems = "no worker takes jobs from publish, scan has been paused for 30 s, 3 dead jobs in publish, 1 process lost";
        assert_eq!(shown.lines().next(), Some(problems));
        let lines: Vec<_> = shown.lines().skip(2).collect();
        let publish = ["publish", "15", "12", "1", "2", "3", "4", "90 s ago", "240", "1", "no worker"];
        assert_eq!(columns(lines[1]), publish, "{shown}");
        assert!(lines[2].starts_with("scan ") && lines[2].ends_with("paused by Ada, 30 s ago"), "{shown}");
        assert_eq!(lines[1].find("15"), lines[2].find('0'), "aligned:\n{shown}");
        let takes = "publish 0/16, scan 1/2";
        for part in [
            "worker-1",
            "node-3:4711",
            "94 MB",
            "20 s ago, lost",
            takes,
            "scan 01KC4GZJ2Q8W5T7RXN3VB6M9DE (7 s ago)",
        ] {
            assert!(lines[5].contains(part), "{shown}");
        }
        assert_eq!(lines[6], "Showing the first 1 of 512 processes.");
        assert_eq!(lines[7], "12 more processes were lost in the last hour");
        assert_eq!(lines[9..], ["`handbill admin jobs publish` shows why its jobs died."]);
    }

    #[test]
    fn schedules_show_last_and_next_fire_times() {
        let next = now().plus(Duration::from_secs(9));
        let planned_for = Planned { name: "metering", cron: "5 * * * *", job: Job::Meter, next };
        let shown = planned(&[ScheduleInfo { planned: planned_for, last_slot: None }], now());
        let expected = ["metering", "5 * * * *", "upkeep", "never", "in 9 s"];
        assert_eq!(columns(shown.lines().nth(1).unwrap()), expected, "{shown}");
    }
}
