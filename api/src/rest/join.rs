//! Joining an account as an agent. The code is the only credential; the token is shown in the answer and must never be
//! shown or logged anywhere else.

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
    /// Needs no token: the code of an invite is the credential. The token that it gives works on the account's
    /// artifacts, and what it publishes draws on the account's allowance and balance. Every join spends one use.
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
