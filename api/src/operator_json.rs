//! The responses of the operator's routes as JSON text, for the command line, which must not define types of
//! its own.

use domain::{JobId, Queue, Refusal};
use poem_openapi::types::ToJSON;
use service::{BoardFigures, Granted, JobDetail, JobList, ScheduleInfo, SuspensionSet};

use crate::wire;

/// As `GET /internal/queues` returns it.
pub fn board(board: BoardFigures) -> String {
    wire::QueueBoard::from(board).to_json_string()
}

/// As `GET /internal/queues/{queue}/jobs` returns it.
pub fn jobs(jobs: JobList) -> String {
    wire::JobList::from(jobs).to_json_string()
}

/// As `GET /internal/queues/{queue}/jobs/{id}` returns it.
pub fn job(job: JobDetail) -> String {
    wire::JobDetail::from(job).to_json_string()
}

/// As `GET /internal/schedules` returns it.
pub fn schedules(schedules: Vec<ScheduleInfo>) -> String {
    schedules.into_iter().map(wire::Schedule::from).collect::<Vec<_>>().to_json_string()
}

/// As `POST /internal/credit` returns it.
pub fn granted(granted: &Granted) -> String {
    wire::CreditGranted::from(granted).to_json_string()
}

/// As `POST /internal/accounts/{handle}/suspend` and `lift` return it.
pub fn suspension(set: &SuspensionSet) -> String {
    wire::AccountSuspension::from(set).to_json_string()
}

/// As the retry of a job returns it.
pub fn retried(queue: Queue, id: JobId) -> String {
    wire::JobRetried::of(queue, id).to_json_string()
}

/// As the cancellation of a job returns it.
pub fn cancelled(queue: Queue, id: JobId) -> String {
    wire::JobCancelled::of(queue, id).to_json_string()
}

/// As the discarding of a job returns it.
pub fn discarded(queue: Queue, id: JobId) -> String {
    wire::JobDiscarded::of(queue, id).to_json_string()
}

/// As the pause of a queue returns it.
pub fn paused(queue: Queue) -> String {
    wire::QueueSteered { queue: queue.into(), paused: true }.to_json_string()
}

/// As the resumption of a queue returns it.
pub fn resumed(queue: Queue) -> String {
    wire::QueueSteered { queue: queue.into(), paused: false }.to_json_string()
}

/// As `POST /internal/queues/{queue}/requeue-dead` returns it.
pub fn requeued(queue: Queue, jobs: u64) -> String {
    wire::DeadRequeued { queue: queue.into(), requeued: jobs }.to_json_string()
}

/// As `POST /internal/queues/{queue}/discard-dead` returns it.
pub fn dead_discarded(queue: Queue, jobs: u64) -> String {
    wire::DeadDiscarded { queue: queue.into(), discarded: jobs }.to_json_string()
}

/// As `POST /internal/schedules/{schedule}/run` returns it.
pub fn ran(schedule: &str, queue: Queue, job: JobId) -> String {
    wire::ScheduleRun::of(schedule, queue, job).to_json_string()
}

/// As every route returns a refusal.
pub fn refused(refusal: &Refusal) -> String {
    crate::http::refusal::json_of(refusal).to_string()
}
