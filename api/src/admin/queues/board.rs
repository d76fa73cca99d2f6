//! The overview: queues, processes and schedules.

use askama::Template;
use domain::{Missing, OperatorName, Queue, Refusal, Time};
use poem::http::StatusCode;
use poem::web::{Data, Query};
use poem::{Request, Response, handler};
use serde::Deserialize;
use service::{BoardFigures, JobState, ProcessInfo, QueueFigures, RunningJob, ScheduleInfo, Service};

use super::chart::{Chart, charts_of};
use super::done::Done;
use super::span::{Second, Span};
use super::worker::short_instance;
use super::{path_of, path_of_job, path_of_state, search};
use crate::admin::frame::{Frame, Tab, operator};
use crate::html::fields::Fields;
use crate::html::figures::{Count, Size};
use crate::html::{found_at, live_page};
use crate::http::refusal::RefusedCall;

#[derive(Template)]
#[template(path = "admin/queues.html")]
pub struct BoardPage<'a> {
    pub frame: &'a Frame,
    pub as_of: Second,
    /// What is wrong. Empty if all queues are healthy.
    pub problems: Vec<String>,
    /// The versions of the running processes, if they differ.
    pub versions: Vec<String>,
    /// Queues with open jobs that no process takes jobs from.
    pub untaken: Vec<&'static str>,
    pub queues: Vec<QueueRow>,
    pub processes: Vec<ProcessRow>,
    /// The number of lost processes that are no longer listed.
    pub lost_earlier: u64,
    /// What the lists leave out.
    pub omissions: Vec<String>,
    pub schedules: Vec<ScheduleRow>,
}

pub struct QueueRow {
    pub name: &'static str,
    pub path: String,
    pub depth: Count,
    pub counts: Vec<StateCount>,
    /// How many jobs can run at a time.
    pub slots: Count,
    pub oldest: Option<Span>,
    pub done: Count,
    pub failed: Count,
    pub paused: Option<PauseText>,
    pub charts: Vec<Chart>,
}

/// The number of jobs in a state, and the path of their list.
pub struct StateCount {
    pub label: &'static str,
    pub count: Count,
    pub path: String,
    /// Whether the number needs attention.
    pub is_loud: bool,
    pub is_running: bool,
}

pub struct PauseText {
    pub by: String,
    pub since: Second,
}

pub struct ProcessRow {
    pub instance: String,
    pub short_instance: String,
    pub memory: Option<Size>,
    pub role: String,
    pub host: String,
    pub process_id: u32,
    pub version: String,
    pub started_at: Second,
    pub seen_at: Second,
    pub silent_for: Span,
    pub is_lost: bool,
    /// The jobs that run and can run, such as `publish 3 of 16`.
    pub takes: Vec<String>,
    pub running: Vec<RunningRow>,
}

pub struct RunningRow {
    pub kind: String,
    pub path: String,
    pub lasts: Option<Span>,
}

