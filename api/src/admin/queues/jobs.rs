//! One queue: its jobs by state, and operations on the queue.

use askama::Template;
use domain::{JobId, Queue, Refusal, Time};
use poem::http::StatusCode;
use poem::web::{Data, Query};
use poem::{Request, Response, handler};
use serde::Deserialize;
use service::{BoardFigures, JobFilter, JobInfo, JobList, JobState, Service};

use super::board::{PauseText, StateCount, counts_of};
use super::done::Done;
use super::span::{Second, Span};
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
    pub rows: Vec<JobRow>,
    /// The path of the next page of the list, if there is one.
    pub next: Option<String>,
    /// Whether this is a later page of the list.
    pub goes_on: bool,
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
    pub worker: Option<String>,
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
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct SteerForm {
    action: String,
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
    live_page(StatusCode::OK, &JobsPage::new(&frame, wanted, board, jobs))
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
        "resume" => service.resume_queue(queue, by).await.map(|()| Done::Resumed(queue))?,
        "requeue-dead" => Done::Requeued(queue, service.requeue_dead(queue, by).await?),
        "discard-dead" => Done::DiscardedDead(queue, service.discard_dead(queue, by).await?),
        _ => {
            return Err(
                Refusal::invalid("action", "must be pause, resume, requeue-dead or discard-dead").into()
            );
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
        Ok(JobFilter { queue, state, before })
    }
}

impl<'a> JobsPage<'a> {
    pub fn new(frame: &'a Frame, wanted: JobFilter, board: BoardFigures, jobs: JobList) -> Self {
        let JobFilter { queue, state, before } = wanted;
        let (at, is_taken) = (board.at, board.is_taken(queue));
        let figures = board.queues.into_iter().find(|figures| figures.queue == queue);
        let next = jobs.next.map(|id| format!("{}&before={id}", path_of_state(queue, state)));
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
            rows: jobs.jobs.into_iter().map(|job| JobRow::new(job, at)).collect(),
            next,
            goes_on: before.is_some(),
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
    fn new(job: JobInfo, now: Time) -> Self {
        Self {
            id: job.id.to_string(),
            path: path_of_job(job.queue, job.id),
            attempts: format!("{} of {}", job.attempts, job.attempts_max),
            when: when(&job, now),
            kind: job.kind,
            worker: job.worker,
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
