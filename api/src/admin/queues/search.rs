//! Search: a job's id leads to the job, an account or a host to a list of its newest jobs.

use askama::Template;
use domain::Time;
use poem::Response;
use poem::http::StatusCode;
use service::{FoundJobs, JOBS_SEARCHED_MAX, JobState, Service};

use super::jobs::JobRow;
use super::path_of_job;
use crate::admin::frame::{Frame, Tab};
use crate::html::figures::Count;
use crate::html::{found_at, page};
use crate::http::refusal::RefusedCall;

/// Longer texts name nothing.
const TEXT_LENGTH_MAX: usize = 100;

#[derive(Template)]
#[template(path = "admin/queue_search.html")]
pub struct SearchPage<'a> {
    pub frame: &'a Frame,
    pub sought: String,
    /// Whether an account or page of this name exists.
    pub is_known: bool,
    pub searched_max: Count,
    pub rows: Vec<FoundRow>,
}

pub struct FoundRow {
    pub queue: &'static str,
    pub state: JobState,
    pub job: JobRow,
}

pub async fn show(frame: &Frame, service: &Service, sought: &str) -> Result<Response, RefusedCall> {
    let sought: String = sought.trim().chars().take(TEXT_LENGTH_MAX).collect();
    match service.find_jobs(&sought).await? {
        FoundJobs::Job(queue, id) => Ok(found_at(&path_of_job(queue, id))),
        found => page(StatusCode::OK, &SearchPage::new(frame, sought, found, service.clock().now())),
    }
}

impl<'a> SearchPage<'a> {
    pub fn new(frame: &'a Frame, sought: String, found: FoundJobs, now: Time) -> Self {
        let jobs = match found {
            FoundJobs::Jobs(jobs) => Some(jobs),
            FoundJobs::Job(..) | FoundJobs::Unknown => None,
        };
        let is_known = jobs.is_some();
        let row = |job: service::JobInfo| FoundRow {
            queue: job.queue.name(),
            state: job.state,
            job: JobRow::new(job, now),
        };
        Self {
            frame,
            sought,
            is_known,
            searched_max: Count(JOBS_SEARCHED_MAX as u64),
            rows: jobs.unwrap_or_default().into_iter().map(row).collect(),
        }
    }
}
