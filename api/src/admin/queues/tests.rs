//! The pages of the board with sample data, for the snapshots of all pages, and the board as JSON.

use std::time::Duration;

use askama::Template;
use domain::{Job, JobId, Queue, Refusal, Time};
use serde_json::{Value, json};
use service::{
    BoardFigures, JobCounts, JobDetail, JobEvent, JobEventKind, JobFilter, JobInfo, JobList, JobState,
    Paused, Planned, ProcessInfo, QueueFigures, RunningJob, ScheduleInfo,
};

use super::board::BoardPage;
use super::done::Done;
use super::job::JobPage;
use super::jobs::JobsPage;
use crate::admin::frame::{Frame, Tab};
use crate::admin::tests::{frame, now};
use crate::html::faults::Faults;
use crate::operator_json;

fn before(seconds: u64) -> Time {
    now().minus(Duration::from_secs(seconds))
}

fn after(seconds: u64) -> Time {
    now().plus(Duration::from_secs(seconds))
}

fn id() -> JobId {
    JobId::from_ulid(1.into())
}

fn calm(queue: Queue) -> QueueFigures {
    QueueFigures {
        queue,
        jobs: JobCounts::default(),
        done_last_minute: 0,
        failed_last_minute: 0,
        paused: None,
    }
}

fn process(role: &str, is_lost: bool, takes: &[(Queue, usize)]) -> ProcessInfo {
    let running =
        RunningJob { id: id(), queue: Queue::Publish, kind: "publish".into(), since: Some(before(3)) };
    ProcessInfo {
        instance: format!("{role}-<1>{is_lost}"),
        role: role.into(),
        host: "node <3>".into(),
        process_id: 4711,
        version: "0.1.0".into(),
        started_at: before(90_000),
        seen_at: before(if is_lost { 300 } else { 1 }),
        is_lost,
        running: takes.iter().map(|_| running.clone()).collect(),
        takes: takes.to_vec(),
    }
}

fn board_of(queues: Vec<QueueFigures>, processes: Vec<ProcessInfo>) -> BoardFigures {
    BoardFigures {
        at: now(),
        queues,
        processes,
        lost_earlier: 0,
        processes_not_listed: 0,
        running_not_listed: 0,
    }
}

/// A bit of everything: a busy queue, a paused one, one without workers, dead jobs.
fn full() -> BoardFigures {
    let paused = Some(Paused { by: "Ada <Lovelace>".into(), since: before(60) });
    let board = board_of(
        vec![
            QueueFigures {
                jobs: JobCounts {
                    waiting: 1_234,
                    running: 16,
                    failed: 2,
                    dead: 3,
                    cancelled: 4,
                    oldest_waiting_since: Some(before(400)),
                },
                done_last_minute: 2_400,
                failed_last_minute: 2,
                ..calm(Queue::Publish)
            },
            QueueFigures {
                jobs: JobCounts {
                    waiting: 7,
                    oldest_waiting_since: Some(before(30)),
                    ..JobCounts::default()
                },
                paused,
                ..calm(Queue::Scan)
            },
            calm(Queue::Views),
            QueueFigures { jobs: JobCounts { waiting: 1, ..JobCounts::default() }, ..calm(Queue::Upkeep) },
            calm(Queue::Rescan),
        ],
        vec![
            process("worker", false, &[(Queue::Publish, 16), (Queue::Scan, 2)]),
            process("worker", true, &[(Queue::Upkeep, 1)]),
            process("edge", false, &[]),
        ],
    );
    BoardFigures { lost_earlier: 12, processes_not_listed: 112, running_not_listed: 9, ..board }
}

fn schedules() -> Vec<ScheduleInfo> {
    let planned = |name, cron, job, next| Planned { name, cron, job, next };
    vec![
        ScheduleInfo {
            planned: planned("sweep-scans", "*/15 * * * * *", Job::SweepScans, after(9)),
            last_slot: Some(before(6)),
        },
        ScheduleInfo { planned: planned("metering", "5 * * * *", Job::Meter, after(3_000)), last_slot: None },
    ]
}

fn job(state: JobState) -> JobInfo {
    let has_begun = state != JobState::Waiting;
    let has_failed = matches!(state, JobState::Failed | JobState::Dead | JobState::Cancelled);
    JobInfo {
        id: id(),
        queue: Queue::Scan,
        kind: "scan".into(),
        state,
        attempts: u32::from(has_begun) * 3,
        attempts_max: 8,
        due_at: if state == JobState::Failed { after(4) } else { before(5) },
        begun_at: has_begun.then(|| before(5)),
        ended_at: matches!(state, JobState::Dead | JobState::Cancelled | JobState::Done).then(|| before(4)),
        worker: has_begun.then(|| "worker-1-scan-0".into()),
        last_error: has_failed.then(|| format!("injected <fault>: {}", "why ".repeat(60))),
    }
}

fn timeline() -> Vec<JobEvent> {
    let event = |seconds, what| JobEvent { at: before(seconds), what };
    let (error, by) = ("injected <fault>\nbecause".to_owned(), "Ada <Lovelace>".to_owned());
    vec![
        event(60, JobEventKind::Pushed),
        event(60, JobEventKind::Began { attempt: 1, worker: "worker-1-scan-0".into() }),
        event(59, JobEventKind::Failed { attempt: 1, error: error.clone(), retry_at: Some(before(58)) }),
        event(50, JobEventKind::Died { attempt: 2, error }),
        event(40, JobEventKind::Retried { by: by.clone() }),
        event(30, JobEventKind::Cancelled { by }),
        event(4, JobEventKind::Done { attempt: 3 }),
    ]
}

