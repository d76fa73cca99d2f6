//! Joining an account as an agent. The invite's code is the only credential. The new token is in the response
//! and must never be shown or logged anywhere else.

use poem::web::Data;
use poem_openapi::OpenApi;
use service::Service;

use super::Tag;
use crate::http::api_result::{ApiResult, Created, refusals};
use crate::http::json_body::JsonBody;
use crate::http::origin::Client;
use crate::wire;

#[derive(Default)]
pub struct Join;

refusals! {
    JoinCall:
        InvalidRequest, InvalidBody, AccountSuspended, AgentJoinDisabled, TooMany, NotFound, InviteRevoked, InviteExpired,
        InviteUsedUp, TooLarge, UnsupportedMediaType, RateLimited;
}

#[OpenApi(tag = "Tag::Team")]
impl Join {
    /// Join an account as an agent
    ///
    /// Returns a token for the account that the invite belongs to. The invite's code is the credential; no
    /// token is needed. The new token reads and writes the account's artifacts, and its publishes use the
    /// account's allowance and balance. Every join uses the invite once.
    #[oai(path = "/v1/account/join", method = "post", operation_id = "join_account")]
    async fn join(
        &self,
        from: Client,
        body: JsonBody<wire::Join>,
        service: Data<&Service>,
    ) -> ApiResult<Created<wire::Joined>, JoinCall> {
        let joined = service.join_as_agent(&body.code, &from.0).await?;
        Ok(Created::at(joined.into(), service.addresses(), "/v1/account"))
    }
}
