//! The queues for the operator's programs: how much is to be done and by whom, what became of a job, and the few things
//! that one may do about it. People have the same at `/admin/queues`.

use domain::{JobId, Queue, Refusal};
use poem::web::Data;
use poem_openapi::OpenApi;
use poem_openapi::param::Query;
use poem_openapi::payload::Json;
use service::{JobsWanted, Service};

use super::Tag;
use crate::http::api_result::{ApiResult, refusals};
use crate::http::call_header::Header;
use crate::http::operator::{DecidedBy, Operator};
use crate::http::path_part::Path;
use crate::wire;

#[derive(Default)]
pub struct Queues;

refusals! {
    Show: NotFound;
    List: InvalidRequest, NotFound;
    Look: InvalidRequest, NotFound;
    Steer: InvalidRequest, NotFound;
    SteerJob: InvalidRequest, NotFound, JobIs;
}

#[OpenApi(tag = "Tag::Operator")]
impl Queues {
    /// Show all queues and processes
    ///
    /// Begin here when something is slow. A queue with `dead` jobs: list them, read one's `last_error`, mend the cause,
    /// then requeue them, or discard them if nobody needs them. One whose `oldest_waiting_since` grows old: look whether it is `paused` or not `taken`; else
    /// it needs more workers. Without the operator's secret: 404.
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
    /// Up to 50 in one state, the newest first. What is done or cancelled is forgotten after 48 hours. Without the
    /// operator's secret: 404.
    #[oai(path = "/internal/queues/:queue/jobs", method = "get", operation_id = "list_jobs")]
    async fn list(
        &self,
        _operator: Operator,
        /// Which queue.
        queue: Path<Queue>,
        /// In which state; `dead` when it is left out.
        state: Query<Option<wire::JobState>>,
        /// The `next` of the list before.
        #[oai(validator(pattern = "^[0-7][0-9A-HJKMNP-TV-Z]{25}$"))]
        before: Query<Option<String>>,
        service: Data<&Service>,
    ) -> ApiResult<Json<wire::JobList>, List> {
        let unknown = |_| Refusal::invalid("before", "is no `next` of a list");
        let before = before.0.map(|text| text.parse()).transpose().map_err(unknown)?;
        let state = state.0.unwrap_or(wire::JobState::Dead).into();
        Ok(Json(service.jobs(JobsWanted { queue: queue.0, state, before }).await?.into()))
    }

    /// Look at one job
    ///
    /// What it is about, how often it was tried, why it failed, and what happened to it in order. File contents and
    /// payments are not shown. Without the operator's secret: 404.
    #[oai(path = "/internal/queues/:queue/jobs/:id", method = "get", operation_id = "show_job")]
    async fn look(
        &self,
        _operator: Operator,
        /// The job's queue.
        queue: Path<Queue>,
        /// The job's id, as lists and logs (`job.id`) have it.
        id: Path<JobId>,
        service: Data<&Service>,
    ) -> ApiResult<Json<wire::JobDetail>, Look> {
        Ok(Json(service.job(queue.0, id.0).await?.into()))
    }

    /// Retry a job
    ///
    /// One that is dead or cancelled, or waits for another attempt: it begins now, with all its attempts before it. It does no harm:
    /// what a job has done it does not do twice. Without the operator's secret: 404.
    #[oai(path = "/internal/queues/:queue/jobs/:id/retry", method = "post", operation_id = "retry_job")]
    async fn retry(
        &self,
        _operator: Operator,
        /// Who of the operator's people does it; it stands in the job's timeline.
        #[oai(name = "X-Operator")]
        who: Header<DecidedBy>,
        /// The job's queue.
        queue: Path<Queue>,
        /// The job's id.
        id: Path<JobId>,
        service: Data<&Service>,
    ) -> ApiResult<Json<wire::JobRetried>, SteerJob> {
        service.retry_job(queue.0, id.0, &who.0.0).await?;
        Ok(Json(wire::JobRetried::of(queue.0, id.0)))
    }

    /// Cancel a job
    ///
    /// One that waits, for its first attempt or for another. It can be retried until it is forgotten, after 48 hours. One
    /// that runs is let be. Without the operator's secret: 404.
    #[oai(path = "/internal/queues/:queue/jobs/:id/cancel", method = "post", operation_id = "cancel_job")]
    async fn cancel(
        &self,
        _operator: Operator,
        /// Who of the operator's people does it; it stands in the job's timeline.
        #[oai(name = "X-Operator")]
        who: Header<DecidedBy>,
        /// The job's queue.
        queue: Path<Queue>,
        /// The job's id.
        id: Path<JobId>,
        service: Data<&Service>,
    ) -> ApiResult<Json<wire::JobCancelled>, SteerJob> {
        service.cancel_job(queue.0, id.0, &who.0.0).await?;
        Ok(Json(wire::JobCancelled::of(queue.0, id.0)))
    }

