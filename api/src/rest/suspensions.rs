//! The suspension of accounts, for the operator's programs. People suspend an account from a page in the
//! review queue.

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
use crate::http::path_part::{AccountName, Path};
use crate::wire;

#[derive(Default)]
pub struct Suspensions;

refusals! {
    Suspend: InvalidRequest, InvalidBody, NotFound, TooLarge, UnsupportedMediaType;
    Lift: InvalidRequest, NotFound;
}

#[OpenApi(tag = "Tag::Operator")]
impl Suspensions {
    /// Suspend an account
    ///
    /// Every write of the account returns 403 `account_suspended`, nobody can claim or join it, and its pages
    /// return 451. Its members and agents can still read everything, including the reason. A card payment
    /// that was already made is still credited. The audit log records the suspension with the operator's
    /// name. Suspending a suspended account replaces the reason. Returns 404 without the operator's secret.
    #[oai(path = "/internal/accounts/:handle/suspend", method = "post", operation_id = "suspend_account")]
    async fn suspend(
        &self,
        _operator: Operator,
        /// The operator who suspends the account.
        #[oai(name = "X-Operator")]
        decided_by: Header<DecidedBy>,
        /// The account's handle or id.
        handle: Path<AccountName>,
        request: &Request,
        body: JsonBody<wire::SuspendAccount>,
        service: Data<&Service>,
    ) -> ApiResult<Json<wire::AccountSuspension>, Suspend> {
        let reason = body.read()?;
        let set = service.suspend(&decided_by.0.0, origin_of(request), &handle.0.0, reason).await?;
        Ok(Json((&set).into()))
    }

    /// Lift the suspension of an account
    ///
    /// Restores the account as it was before. Nothing changes for an account that is not suspended. Returns
    /// 404 without the operator's secret.
    #[oai(path = "/internal/accounts/:handle/lift", method = "post", operation_id = "lift_suspension")]
    async fn lift(
        &self,
        _operator: Operator,
        /// The operator who lifts the suspension.
        #[oai(name = "X-Operator")]
        decided_by: Header<DecidedBy>,
        /// The account's handle or id.
        handle: Path<AccountName>,
        request: &Request,
        service: Data<&Service>,
    ) -> ApiResult<Json<wire::AccountSuspension>, Lift> {
        let set = service.lift_suspension(&decided_by.0.0, origin_of(request), &handle.0.0).await?;
        Ok(Json((&set).into()))
    }
}

fn origin_of(request: &Request) -> Origin {
    Origin { via: Via::Operator, address: Some(client_of(request)) }
}
