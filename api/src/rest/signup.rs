//! Signing up, the one call that needs no token and makes one. The token is shown in the answer and must never be
//! shown or logged anywhere else.

use poem::web::Data;
use poem_openapi::OpenApi;
use service::Service;

use super::Tag;
use crate::http::api_result::{ApiResult, Created, refusals};
use crate::http::client_ip::ClientIp;
use crate::wire;

#[derive(Default)]
pub struct SignUp;

refusals! {
    NewAccount: RateLimited;
}

#[OpenApi(tag = "Tag::Account")]
impl SignUp {
    /// Make a provisional account and get its token
    ///
    /// Needs nothing: no body, no token, no person. The token is shown once, so keep it. The account expires at
    /// `expires_at` unless a person opens `claim_url` before; the token keeps working after that.
    #[oai(path = "/v1/signup", method = "post", operation_id = "sign_up")]
    async fn sign_up(
        &self,
        from: ClientIp,
        service: Data<&Service>,
    ) -> ApiResult<Created<wire::SignUp>, NewAccount> {
        let signed_up = service.sign_up(from.0).await?;
        let made = wire::SignUp::new(signed_up, service.tariff());
        Ok(Created::at(made, service.addresses(), "/v1/account"))
    }
}
