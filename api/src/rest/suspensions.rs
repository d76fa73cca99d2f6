//! The suspension of accounts, for the operator's programs. People have the same beside a page in the moderators' queue.

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
    /// From now on every write of the account is refused with 403 `account_suspended`, nobody can claim or join it, and its
    /// pages answer 451. Its people and agents can still read what it has, and the reason. A payment by card that was made
    /// before is still credited. The audit trail records it with the operator's name. Suspending a suspended account
    /// replaces the reason. Without the operator's secret: 404.
    #[oai(path = "/internal/accounts/:handle/suspend", method = "post", operation_id = "suspend_account")]
    async fn suspend(
        &self,
        _operator: Operator,
        /// Which operator suspends the account.
        #[oai(name = "X-Operator")]
        who: Header<DecidedBy>,
        /// The account's handle or id.
        handle: Path<AccountName>,
        request: &Request,
        body: JsonBody<wire::SuspendAccount>,
        service: Data<&Service>,
    ) -> ApiResult<Json<wire::AccountSuspension>, Suspend> {
        let reason = body.read()?;
        let set = service.suspend(&who.0.0, origin_of(request), &handle.0.0, reason).await?;
        Ok(Json((&set).into()))
    }

    /// Lift the suspension of an account
    ///
    /// Everything is as it was before the suspension. For an account that is not suspended nothing changes. Without the
    /// operator's secret: 404.
    #[oai(path = "/internal/accounts/:handle/lift", method = "post", operation_id = "lift_suspension")]
    async fn lift(
        &self,
        _operator: Operator,
        /// Which operator lifts the suspension.
        #[oai(name = "X-Operator")]
        who: Header<DecidedBy>,
        /// The account's handle or id.
        handle: Path<AccountName>,
        request: &Request,
        service: Data<&Service>,
    ) -> ApiResult<Json<wire::AccountSuspension>, Lift> {
        let set = service.lift_suspension(&who.0.0, origin_of(request), &handle.0.0).await?;
        Ok(Json((&set).into()))
    }
}

fn origin_of(request: &Request) -> Origin {
    Origin { via: Via::Operator, address: Some(client_of(request)) }
}
