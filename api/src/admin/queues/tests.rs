//! The pages of the board with sample data, for the snapshots of all pages, and the board as JSON.

use std::time::Duration;

use askama::Template;
use domain::{Job, JobId, Queue, Refusal, Time};
use serde_json::{Value, json};
use service::{
    BoardFigures, ErrorGroup, ErrorGroups, ErrorKey, FoundJobs, JobCounts, JobDetail, JobEvent, JobEventKind,
    JobFilter, JobInfo, JobList, JobState, JobSubject, Paused, Planned, ProcessInfo, QueueFigures,
    QueueMinute, RunningJob, ScheduleInfo,
};

use super::board::BoardPage;
use super::done::Done;
use super::job::{JobPage, JobShown};
use super::jobs::{JobsPage, JobsShown};
use super::search::SearchPage;
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
        minutes: vec![],
        paused: None,
    }
}

/// An hour with a burst in it.
fn hour() -> Vec<QueueMinute> {
    let minute = |number: u64| {
        let done = if number.is_multiple_of(7) { 0 } else { number * 40 };
        QueueMinute {
            at: before(60 * (59 - number)),
            depth: (number > 4).then_some(1_300 - number * 20),
            done,
            failed: u64::from(number.is_multiple_of(9)),
            took_p50_ms: (done > 0).then_some(40),
            took_p95_ms: (done > 0).then_some(1_000 + number),
        }
    };
    (0..60).map(minute).collect()
}

fn process(role: &str, is_lost: bool, takes: &[(Queue, usize)]) -> ProcessInfo {
    let running =
        RunningJob { id: id(), queue: Queue::Publish, kind: "publish".into(), since: Some(before(3)) };
    ProcessInfo {
        instance: format!("{role}-<1>{is_lost}"),
        role: role.into(),
        host: "node <3>".into(),
        process_id: 4711,
        version: if role == "edge" { "0.2.0".into() } else { "0.1.0".into() },
        started_at: before(90_000),
        seen_at: before(if is_lost { 300 } else { 1 }),
        is_lost,
        memory_bytes: (!is_lost).then_some(94_371_840),
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
                minutes: hour(),
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

fn shown(state: JobState) -> JobShown {
    let is_known = state != JobState::Done;
    let subject = JobSubject {
        account: is_known.then(|| "acct_k3x9f2".into()),
        host: is_known.then(|| "my-page-a1b2".parse().unwrap()),
    };
    JobShown { detail: detail(state), subject }
}

fn list(state: JobState, jobs: Vec<JobInfo>, before: Option<JobId>) -> String {
    let (wanted, next) =
        (JobFilter { before, ..JobFilter::of(Queue::Scan, state) }, (!jobs.is_empty()).then(id));
    let groups =
        if jobs.iter().any(|job| job.last_error.is_some()) { groups() } else { ErrorGroups::default() };
    let shown = JobsShown { list: JobList { jobs, next }, groups };
    JobsPage::new(&plain(), wanted, full(), shown).render().unwrap()
}

fn groups() -> ErrorGroups {
    let group = |error: &str, jobs| ErrorGroup {
        key: ErrorKey::of(error),
        error: error.into(),
        jobs,
        first_at: before(900),
        last_at: before(4),
    };
    ErrorGroups {
        groups: vec![
            group("storage: the object store did not answer <5>", 34),
            group("no attempt is left", 1),
        ],
        groups_not_listed: 2,
        jobs: 37,
        is_cut: false,
    }
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
        ("admin-queues-found".into(), found(FoundJobs::Jobs(vec![job(JobState::Dead), job(JobState::Done)]))),
        ("admin-queues-found-none".into(), found(FoundJobs::Jobs(vec![]))),
        ("admin-queues-found-unknown".into(), found(FoundJobs::Unknown)),
        ("admin-queues-none".into(), BoardPage::new(&plain, none, schedules()).render().unwrap()),
    ]
}

fn found(found: FoundJobs) -> String {
    SearchPage::new(&plain(), "acct_<a>1".into(), found, now()).render().unwrap()
}

fn lists() -> Vec<(String, String)> {
    let of_publish = JobFilter::of(Queue::Publish, JobState::Dead);
    let of_upkeep = JobFilter { queue: Queue::Upkeep, ..of_publish };
    let empty = || JobsShown { list: JobList { jobs: vec![], next: None }, groups: ErrorGroups::default() };
    let cleanups = JobFilter { kind: Some("cleanup"), ..of_upkeep };
    let requeued = frame(Tab::Queues, Some(&Done::Requeued(Queue::Publish, 3).text()));
    let mut pages = vec![
        ("admin-jobs-end".into(), list(JobState::Dead, vec![], Some(id()))),
        (
            "admin-jobs-requeue".into(),
            JobsPage::new(&requeued, of_publish, full(), empty()).render().unwrap(),
        ),
        ("admin-jobs-narrowed".into(), JobsPage::new(&plain(), cleanups, full(), empty()).render().unwrap()),
        ("admin-jobs-untaken".into(), JobsPage::new(&plain(), of_upkeep, full(), empty()).render().unwrap()),
    ];
    for state in JobState::ALL {
        pages.push((format!("admin-jobs-{}", state.name()), list(state, vec![job(state)], None)));
        pages.push((format!("admin-jobs-{}-none", state.name()), list(state, vec![], None)));
    }
    pages
}

fn jobs() -> Vec<(String, String)> {
    let page = |state, faults| JobPage::new(&plain(), shown(state), now(), faults).render().unwrap();
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
    assert_eq!(worker["takes"][0], json!({ "queue": "publish", "concurrency": 16, "in_use": 2 }));
    assert_eq!(worker["running"][0]["kind"], "publish");
    assert_eq!(board["processes"][1]["lost"], true);
    assert_eq!(board["lost_earlier"], 12);
    assert_eq!((&publish["slots"], &worker["memory_bytes"]), (&json!(16), &json!(94_371_840)));
    assert_eq!(board["problems"][0], "no worker takes jobs from upkeep");
    assert_eq!(board["versions"], json!(["0.1.0", "0.2.0"]));
    let minute = &publish["minutes"][59];
    assert_eq!(
        (&minute["done"], &minute["depth"], &minute["took_p95_ms"]),
        (&json!(2_360), &json!(120), &json!(1_059))
    );
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
        let page = JobPage::new(&plain(), shown(state), now(), Faults::default()).render().unwrap();
        let offers = ["retry", "cancel", "discard"].map(|word| page.contains(&format!("value=\"{word}\"")));
        assert_eq!(offers, [retry, cancel, discard], "{}", state.name());
    }
}
