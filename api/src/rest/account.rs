//! The account of the caller. A token shows its own account and never another's.

use poem::web::Data;
use poem_openapi::OpenApi;
use poem_openapi::payload::Json;
use service::Service;

use super::Tag;
use crate::answer::{Answer, refusals};
use crate::caller::Token;
use crate::wire;

#[derive(Default)]
pub struct Account;

refusals! {
    Read: 401, 403;
}

#[OpenApi(tag = "Tag::Account")]
impl Account {
    /// Look at the account
    ///
    /// Its status and expiry, its limits, its balance, what is left of the free publishes, and the claim URL while it
    /// is provisional. Needs the scope `artifacts:read`.
    #[oai(path = "/v1/account", method = "get", operation_id = "get_account")]
    async fn account(
        &self,
        caller: Token,
        service: Data<&Service>,
    ) -> Answer<Json<wire::AccountDetail>, Read> {
        let summary = service.account(&caller.0).await?;
        Ok(Json(wire::AccountDetail::new(&summary, service.tariff(), service.addresses())))
    }
}
