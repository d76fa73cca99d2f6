//! One queue: its jobs by state, and operations on the queue.

use askama::Template;
use domain::{JobId, Queue, Refusal, Time};
use poem::http::StatusCode;
use poem::web::{Data, Query};
use poem::{Request, Response, handler};
use serde::Deserialize;
use service::{
    BoardFigures, ErrorGroup, ErrorGroups, ErrorKey, JobFilter, JobInfo, JobList, JobState, Service,
};

use super::board::{PauseText, StateCount, counts_of};
use super::chart::{Chart, MinuteRow, charts_of, rows_of};
use super::done::Done;
use super::span::{Second, Span};
use super::worker::WorkerText;
use super::{path_of_job, path_of_state, queue_in, shortened};
use crate::admin::frame::{Frame, Tab, operator};
use crate::html::fields::Fields;
use crate::html::figures::Count;
use crate::html::{found_at, live_page};
use crate::http::refusal::RefusedCall;

#[derive(Template)]
#[template(path = "admin/queue_jobs.html")]
pub struct JobsPage<'a> {
    pub frame: &'a Frame,
    pub name: &'static str,
    /// The path of this page.
    pub path: String,
    pub as_of: Second,
    pub state: JobState,
    pub states: Vec<JobStateText>,
    pub dead: Count,
    pub paused: Option<PauseText>,
    /// Whether a running process takes jobs from this queue.
    pub is_taken: bool,
    pub charts: Vec<Chart>,
    /// The charts as a table.
    pub minutes: Vec<MinuteRow>,
    /// The kinds of the queue's jobs to choose from. Empty if there is only one.
    pub kinds: Vec<KindChoice>,
    pub groups: Vec<GroupRow>,
    /// What the groups leave out.
    pub groups_note: Option<String>,
    /// Whether only jobs of one kind or error are listed.
    pub is_narrowed: bool,
    pub rows: Vec<JobRow>,
    /// The path of the next page of the list, if there is one.
    pub next: Option<String>,
    /// Whether this is a later page of the list.
    pub goes_on: bool,
}

/// Jobs with equal errors.
pub struct GroupRow {
    pub key: String,
    pub error: String,
    pub jobs: Count,
    pub first: Second,
    pub last: Second,
    /// The list of these jobs.
    pub path: String,
}

pub struct KindChoice {
    pub name: &'static str,
    pub is_chosen: bool,
}

/// A state to choose from.
pub struct JobStateText {
    pub label: &'static str,
    pub path: String,
    pub is_chosen: bool,
    /// Completed jobs are not counted.
    pub count: Option<Count>,
}

pub struct JobRow {
    pub id: String,
    pub path: String,
    pub kind: String,
    pub attempts: String,
    pub when: TimeText,
    pub worker: Option<WorkerText>,
    pub error: Option<String>,
}

