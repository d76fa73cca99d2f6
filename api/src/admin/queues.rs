//! The queue board: how much is to be done and by whom, what became of each job, and the few things that one may do
//! about it. Its pages are looked at while something burns, so they show what is true now: the script asks for them
//! again every two seconds. They never show what somebody publishes or pays with; the board gives payloads redacted.

pub mod board;
pub mod done;
pub mod job;
pub mod jobs;
mod span;
#[cfg(test)]
pub mod tests;

use domain::{JobId, Missing, Queue, Refusal};
use poem::Request;
use service::JobState;

/// Where the board is.
pub const BOARD: &str = "/admin/queues";

/// Characters of an error that a list shows; the job's own page has all of it.
const ERROR_LENGTH_MAX: usize = 160;

pub fn path_of(queue: Queue) -> String {
    format!("{BOARD}/{}", queue.name())
}

pub fn path_of_state(queue: Queue, state: JobState) -> String {
    format!("{}?state={}", path_of(queue), state.name())
}

pub fn path_of_job(queue: Queue, id: JobId) -> String {
    format!("{}/{id}", path_of(queue))
}

/// The queue that the path names.
fn queue_in(request: &Request) -> Result<Queue, Refusal> {
    let name = request.raw_path_param("queue").unwrap_or_default();
    Queue::parse(name).ok_or(Refusal::NotFound(Missing::Queue))
}

/// The job that the path names. What is no id is no job's.
fn job_in(request: &Request) -> Result<JobId, Refusal> {
    let id = request.raw_path_param("id").unwrap_or_default();
    id.parse().map_err(|_| Refusal::NotFound(Missing::Job))
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(ERROR_LENGTH_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
