//! Signup, the call that creates an account without a credential. The token is in the response and must never
//! be shown or logged anywhere else.

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
    /// Create a provisional account and get its token
    ///
    /// Needs no body and no credential. The token is shown only once, so store it. The account expires at
    /// `expires_at` unless a person opens `claim_url` before then. The token keeps working after the claim.
    #[oai(path = "/v1/signup", method = "post", operation_id = "sign_up")]
    async fn sign_up(
        &self,
        from: ClientIp,
        service: Data<&Service>,
    ) -> ApiResult<Created<wire::SignUp>, NewAccount> {
        let signed_up = service.sign_up(from.0).await?;
        let created = wire::SignUp::new(signed_up, service.tariff());
        Ok(Created::at(created, service.addresses(), "/v1/account"))
    }
}