/// The time that matters in a job's state, such as `due in 3 s`.
pub struct TimeText {
    pub text: String,
    pub at: Second,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct JobsQuery {
    state: Option<String>,
    before: Option<String>,
    kind: Option<String>,
    error: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct SteerForm {
    action: String,
    /// The group of `requeue-these`.
    error: String,
}

#[handler]
pub async fn show(
    request: &Request,
    Query(query): Query<JobsQuery>,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    let frame = Frame::begin(request, Tab::Queues)?;
    let wanted = query.wanted(queue_in(request)?)?;
    let (board, jobs) = (service.board().await?, service.jobs(wanted).await?);
    let groups = match wanted.state {
        JobState::Dead | JobState::Failed if wanted.before.is_none() && !wanted.is_narrowed() => {
            service.job_errors(wanted.queue, wanted.state).await?
        }
        _ => ErrorGroups::default(),
    };
    live_page(StatusCode::OK, &JobsPage::new(&frame, wanted, board, JobsShown { list: jobs, groups }))
}

/// Pauses or resumes the queue, or requeues or discards its dead jobs.
#[handler]
pub async fn steer(
    request: &Request,
    Fields(form): Fields<SteerForm>,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    let (queue, by) = (queue_in(request)?, &operator(request)?.name);
    let done = match form.action.as_str() {
        "pause" => service.pause_queue(queue, by).await.map(|()| Done::Paused(queue))?,
        "resume" => service.resume_queue(queue, by).await.map(|_| Done::Resumed(queue))?,
        "requeue-dead" => Done::Requeued(queue, service.requeue_dead(queue, by).await?),
        "requeue-these" => {
            let error =
                form.error.parse().map_err(|_| Refusal::invalid("error", "is not a group of errors"))?;
            Done::Requeued(queue, service.requeue_dead_with(queue, error, by).await?)
        }
        "discard-dead" => Done::DiscardedDead(queue, service.discard_dead(queue, by).await?),
        _ => {
            let actions = "must be pause, resume, requeue-dead, requeue-these or discard-dead";
            return Err(Refusal::invalid("action", actions).into());
        }
    };
    Ok(found_at(&done.path(request.uri().path())))
}

impl JobsQuery {
    fn wanted(&self, queue: Queue) -> Result<JobFilter, Refusal> {
        let state = match self.state.as_deref() {
            None => JobState::Dead,
            Some(name) => {
                let unknown =
                    || Refusal::invalid("state", "must be waiting, running, failed, dead, cancelled or done");
                JobState::parse(name).ok_or_else(unknown)?
            }
        };
        let before = self.before.as_deref().map(str::parse::<JobId>).transpose();
        let before = before.map_err(|_| Refusal::invalid("before", "is not the id of a job"))?;
        let error = self.error.as_deref().map(str::parse::<ErrorKey>).transpose();
        let error = error.map_err(|_| Refusal::invalid("error", "is not a group of errors"))?;
        let wanted = JobFilter { before, error, ..JobFilter::of(queue, state) };
        match self.kind.as_deref() {
            None | Some("") => Ok(wanted),
            Some(kind) => wanted.of_kind(kind),
        }
    }
}

/// The jobs of a list, and their errors.
pub struct JobsShown {
    pub list: JobList,
    pub groups: ErrorGroups,
}

impl<'a> JobsPage<'a> {
    pub fn new(frame: &'a Frame, wanted: JobFilter, board: BoardFigures, jobs: JobsShown) -> Self {
        let JobFilter { queue, state, before, .. } = wanted;
        let JobsShown { list: jobs, groups } = jobs;
        let (at, is_taken) = (board.at, board.is_taken(queue));
        let figures = board.queues.into_iter().find(|figures| figures.queue == queue);
        let next = jobs.next.map(|id| format!("{}&before={id}", path_narrowed(wanted)));
        let minutes = figures.as_ref().map(|figures| figures.minutes.clone()).unwrap_or_default();
        let open_now = figures.as_ref().map_or(0, |figures| figures.jobs.unfinished());
        Self {
            frame,
            name: queue.name(),
            path: super::path_of(queue),
            as_of: Second(at),
            state,
            states: states(queue, state, figures.as_ref().map(counts_of).unwrap_or_default()),
            dead: Count(figures.as_ref().map_or(0, |figures| figures.jobs.dead)),
            paused: figures.and_then(|figures| figures.paused).map(PauseText::from),
            is_taken,
            charts: charts_of(&minutes, open_now),
            minutes: rows_of(&minutes),
            kinds: kinds_of(wanted),
            groups_note: note_of(&groups),
            groups: groups.groups.into_iter().map(|group| GroupRow::new(group, wanted)).collect(),
            is_narrowed: wanted.is_narrowed(),
            rows: jobs.jobs.into_iter().map(|job| JobRow::new(job, at)).collect(),
            next,
            goes_on: before.is_some(),
        }
    }
}

/// The path of a list with its filters.
fn path_narrowed(wanted: JobFilter) -> String {
    let mut path = path_of_state(wanted.queue, wanted.state);
    if let Some(kind) = wanted.kind {
        path.push_str(&format!("&kind={kind}"));
    }
    if let Some(error) = wanted.error {
        path.push_str(&format!("&error={error}"));
    }
    path
}

fn kinds_of(wanted: JobFilter) -> Vec<KindChoice> {
    let kinds = wanted.queue.kinds();
    if kinds.len() < 2 {
        return Vec::new();
    }
    kinds.iter().map(|&name| KindChoice { name, is_chosen: wanted.kind == Some(name) }).collect()
}

fn note_of(groups: &ErrorGroups) -> Option<String> {
    let cut = groups.is_cut.then(|| format!("The newest {} jobs are grouped.", Count(groups.jobs)));
    let left_out = match groups.groups_not_listed {
        0 => None,
        1 => Some("1 more error is not listed.".to_owned()),
        more => Some(format!("{} more errors are not listed.", Count(more))),
    };
    let notes: Vec<String> = cut.into_iter().chain(left_out).collect();
    (!notes.is_empty()).then(|| notes.join(" "))
}

impl GroupRow {
    fn new(group: ErrorGroup, wanted: JobFilter) -> Self {
        Self {
            key: group.key.to_string(),
            error: shortened(&group.error),
            jobs: Count(group.jobs),
            first: Second(group.first_at),
            last: Second(group.last_at),
            path: path_narrowed(JobFilter { error: Some(group.key), ..wanted }),
        }
    }
}

fn states(queue: Queue, chosen: JobState, counts: Vec<StateCount>) -> Vec<JobStateText> {
    let path_of_chosen = path_of_state(queue, chosen);
    let counted = counts.into_iter().map(|one| JobStateText {
        label: one.label,
        is_chosen: one.path == path_of_chosen,
        path: one.path,
        count: Some(one.count),
    });
    let done = JobStateText {
        label: "Done",
        path: path_of_state(queue, JobState::Done),
        is_chosen: chosen == JobState::Done,
        count: None,
    };
    counted.chain([done]).collect()
}

impl JobRow {
    pub fn new(job: JobInfo, now: Time) -> Self {
        Self {
            id: job.id.to_string(),
            path: path_of_job(job.queue, job.id),
            attempts: format!("{} of {}", job.attempts, job.attempts_max),
            when: when(&job, now),
            kind: job.kind,
            worker: job.worker.map(WorkerText::new),
            error: job.last_error.as_deref().map(shortened),
        }
    }
}

/// When the job is due, was started, or ended.
pub fn when(job: &JobInfo, now: Time) -> TimeText {
    let relative = |verb: &str, at: Time| {
        let text = if at > now {
            format!("{verb} in {}", Span(at.since(now)))
        } else {
            format!("{verb} {} ago", Span(now.since(at)))
        };
        TimeText { text, at: Second(at) }
    };
    let ended = job.ended_at.unwrap_or(job.due_at);
    match job.state {
        JobState::Waiting if job.due_at <= now => {
            TimeText { text: format!("waiting for {}", Span(now.since(job.due_at))), at: Second(job.due_at) }
        }
        JobState::Waiting => relative("due", job.due_at),
        JobState::Running => relative("started", job.begun_at.unwrap_or(job.due_at)),
        JobState::Failed => relative("retry due", job.due_at),
        JobState::Dead => relative("died", ended),
        JobState::Cancelled => relative("cancelled", ended),
        JobState::Done => relative("completed", ended),
    }
}
