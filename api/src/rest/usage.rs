//! What the account used this month and what that will cost. It only shows: looking must never charge.

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
    /// See what was used this month
    ///
    /// Publishes, storage, page views and private pages of the UTC month, with what they will cost. Needs the scope
    /// `artifacts:read`.
    #[oai(path = "/v1/usage", method = "get", operation_id = "get_usage")]
    async fn usage(&self, caller: Token, service: Data<&Service>) -> ApiResult<Json<wire::Usage>, Read> {
        let summary = service.account(&caller.0).await?;
        Ok(Json(wire::Usage::new(&summary, service.tariff())))
    }
}
