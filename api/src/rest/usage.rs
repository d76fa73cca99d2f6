//! The account's usage of the month. Reading it must never charge.

use poem::web::Data;
use poem_openapi::OpenApi;
use poem_openapi::payload::Json;
use service::Service;

use super::Tag;
use crate::http::api_result::{ApiResult, refusals};
use crate::http::caller::Token;
use crate::wire;

#[derive(Default)]
pub struct Usage;

refusals! {
    Read: Unauthorized, NotSignedIn, InsufficientScope, Forbidden;
}

#[OpenApi(tag = "Tag::Account")]
impl Usage {
    /// Get this month's usage
    ///
    /// Returns publishes, storage, page views, and unlisted and private pages of the current UTC month, with
    /// their estimated cost. Needs the scope `artifacts:read`.
    #[oai(path = "/v1/usage", method = "get", operation_id = "get_usage")]
    async fn usage(&self, caller: Token, service: Data<&Service>) -> ApiResult<Json<wire::Usage>, Read> {
        let summary = service.account(&caller.0).await?;
        Ok(Json(wire::Usage::new(&summary, service.tariff())))
    }
}
