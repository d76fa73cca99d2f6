//! Operator calls that run scheduled work at once or correct figures. They are not for agents. Metering, the
//! cleanup and a grant with an id must be safe to repeat.

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
    /// Charges every claimed account for its current storage, traffic, and unlisted and private pages, even
    /// if the balance becomes negative. Nothing is charged twice for the same month. Returns 404 without the
    /// operator's secret.
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

    /// Purge expired accounts
    ///
    /// Deletes every provisional account past its `expires_at`, with its pages and the files that only those
    /// pages use. Accounts that paid real money are kept. Returns 404 without the operator's secret.
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
    /// Adds one page view of this host to its account's traffic of the month. Returns 404 without the
    /// operator's secret.
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
    /// Grant or deduct credit
    ///
    /// Writes a ledger entry with an `operator-credit` reason, which does not count as a payment. The audit
    /// log records it with the operator's name and the reason. The balance may become negative. Returns 404
    /// without the operator's secret.
    #[oai(path = "/internal/credit", method = "post", operation_id = "grant_credit")]
    async fn grant_credit(
        &self,
        _operator: Operator,
        /// The operator who grants or deducts the credit.
        #[oai(name = "X-Operator")]
        decided_by: Header<DecidedBy>,
        request: &Request,
        body: JsonBody<wire::GrantCredit>,
        service: Data<&Service>,
    ) -> ApiResult<Json<wire::CreditGranted>, Grant> {
        let grant = body.0.read()?;
        let origin = Origin { via: Via::Operator, address: Some(client_of(request)) };
        Ok(Json((&service.grant_credit(&decided_by.0.0, origin, grant).await?).into()))
    }
}
