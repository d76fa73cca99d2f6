//! What the operator's routes answer, as text: the command line says the same, and must have no shapes of its own.

use domain::{JobId, Queue, Refusal};
use poem_openapi::types::ToJSON;
use service::{BoardFigures, Granted, JobDetail, JobList, ScheduleInfo, SuspensionSet};

use crate::wire;

/// As `GET /internal/queues` answers.
pub fn board(board: BoardFigures) -> String {
    wire::QueueBoard::from(board).to_json_string()
}

/// As `GET /internal/queues/{queue}/jobs` answers.
pub fn jobs(jobs: JobList) -> String {
    wire::JobList::from(jobs).to_json_string()
}

/// As `GET /internal/queues/{queue}/jobs/{id}` answers.
pub fn job(job: JobDetail) -> String {
    wire::JobDetail::from(job).to_json_string()
}

/// As `GET /internal/schedules` answers.
pub fn schedules(schedules: Vec<ScheduleInfo>) -> String {
    schedules.into_iter().map(wire::Schedule::from).collect::<Vec<_>>().to_json_string()
}

/// As `POST /internal/credit` answers.
pub fn granted(granted: &Granted) -> String {
    wire::CreditGranted::from(granted).to_json_string()
}

/// As `POST /internal/accounts/{handle}/suspend` and `lift` answer.
pub fn suspension(set: &SuspensionSet) -> String {
    wire::AccountSuspension::from(set).to_json_string()
}

/// As a retry is answered.
pub fn retried(queue: Queue, id: JobId) -> String {
    wire::JobRetried::of(queue, id).to_json_string()
}

/// As a cancellation is answered.
pub fn cancelled(queue: Queue, id: JobId) -> String {
    wire::JobCancelled::of(queue, id).to_json_string()
}

/// As the discarding of a job is answered.
pub fn discarded(queue: Queue, id: JobId) -> String {
    wire::JobDiscarded::of(queue, id).to_json_string()
}

/// As a pause is answered.
pub fn paused(queue: Queue) -> String {
    wire::QueueSteered { queue: queue.into(), paused: true }.to_json_string()
}

/// As the end of a pause is answered.
pub fn resumed(queue: Queue) -> String {
    wire::QueueSteered { queue: queue.into(), paused: false }.to_json_string()
}

/// As `POST /internal/queues/{queue}/requeue-dead` answers.
pub fn requeued(queue: Queue, jobs: u64) -> String {
    wire::DeadRequeued { queue: queue.into(), requeued: jobs }.to_json_string()
}

/// As `POST /internal/queues/{queue}/discard-dead` answers.
pub fn dead_discarded(queue: Queue, jobs: u64) -> String {
    wire::DeadDiscarded { queue: queue.into(), discarded: jobs }.to_json_string()
}

/// As `POST /internal/schedules/{schedule}/run` answers.
pub fn ran(schedule: &str, queue: Queue, job: JobId) -> String {
    wire::ScheduleRun::of(schedule, queue, job).to_json_string()
}

/// As any route answers what it refuses.
pub fn refused(refusal: &Refusal) -> String {
    crate::http::refusal::told(refusal).to_string()
}
