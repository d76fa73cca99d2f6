//! The caller's account. A token must never show another account.

use poem::web::Data;
use poem_openapi::OpenApi;
use poem_openapi::payload::Json;
use service::Service;

use super::Tag;
use crate::http::api_result::{ApiResult, refusals};
use crate::http::caller::{Token, TokenOrSession};
use crate::http::json_body::JsonBody;
use crate::wire;

#[derive(Default)]
pub struct Account;

refusals! {
    Read: Unauthorized, NotSignedIn, InsufficientScope, Forbidden;
    Change:
        InvalidRequest, InvalidBody, Unauthorized, NotSignedIn, InsufficientScope, Forbidden, ForeignPage,
        AccountExpired, AccountSuspended, TooLarge, UnsupportedMediaType;
    Rotate:
        Unauthorized, NotSignedIn, InsufficientScope, Forbidden, ForeignPage, AccountExpired, AccountSuspended, AlreadyClaimed;
}

#[OpenApi(tag = "Tag::Account")]
impl Account {
    /// Get the account
    ///
    /// Returns the caller's account: its status, expiry, limits, balance and remaining free publishes, and
    /// `claim_url` while it is provisional. Needs the scope `artifacts:read`.
    #[oai(path = "/v1/account", method = "get", operation_id = "get_account")]
    async fn account(
        &self,
        caller: Token,
        service: Data<&Service>,
    ) -> ApiResult<Json<wire::AccountDetail>, Read> {
        let summary = service.account(&caller.0).await?;
        let claim_url = service.claim_url(&caller.0, &summary.account);
        Ok(Json(wire::AccountDetail::new(&summary, service.tariff(), claim_url)))
    }

    /// Change the account's settings
    ///
    /// Give at least one setting. `name` names the account; people see it beside the handle.
    /// `allow_agent_join` allows or disallows agents to join. `versions_kept` and
    /// `versions_days` say which versions of the account's artifacts are kept; `null` turns a setting off.
    /// See `PATCH /v1/artifacts/{slug}` for their meaning. Returns the updated account. Needs the owner's
    /// session, or the scope `account:manage`.
    #[oai(path = "/v1/account", method = "patch", operation_id = "change_account")]
    async fn change(
        &self,
        caller: TokenOrSession,
        body: JsonBody<wire::ChangeAccount>,
        service: Data<&Service>,
    ) -> ApiResult<Json<wire::AccountDetail>, Change> {
        let summary = service.change_account(&caller.0, body.read()?).await?;
        let claim_url = service.claim_url(&caller.0, &summary.account);
        Ok(Json(wire::AccountDetail::new(&summary, service.tariff(), claim_url)))
    }

    /// Create a new claim link
    ///
    /// Replaces the claim link of a provisional account. The old link stops working. Needs the scope
    /// `account:manage`.
    #[oai(path = "/v1/account/claim-link", method = "post", operation_id = "create_claim_link")]
    async fn rotate_claim_link(
        &self,
        caller: Token,
        service: Data<&Service>,
    ) -> ApiResult<Json<wire::ClaimLink>, Rotate> {
        Ok(Json(service.rotate_claim_link(&caller.0).await?.into()))
    }
}