pub struct ScheduleRow {
    pub name: &'static str,
    pub cron: &'static str,
    pub queue: &'static str,
    pub queue_path: String,
    pub last: Option<Second>,
    pub next: Second,
    pub due_in: Span,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct RunForm {
    schedule: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct BoardQuery {
    /// A job's id, an account's handle or a host.
    find: String,
}

#[handler]
pub async fn show(
    request: &Request,
    Query(query): Query<BoardQuery>,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    let frame = Frame::begin(request, Tab::Queues)?;
    if !query.find.trim().is_empty() {
        return search::show(&frame, &service, &query.find).await;
    }
    let (board, schedules) = (service.board().await?, service.schedules().await?);
    live_page(StatusCode::OK, &BoardPage::new(&frame, board, schedules))
}

/// Runs a schedule now.
#[handler]
pub async fn run(
    request: &Request,
    Fields(form): Fields<RunForm>,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    let done = run_now(&service, &form.schedule, &operator(request)?.name).await?;
    Ok(found_at(&done.path(super::BOARD)))
}

async fn run_now(service: &Service, name: &str, by: &OperatorName) -> Result<Done, RefusedCall> {
    let known = service.schedules().await?.into_iter().find(|known| known.planned.name == name);
    let planned = known.ok_or(Refusal::NotFound(Missing::Schedule))?.planned;
    service.run_schedule(planned.name, by).await?;
    Ok(Done::Ran(planned.name.to_owned(), planned.job.queue()))
}

impl<'a> BoardPage<'a> {
    pub fn new(frame: &'a Frame, board: BoardFigures, schedules: Vec<ScheduleInfo>) -> Self {
        let at = board.at;
        let (omissions, problems) = (board.omissions(), board.problems());
        let versions: Vec<String> = board.versions().into_iter().map(str::to_owned).collect();
        let waits = |queue: &&QueueFigures| board.is_untaken(queue);
        let untaken = board.queues.iter().filter(waits).map(|queue| queue.queue.name()).collect();
        let slots: Vec<usize> = board.queues.iter().map(|queue| board.slots(queue.queue)).collect();
        let queues = board.queues.into_iter().zip(slots);
        Self {
            frame,
            as_of: Second(at),
            untaken,
            problems,
            versions: if versions.len() > 1 { versions } else { Vec::new() },
            queues: queues.map(|(queue, slots)| QueueRow::new(queue, slots, at)).collect(),
            processes: board.processes.into_iter().map(|process| ProcessRow::new(process, at)).collect(),
            lost_earlier: board.lost_earlier,
            omissions,
            schedules: schedules.into_iter().map(|schedule| ScheduleRow::new(schedule, at)).collect(),
        }
    }
}

impl QueueRow {
    fn new(queue: QueueFigures, slots: usize, now: Time) -> Self {
        Self {
            slots: Count(slots as u64),
            charts: charts_of(&queue.minutes, queue.jobs.unfinished()),
            name: queue.queue.name(),
            path: path_of(queue.queue),
            depth: Count(queue.jobs.unfinished()),
            counts: counts_of(&queue),
            oldest: queue.jobs.oldest_waiting_since.map(|since| Span(now.since(since))),
            done: Count(queue.done_last_minute),
            failed: Count(queue.failed_last_minute),
            paused: queue.paused.map(PauseText::from),
        }
    }
}

/// The number of jobs by state. Completed jobs are not counted.
pub fn counts_of(queue: &QueueFigures) -> Vec<StateCount> {
    let of = |state, label, count: u64, is_loud| StateCount {
        label,
        count: Count(count),
        path: path_of_state(queue.queue, state),
        is_loud: is_loud && count > 0,
        is_running: state == JobState::Running,
    };
    vec![
        of(JobState::Waiting, "Waiting", queue.jobs.waiting, false),
        of(JobState::Running, "Running", queue.jobs.running, false),
        of(JobState::Failed, "Failed", queue.jobs.failed, false),
        of(JobState::Dead, "Dead", queue.jobs.dead, true),
        of(JobState::Cancelled, "Cancelled", queue.jobs.cancelled, false),
    ]
}

impl From<service::Paused> for PauseText {
    fn from(paused: service::Paused) -> Self {
        Self { by: paused.by, since: Second(paused.since) }
    }
}

impl ProcessRow {
    fn new(process: ProcessInfo, now: Time) -> Self {
        let taken = |(queue, slots): &(Queue, usize)| {
            format!("{} {} of {slots}", queue.name(), process.in_use(*queue))
        };
        Self {
            takes: process.takes.iter().map(taken).collect(),
            running: process.running.into_iter().map(|job| RunningRow::new(job, now)).collect(),
            short_instance: short_instance(&process.instance),
            memory: process.memory_bytes.map(Size),
            instance: process.instance,
            role: process.role,
            host: process.host,
            process_id: process.process_id,
            version: process.version,
            started_at: Second(process.started_at),
            seen_at: Second(process.seen_at),
            silent_for: Span(now.since(process.seen_at)),
            is_lost: process.is_lost,
        }
    }
}

impl RunningRow {
    fn new(job: RunningJob, now: Time) -> Self {
        Self {
            kind: job.kind,
            path: path_of_job(job.queue, job.id),
            lasts: job.since.map(|since| Span(now.since(since))),
        }
    }
}

impl ScheduleRow {
    fn new(schedule: ScheduleInfo, now: Time) -> Self {
        let planned = schedule.planned;
        let queue = planned.job.queue();
        Self {
            name: planned.name,
            cron: planned.cron,
            queue: queue.name(),
            queue_path: path_of(queue),
            last: schedule.last_slot.map(Second),
            next: Second(planned.next),
            due_in: Span(planned.next.since(now)),
        }
    }
}
