//! The schedules, for the operator's programs.

use domain::{Missing, Refusal};
use poem::web::Data;
use poem_openapi::OpenApi;
use poem_openapi::param::Query;
use poem_openapi::payload::Json;
use service::Service;

use super::Tag;
use crate::http::api_result::{ApiResult, refusals};
use crate::http::call_header::Header;
use crate::http::operator::{DecidedBy, Operator};
use crate::http::paging::{Limit, Listed};
use crate::http::path_part::{Path, ScheduleName};
use crate::http::short_list::cut_at;
use crate::wire;

#[derive(Default)]
pub struct Schedules;

refusals! {
    List: InvalidRequest, NotFound;
    Run: InvalidRequest, NotFound;
}

#[OpenApi(tag = "Tag::Operator")]
impl Schedules {
    /// List the schedules
    ///
    /// Each schedule fires once in the whole deployment, however many processes run. If `last_slot` is far in
    /// the past, no process with workers was running. Returns 404 without the operator's secret.
    #[oai(path = "/internal/schedules", method = "get", operation_id = "list_schedules")]
    async fn list(
        &self,
        _operator: Operator,
        /// The maximum number of schedules to return; the `Link` header then holds the next page. Without it,
        /// the response has all of them.
        limit: Limit,
        /// The number of schedules before the page, from the `Link` header of the previous response.
        #[oai(validator(minimum(value = "0"), maximum(value = "1000000")))]
        after: Query<Option<u32>>,
        service: Data<&Service>,
    ) -> ApiResult<Listed<Vec<wire::Schedule>>, List> {
        let schedules = service.schedules().await?.into_iter().map(wire::Schedule::from).collect();
        let (page, next) = cut_at(&limit, schedules, after.0);
        Ok(Listed::page(&page, next.as_deref(), &limit, &service))
    }

    /// Run a schedule now
    ///
    /// Queues its job at once; the next fire time does not change. This is safe to repeat: the job does only
    /// what is due. Returns 404 without the operator's secret.
    #[oai(path = "/internal/schedules/:schedule/run", method = "post", operation_id = "run_schedule")]
    async fn run(
        &self,
        _operator: Operator,
        /// The operator who does this. The log records the name.
        #[oai(name = "X-Operator")]
        decided_by: Header<DecidedBy>,
        /// The schedule's name.
        schedule: Path<ScheduleName>,
        service: Data<&Service>,
    ) -> ApiResult<Json<wire::ScheduleRun>, Run> {
        let ScheduleName(name) = schedule.0;
        let known = service.schedules().await?.into_iter().find(|known| known.planned.name == name);
        let queue = known.ok_or(Refusal::NotFound(Missing::Schedule))?.planned.job.queue();
        let id = service.run_schedule(&name, &decided_by.0.0).await?;
        Ok(Json(wire::ScheduleRun::of(&name, queue, id)))
    }
}
