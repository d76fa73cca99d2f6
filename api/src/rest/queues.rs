//! The job queues, for the operator's programs: figures, processes, jobs, and actions on them. The pages for
//! people are at `/admin/queues`.

use domain::{JobId, Queue};
use poem::web::Data;
use poem_openapi::OpenApi;
use poem_openapi::param::Query;
use poem_openapi::payload::Json;
use service::{JobFilter, Service};

use super::Tag;
use crate::http::api_result::{ApiResult, refusals};
use crate::http::call_header::Header;
use crate::http::operator::{DecidedBy, Operator};
use crate::http::paging::{AfterId, Limit, Listed};
use crate::http::path_part::Path;
use crate::wire;

#[derive(Default)]
pub struct Queues;

refusals! {
    Show: NotFound;
    List: InvalidRequest, NotFound;
    One: InvalidRequest, NotFound;
    Change: InvalidRequest, NotFound;
    ChangeJob: InvalidRequest, NotFound, JobIs;
}

#[OpenApi(tag = "Tag::Operator")]
impl Queues {
    /// Show all queues and processes
    ///
    /// Start here when something is slow. If a queue has `dead` jobs, list them, read `last_error`, fix the
    /// cause, then requeue them, or discard them if nobody needs them. If `oldest_waiting_since` is old,
    /// check whether the queue is `paused` or not `taken`; otherwise it needs more workers. Returns 404
    /// without the operator's secret.
    #[oai(path = "/internal/queues", method = "get", operation_id = "show_queues")]
    async fn show(
        &self,
        _operator: Operator,
        service: Data<&Service>,
    ) -> ApiResult<Json<wire::QueueBoard>, Show> {
        Ok(Json(service.board().await?.into()))
    }

    /// List the jobs of a queue
    ///
    /// Returns the jobs in one state, newest first. Done and cancelled jobs are deleted after 48 hours.
    /// Returns 404 without the operator's secret.
    #[oai(path = "/internal/queues/:queue/jobs", method = "get", operation_id = "list_jobs")]
    async fn list(
        &self,
        _operator: Operator,
        /// The queue.
        queue: Path<Queue>,
        /// The state of the jobs. The default is `dead`.
        state: Query<Option<wire::JobState>>,
        /// The `next` of the previous page.
        after: AfterId<JobId>,
        /// The maximum number of jobs to return. The default is 50.
        limit: Limit,
        service: Data<&Service>,
    ) -> ApiResult<Listed<wire::JobList>, List> {
        let state = state.0.unwrap_or(wire::JobState::Dead).into();
        let mut wanted = JobFilter { before: after.0, ..JobFilter::of(queue.0, state) };
        if let Some(rows_max) = limit.rows_max {
            wanted.jobs_max = rows_max as usize;
        }
        let list = wire::JobList::from(service.jobs(wanted).await?);
        Ok(Listed::page(&list, list.next.as_deref(), &limit, &service))
    }

    /// Get a job
    ///
    /// Returns the job with its payload, attempts, last error and timeline. File contents and payments are
    /// redacted. Returns 404 without the operator's secret.
    #[oai(path = "/internal/queues/:queue/jobs/:id", method = "get", operation_id = "show_job")]
    async fn one(
        &self,
        _operator: Operator,
        /// The job's queue.
        queue: Path<Queue>,
        /// The job's id, from a list or from `job.id` in the logs.
        id: Path<JobId>,
        service: Data<&Service>,
    ) -> ApiResult<Json<wire::JobDetail>, One> {
        Ok(Json(service.job(queue.0, id.0).await?.into()))
    }

    /// Retry a job
    ///
    /// Runs a dead, cancelled or failed job at once, with all its attempts again. This is safe: jobs are
    /// idempotent. Returns 404 without the operator's secret.
    #[oai(path = "/internal/queues/:queue/jobs/:id/retry", method = "post", operation_id = "retry_job")]
    async fn retry(
        &self,
        _operator: Operator,
        /// The operator who does this. The job's timeline records the name.
        #[oai(name = "X-Operator")]
        decided_by: Header<DecidedBy>,
        /// The job's queue.
        queue: Path<Queue>,
        /// The job's id.
        id: Path<JobId>,
        service: Data<&Service>,
    ) -> ApiResult<Json<wire::JobRetried>, ChangeJob> {
        service.retry_job(queue.0, id.0, &decided_by.0.0).await?;
        Ok(Json(wire::JobRetried::of(queue.0, id.0)))
    }