    /// Discard a job
    ///
    /// One that is dead and that nobody needs any more: it is `cancelled` then, keeps its `last_error`, and is forgotten
    /// after 48 hours with what it carries. Until then it can be retried. Without the operator's secret: 404.
    #[oai(path = "/internal/queues/:queue/jobs/:id/discard", method = "post", operation_id = "discard_job")]
    async fn discard(
        &self,
        _operator: Operator,
        /// Who of the operator's people does it; it stands in the job's timeline.
        #[oai(name = "X-Operator")]
        who: Header<DecidedBy>,
        /// The job's queue.
        queue: Path<Queue>,
        /// The job's id.
        id: Path<JobId>,
        service: Data<&Service>,
    ) -> ApiResult<Json<wire::JobDiscarded>, SteerJob> {
        service.discard_job(queue.0, id.0, &who.0.0).await?;
        Ok(Json(wire::JobDiscarded::of(queue.0, id.0)))
    }

    /// Pause a queue
    ///
    /// Within two seconds no worker begins a job of it, in any process; what runs is finished, and what is pushed
    /// waits. Publishes are answered 503 while `publish` is paused. A queue that is paused stays so. Without the operator's secret: 404.
    #[oai(path = "/internal/queues/:queue/pause", method = "post", operation_id = "pause_queue")]
    async fn pause(
        &self,
        _operator: Operator,
        /// Who of the operator's people does it; it stands on the board.
        #[oai(name = "X-Operator")]
        who: Header<DecidedBy>,
        /// Which queue.
        queue: Path<Queue>,
        service: Data<&Service>,
    ) -> ApiResult<Json<wire::QueueSteered>, Steer> {
        service.pause_queue(queue.0, &who.0.0).await?;
        Ok(Json(wire::QueueSteered { queue: queue.0.into(), paused: true }))
    }

    /// Resume a queue
    ///
    /// Workers go on with it at once. One that is not paused stays as it is. Without the operator's secret: 404.
    #[oai(path = "/internal/queues/:queue/resume", method = "post", operation_id = "resume_queue")]
    async fn resume(
        &self,
        _operator: Operator,
        /// Who of the operator's people does it; it stands in the log.
        #[oai(name = "X-Operator")]
        who: Header<DecidedBy>,
        /// Which queue.
        queue: Path<Queue>,
        service: Data<&Service>,
    ) -> ApiResult<Json<wire::QueueSteered>, Steer> {
        service.resume_queue(queue.0, &who.0.0).await?;
        Ok(Json(wire::QueueSteered { queue: queue.0.into(), paused: false }))
    }

    /// Requeue the dead jobs of a queue
    ///
    /// Every one begins anew, but for those that were cancelled: each of them is retried by itself. Mend first what killed
    /// them. Without the operator's secret: 404.
    #[oai(path = "/internal/queues/:queue/requeue-dead", method = "post", operation_id = "requeue_dead_jobs")]
    async fn requeue_dead(
        &self,
        _operator: Operator,
        /// Who of the operator's people does it; it stands in the jobs' timelines.
        #[oai(name = "X-Operator")]
        who: Header<DecidedBy>,
        /// Which queue.
        queue: Path<Queue>,
        service: Data<&Service>,
    ) -> ApiResult<Json<wire::DeadRequeued>, Steer> {
        let requeued = service.requeue_dead(queue.0, &who.0.0).await?;
        Ok(Json(wire::DeadRequeued { queue: queue.0.into(), requeued }))
    }

    /// Discard the dead jobs of a queue
    ///
    /// When nobody needs them any more: they are `cancelled` then, and forgotten after 48 hours. Each can be retried until
    /// then, but only by itself. Without the operator's secret: 404.
    #[oai(path = "/internal/queues/:queue/discard-dead", method = "post", operation_id = "discard_dead_jobs")]
    async fn discard_dead(
        &self,
        _operator: Operator,
        /// Who of the operator's people does it; it stands in the jobs' timelines.
        #[oai(name = "X-Operator")]
        who: Header<DecidedBy>,
        /// Which queue.
        queue: Path<Queue>,
        service: Data<&Service>,
    ) -> ApiResult<Json<wire::DeadDiscarded>, Steer> {
        let discarded = service.discard_dead(queue.0, &who.0.0).await?;
        Ok(Json(wire::DeadDiscarded { queue: queue.0.into(), discarded }))
    }
}
