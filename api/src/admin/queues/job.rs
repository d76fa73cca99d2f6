//! One job: its payload, its timeline, and operations on it.

use askama::Template;
use domain::Refusal;
use poem::http::StatusCode;
use poem::web::Data;
use poem::{Request, Response, handler};
use serde::Deserialize;
use service::{JobDetail, JobEvent, JobEventKind, JobState, JobSubject, Service};

use super::done::Done;
use super::jobs::{TimeText, when};
use super::lanes::{Lane, lanes_of};
use super::span::Second;
use super::worker::WorkerText;
use super::{job_in, path_of, path_of_job, queue_in};
use crate::admin::frame::{Frame, Tab, operator};
use crate::html::faults::Faults;
use crate::html::fields::Fields;
use crate::html::{accepts_html, found_at, live_page};
use crate::http::refusal::{RefusedCall, status_of};

#[derive(Template)]
#[template(path = "admin/job.html")]
pub struct JobPage<'a> {
    pub frame: &'a Frame,
    pub id: String,
    pub kind: String,
    /// The path of this page.
    pub path: String,
    pub queue: &'static str,
    pub queue_path: String,
    pub as_of: Second,
    pub state: JobState,
    pub attempts: u32,
    pub attempts_max: u32,
    pub when: TimeText,
    pub worker: Option<WorkerText>,
    /// The account and page that the payload names.
    pub subject: JobSubject,
    pub lanes: Vec<Lane>,
    pub reply_to: Option<String>,
    pub last_error: Option<String>,
    pub payload: String,
    pub timeline: Vec<EventRow>,
    pub faults: Faults,
}

pub struct EventRow {
    pub at: Second,
    pub what: String,
    /// The error, or the person's name.
    pub more: Option<String>,
    /// Whether the text was written by a program.
    pub is_error: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct SteerForm {
    action: String,
}

#[handler]
pub async fn show(request: &Request, service: Data<&Service>) -> Result<Response, RefusedCall> {
    render(request, &service, StatusCode::OK, Faults::default()).await
}

/// Retries, cancels or discards the job. If its state has changed, the current page shows the refusal.
#[handler]
pub async fn steer(
    request: &Request,
    Fields(form): Fields<SteerForm>,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    let (queue, id, by) = (queue_in(request)?, job_in(request)?, &operator(request)?.name);
    let steered = match form.action.as_str() {
        "retry" => service.retry_job(queue, id, by).await.map(|()| Done::Retried),
        "cancel" => service.cancel_job(queue, id, by).await.map(|()| Done::Cancelled),
        "discard" => service.discard_job(queue, id, by).await.map(|()| Done::Discarded),
        _ => return Err(Refusal::invalid("action", "must be retry, cancel or discard").into()),
    };
    match steered.map_err(RefusedCall::from) {
        Ok(done) => Ok(found_at(&done.path(&path_of_job(queue, id)))),
        Err(RefusedCall(refusal)) if accepts_html(request) && matches!(*refusal, Refusal::JobIs { .. }) => {
            let faults = Faults::of(&refusal, &[], request.uri().path());
            render(request, &service, status_of(&refusal), faults).await
        }
        Err(refused) => Err(refused),
    }
}

/// The current page, with the refusal if there is one.
async fn render(
    request: &Request,
    service: &Service,
    status: StatusCode,
    faults: Faults,
) -> Result<Response, RefusedCall> {
    let (queue, id) = (queue_in(request)?, job_in(request)?);
    let frame = Frame::begin(request, Tab::Queues)?;
    let detail = service.job(queue, id).await?;
    let subject = service.job_subject(&detail).await?;
    let shown = JobShown { detail, subject };
    live_page(status, &JobPage::new(&frame, shown, service.clock().now(), faults))
}

/// A job, and what it is about.
pub struct JobShown {
    pub detail: JobDetail,
    pub subject: JobSubject,
}

impl<'a> JobPage<'a> {
    pub fn new(frame: &'a Frame, shown: JobShown, now: domain::Time, faults: Faults) -> Self {
        let JobShown { detail: JobDetail { job, payload, reply_to, timeline }, subject } = shown;
        Self {
            frame,
            id: job.id.to_string(),
            path: path_of_job(job.queue, job.id),
            queue: job.queue.name(),
            queue_path: path_of(job.queue),
            as_of: Second(now),
            state: job.state,
            attempts: job.attempts,
            attempts_max: job.attempts_max,
            when: when(&job, now),
            kind: job.kind,
            worker: job.worker.map(WorkerText::new),
            subject,
            lanes: lanes_of(&timeline, job.state, now),
            reply_to,
            last_error: job.last_error,
            payload: format!("{payload:#}"),
            timeline: timeline.into_iter().map(EventRow::from).collect(),
            faults,
        }
    }

    /// The end of the id, which differs between jobs of the same minute.
    pub fn id_end(&self) -> &str {
        let start = self.id.len().saturating_sub(4);
        self.id.get(start..).unwrap_or_default()
    }

    pub fn may_be_retried(&self) -> bool {
        matches!(self.state, JobState::Dead | JobState::Cancelled | JobState::Failed)
    }

    pub fn may_be_cancelled(&self) -> bool {
        matches!(self.state, JobState::Waiting | JobState::Failed)
    }

    pub fn may_be_discarded(&self) -> bool {
        self.state == JobState::Dead
    }
}

impl From<JobEvent> for EventRow {
    fn from(event: JobEvent) -> Self {
        let (what, more, is_error) = match event.what {
            JobEventKind::Pushed => ("queued".to_owned(), None, false),
            JobEventKind::Began { attempt, worker } => {
                let worker = WorkerText::new(worker).short;
                (format!("attempt {attempt} started"), Some(format!("by {worker}")), false)
            }
            JobEventKind::Failed { attempt, error, .. } => {
                (format!("attempt {attempt} failed"), Some(error), true)
            }
            JobEventKind::Died { attempt, error } => {
                (format!("dead after attempt {attempt}"), Some(error), true)
            }
            JobEventKind::Done { attempt } => (format!("completed on attempt {attempt}"), None, false),
            JobEventKind::Retried { by } => ("retried".to_owned(), Some(format!("by {by}")), false),
            JobEventKind::Cancelled { by } => ("cancelled".to_owned(), Some(format!("by {by}")), false),
        };
        Self { at: Second(event.at), what, more, is_error }
    }
}