    /// Cancel a job
    ///
    /// Cancels a job that waits for its first or its next attempt. A running job is not stopped. A cancelled
    /// job can be retried until it is deleted after 48 hours. Returns 404 without the operator's secret.
    #[oai(path = "/internal/queues/:queue/jobs/:id/cancel", method = "post", operation_id = "cancel_job")]
    async fn cancel(
        &self,
        _operator: Operator,
        /// The operator who does this. The job's timeline records the name.
        #[oai(name = "X-Operator")]
        decided_by: Header<DecidedBy>,
        /// The job's queue.
        queue: Path<Queue>,
        /// The job's id.
        id: Path<JobId>,
        service: Data<&Service>,
    ) -> ApiResult<Json<wire::JobCancelled>, ChangeJob> {
        service.cancel_job(queue.0, id.0, &decided_by.0.0).await?;
        Ok(Json(wire::JobCancelled::of(queue.0, id.0)))
    }

    /// Discard a job
    ///
    /// Marks a dead job as `cancelled`. It keeps its `last_error` and can be retried until it is deleted with
    /// its payload after 48 hours. Returns 404 without the operator's secret.
    #[oai(path = "/internal/queues/:queue/jobs/:id/discard", method = "post", operation_id = "discard_job")]
    async fn discard(
        &self,
        _operator: Operator,
        /// The operator who does this. The job's timeline records the name.
        #[oai(name = "X-Operator")]
        decided_by: Header<DecidedBy>,
        /// The job's queue.
        queue: Path<Queue>,
        /// The job's id.
        id: Path<JobId>,
        service: Data<&Service>,
    ) -> ApiResult<Json<wire::JobDiscarded>, ChangeJob> {
        service.discard_job(queue.0, id.0, &decided_by.0.0).await?;
        Ok(Json(wire::JobDiscarded::of(queue.0, id.0)))
    }

    /// Pause a queue
    ///
    /// Within two seconds no worker of any process starts jobs of this queue. Running jobs finish, and new
    /// jobs wait. While `publish` is paused, publishes return 503. Pausing a paused queue changes nothing.
    /// Returns 404 without the operator's secret.
    #[oai(path = "/internal/queues/:queue/pause", method = "post", operation_id = "pause_queue")]
    async fn pause(
        &self,
        _operator: Operator,
        /// The operator who does this. The queue board shows the name.
        #[oai(name = "X-Operator")]
        decided_by: Header<DecidedBy>,
        /// The queue.
        queue: Path<Queue>,
        service: Data<&Service>,
    ) -> ApiResult<Json<wire::QueueSteered>, Change> {
        service.pause_queue(queue.0, &decided_by.0.0).await?;
        Ok(Json(wire::QueueSteered { queue: queue.0.into(), paused: true }))
    }

    /// Resume a queue
    ///
    /// Workers continue with its jobs at once. Resuming a queue that is not paused changes nothing. Returns
    /// 404 without the operator's secret.
    #[oai(path = "/internal/queues/:queue/resume", method = "post", operation_id = "resume_queue")]
    async fn resume(
        &self,
        _operator: Operator,
        /// The operator who does this. The log records the name.
        #[oai(name = "X-Operator")]
        decided_by: Header<DecidedBy>,
        /// The queue.
        queue: Path<Queue>,
        service: Data<&Service>,
    ) -> ApiResult<Json<wire::QueueSteered>, Change> {
        service.resume_queue(queue.0, &decided_by.0.0).await?;
        Ok(Json(wire::QueueSteered { queue: queue.0.into(), paused: false }))
    }

    /// Requeue the dead jobs of a queue
    ///
    /// Retries every dead job, with all its attempts again. Cancelled jobs are not included; retry each of
    /// them on its own. Fix the cause before retrying. Returns 404 without the operator's secret.
    #[oai(path = "/internal/queues/:queue/requeue-dead", method = "post", operation_id = "requeue_dead_jobs")]
    async fn requeue_dead(
        &self,
        _operator: Operator,
        /// The operator who does this. The timelines of the jobs record the name.
        #[oai(name = "X-Operator")]
        decided_by: Header<DecidedBy>,
        /// The queue.
        queue: Path<Queue>,
        service: Data<&Service>,
    ) -> ApiResult<Json<wire::DeadRequeued>, Change> {
        let requeued = service.requeue_dead(queue.0, &decided_by.0.0).await?;
        Ok(Json(wire::DeadRequeued { queue: queue.0.into(), requeued }))
    }

    /// Discard the dead jobs of a queue
    ///
    /// Marks every dead job as `cancelled`. Each can be retried, on its own, until it is deleted after 48
    /// hours. Returns 404 without the operator's secret.
    #[oai(path = "/internal/queues/:queue/discard-dead", method = "post", operation_id = "discard_dead_jobs")]
    async fn discard_dead(
        &self,
        _operator: Operator,
        /// The operator who does this. The timelines of the jobs record the name.
        #[oai(name = "X-Operator")]
        decided_by: Header<DecidedBy>,
        /// The queue.
        queue: Path<Queue>,
        service: Data<&Service>,
    ) -> ApiResult<Json<wire::DeadDiscarded>, Change> {
        let discarded = service.discard_dead(queue.0, &decided_by.0.0).await?;
        Ok(Json(wire::DeadDiscarded { queue: queue.0.into(), discarded }))
    }
}
