//! What happens by itself, for the operator's programs: when it did and when it will, and having it done now.

use domain::{Missing, Refusal};
use poem::web::Data;
use poem_openapi::OpenApi;
use poem_openapi::payload::Json;
use service::Service;

use super::Tag;
use crate::http::api_result::{ApiResult, refusals};
use crate::http::call_header::Header;
use crate::http::operator::{DecidedBy, Operator};
use crate::http::path_part::{Path, ScheduleName};
use crate::wire;

#[derive(Default)]
pub struct Schedules;

refusals! {
    List: NotFound;
    Run: InvalidRequest, NotFound;
}

#[OpenApi(tag = "Tag::Operator")]
impl Schedules {
    /// List the schedules
    ///
    /// Each fires once in the whole deployment, however many processes run. A `last_slot` that is far behind means that
    /// no process with workers was up. Without the operator's secret: 404.
    #[oai(path = "/internal/schedules", method = "get", operation_id = "list_schedules")]
    async fn list(
        &self,
        _operator: Operator,
        service: Data<&Service>,
    ) -> ApiResult<Json<Vec<wire::Schedule>>, List> {
        let schedules = service.schedules().await?;
        Ok(Json(schedules.into_iter().map(wire::Schedule::from).collect()))
    }

    /// Run a schedule now
    ///
    /// Queues what it does; its slots go on as if nothing had been. It does no harm to run one often: each does what is
    /// due and nothing else. Without the operator's secret: 404.
    #[oai(path = "/internal/schedules/:schedule/run", method = "post", operation_id = "run_schedule")]
    async fn run(
        &self,
        _operator: Operator,
        /// Who of the operator's people does it; it stands in the log.
        #[oai(name = "X-Operator")]
        who: Header<DecidedBy>,
        /// The schedule's name.
        schedule: Path<ScheduleName>,
        service: Data<&Service>,
    ) -> ApiResult<Json<wire::ScheduleRun>, Run> {
        let ScheduleName(name) = schedule.0;
        let known = service.schedules().await?.into_iter().find(|known| known.planned.name == name);
        let queue = known.ok_or(Refusal::NotFound(Missing::Schedule))?.planned.job.queue();
        let id = service.run_schedule(&name, &who.0.0).await?;
        Ok(Json(wire::ScheduleRun::of(&name, queue, id)))
    }
}
