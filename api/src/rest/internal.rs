//! What an operator has done at once that the schedule does in its time. None of it is for agents, and none may do
//! harm when it is called twice.

use domain::{Origin, Via};
use poem::Request;
use poem::web::Data;
use poem_openapi::OpenApi;
use poem_openapi::payload::Json;
use service::Service;

use super::Tag;
use crate::http::api_result::{ApiResult, refusals};
use crate::http::call_header::Header;
use crate::http::client_ip::client_of;
use crate::http::json_body::JsonBody;
use crate::http::operator::{DecidedBy, Operator};
use crate::wire;

#[derive(Default)]
pub struct Internal;

refusals! {
    Meter: InvalidRequest, InvalidBody, NotFound, TooLarge, UnsupportedMediaType;
    CleanUp: NotFound;
    View: InvalidRequest, InvalidBody, NotFound, TooLarge, UnsupportedMediaType;
    Grant: InvalidRequest, InvalidBody, NotFound, IdempotencyConflict, TooLarge, UnsupportedMediaType, OutcomeUnknown;
}

#[OpenApi(tag = "Tag::Operator")]
impl Internal {
    /// Charge a month
    ///
    /// Storage, traffic and pages that are not public, of every claimed account, as they stand now and whatever the
    /// balance. What has been charged for the month is not charged again. Without the operator's secret: 404.
    #[oai(path = "/internal/run-metering", method = "post", operation_id = "run_metering")]
    async fn run_metering(
        &self,
        _operator: Operator,
        body: JsonBody<Option<wire::RunMetering>>,
        service: Data<&Service>,
    ) -> ApiResult<Json<wire::Metered>, Meter> {
        let month = body.0.unwrap_or_default().read()?;
        Ok(Json(service.run_metering(month).await?.into()))
    }

    /// Purge what has expired
    ///
    /// Every provisional account past its `expires_at`, with its pages and what only they stored. Accounts that took
    /// real money are kept. Without the operator's secret: 404.
    #[oai(path = "/internal/run-cleanup", method = "post", operation_id = "run_cleanup")]
    async fn run_cleanup(
        &self,
        _operator: Operator,
        service: Data<&Service>,
    ) -> ApiResult<Json<wire::CleanedUp>, CleanUp> {
        Ok(Json(service.clean_up_at_once().await?.into()))
    }

    /// Count a view
    ///
    /// One view of an HTML page of this host, in the month's traffic of its account. Without the operator's secret: 404.
    #[oai(path = "/internal/views", method = "post", operation_id = "count_view")]
    async fn count_view(
        &self,
        _operator: Operator,
        body: JsonBody<wire::CountView>,
        service: Data<&Service>,
    ) -> ApiResult<Json<wire::ViewCounted>, View> {
        let host = body.read()?;
        service.count_view(&host).await?;
        Ok(Json(host.into()))
    }
    /// Give or take credit
    ///
    /// A ledger entry of its own kind, which is no payment. It stands in the audit trail with the operator's name and the
    /// reason. The balance may go below zero. Without the operator's secret: 404.
    #[oai(path = "/internal/credit", method = "post", operation_id = "grant_credit")]
    async fn grant_credit(
        &self,
        _operator: Operator,
        /// Which operator gives or takes the credit.
        #[oai(name = "X-Operator")]
        who: Header<DecidedBy>,
        request: &Request,
        body: JsonBody<wire::GrantCredit>,
        service: Data<&Service>,
    ) -> ApiResult<Json<wire::CreditGranted>, Grant> {
        let grant = body.0.read()?;
        let origin = Origin { via: Via::Operator, address: Some(client_of(request)) };
        Ok(Json((&service.grant_credit(&who.0.0, origin, grant).await?).into()))
    }
}
