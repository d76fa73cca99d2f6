//! The queue board: the queues' lengths, the processes, each job's state, and operations on them. Operators
//! use it during incidents, so it shows current data: the script reloads it every two seconds. It must never
//! show what somebody publishes or pays with; payloads are redacted.

pub mod board;
mod chart;
pub mod done;
pub mod job;
pub mod jobs;
mod lanes;
mod search;
mod span;
#[cfg(test)]
pub mod tests;
mod worker;

use domain::{JobId, Missing, Queue, Refusal};
use poem::Request;
use service::JobState;

/// The path of the board.
pub const BOARD: &str = "/admin/queues";

/// The number of characters of an error in a list. The job's own page shows all of it.
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

/// The job that the path names. A malformed id is reported as not found.
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