fn detail(state: JobState) -> JobDetail {
    let has_reply = state == JobState::Running;
    JobDetail {
        job: job(state),
        payload: json!({ "version": "01KC4GZJ2Q8W5T7RXN3VB6M9DE", "slug": "<b>" }),
        reply_to: has_reply.then(|| "api-1".to_owned()),
        timeline: if state == JobState::Waiting { vec![] } else { timeline() },
    }
}

fn list(state: JobState, jobs: Vec<JobInfo>, before: Option<JobId>) -> String {
    let (wanted, next) = (JobFilter { queue: Queue::Scan, state, before }, (!jobs.is_empty()).then(id));
    JobsPage::new(&plain(), wanted, full(), JobList { jobs, next }).render().unwrap()
}

fn plain() -> Frame {
    frame(Tab::Queues, None)
}

fn boards() -> Vec<(String, String)> {
    let done = Done::Ran("metering".into(), Queue::Upkeep).text();
    let (with_message, plain) = (frame(Tab::Queues, Some(&done)), plain());
    let none = board_of(Queue::ALL.map(calm).to_vec(), vec![]);
    vec![
        ("admin-queues".into(), BoardPage::new(&with_message, full(), schedules()).render().unwrap()),
        ("admin-queues-none".into(), BoardPage::new(&plain, none, schedules()).render().unwrap()),
    ]
}

fn lists() -> Vec<(String, String)> {
    let of_publish = JobFilter { queue: Queue::Publish, state: JobState::Dead, before: None };
    let of_upkeep = JobFilter { queue: Queue::Upkeep, ..of_publish };
    let empty = || JobList { jobs: vec![], next: None };
    let requeued = frame(Tab::Queues, Some(&Done::Requeued(Queue::Publish, 3).text()));
    let mut pages = vec![
        ("admin-jobs-end".into(), list(JobState::Dead, vec![], Some(id()))),
        (
            "admin-jobs-requeue".into(),
            JobsPage::new(&requeued, of_publish, full(), empty()).render().unwrap(),
        ),
        ("admin-jobs-untaken".into(), JobsPage::new(&plain(), of_upkeep, full(), empty()).render().unwrap()),
    ];
    for state in JobState::ALL {
        pages.push((format!("admin-jobs-{}", state.name()), list(state, vec![job(state)], None)));
        pages.push((format!("admin-jobs-{}-none", state.name()), list(state, vec![], None)));
    }
    pages
}

fn jobs() -> Vec<(String, String)> {
    let page = |state, faults| JobPage::new(&plain(), detail(state), now(), faults).render().unwrap();
    let late = Refusal::JobIs { state: "running".into() };
    let late = Faults::of(&late, &[], "/admin/queues/scan/01");
    let mut pages = vec![("admin-job-job_state".into(), page(JobState::Running, late))];
    for state in JobState::ALL {
        pages.push((format!("admin-job-{}", state.name()), page(state, Faults::default())));
    }
    pages
}

/// Every page, by name.
pub fn samples() -> Vec<(String, String)> {
    [boards(), lists(), jobs()].concat()
}

fn read(text: String) -> Value {
    serde_json::from_str(&text).unwrap()
}

#[test]
fn json_board_has_depths_pauses_and_the_queues_of_each_process() {
    let board = read(operator_json::board(full()));
    let publish = &board["queues"][0];
    assert_eq!((&publish["name"], &publish["depth"]), (&json!("publish"), &json!(1_252)));
    assert_eq!((&publish["dead"], &publish["cancelled"]), (&json!(3), &json!(4)));
    assert_eq!((&publish["taken"], &publish["paused"]), (&json!(true), &Value::Null));
    assert_eq!(board["queues"][1]["paused"]["by"], "Ada <Lovelace>");
    // A process without a heartbeat takes no jobs.
    assert_eq!(board["queues"][3]["taken"], false);
    let worker = &board["processes"][0];
    assert_eq!(worker["takes"][0], json!({ "queue": "publish", "concurrency": 16 }));
    assert_eq!(worker["running"][0]["kind"], "publish");
    assert_eq!(board["processes"][1]["lost"], true);
    assert_eq!(board["lost_earlier"], 12);
}

#[test]
fn json_job_has_a_timeline_with_the_fields_of_each_event() {
    let job = read(operator_json::job(detail(JobState::Dead)));
    assert_eq!((&job["state"], &job["queue"], &job["attempts"]), (&json!("dead"), &json!("scan"), &json!(3)));
    let died = &job["timeline"][3];
    assert_eq!((&died["what"], &died["attempt"]), (&json!("died"), &json!(2)));
    assert_eq!((&died["by"], &died["retry_at"]), (&Value::Null, &Value::Null));
    assert_eq!(job["timeline"][5]["by"], "Ada <Lovelace>");
    let listed = read(operator_json::jobs(JobList { jobs: vec![], next: Some(id()) }));
    assert_eq!(listed, json!({ "items": [], "next": id().to_string() }));
    let schedules = read(operator_json::schedules(schedules()));
    assert_eq!(schedules[1]["queue"], "upkeep");
    assert_eq!(schedules[1]["last_slot"], Value::Null);
}

#[test]
fn job_actions_are_offered_only_in_states_that_allow_them() {
    for (state, retry, cancel, discard) in [
        (JobState::Waiting, false, true, false),
        (JobState::Running, false, false, false),
        (JobState::Failed, true, true, false),
        (JobState::Dead, true, false, true),
        (JobState::Cancelled, true, false, false),
        (JobState::Done, false, false, false),
    ] {
        let page = JobPage::new(&plain(), detail(state), now(), Faults::default()).render().unwrap();
        let offers = ["retry", "cancel", "discard"].map(|word| page.contains(&format!("value=\"{word}\"")));
        assert_eq!(offers, [retry, cancel, discard], "{}", state.name());
    }
}
