//! Opens a checkout at the card processor. It must never report that credit was added: only the processor's
//! webhook confirms a payment.

use poem::Request;
use poem::web::Data;
use poem_openapi::OpenApi;
use poem_openapi::payload::Json;
use service::Service;

use super::Tag;
use crate::http::api_result::{ApiResult, refusals};
use crate::http::caller::{InPerson, named_account};
use crate::http::json_body::JsonBody;
use crate::wire;

#[derive(Default)]
pub struct Checkout;

refusals! {
    Open:
        InvalidRequest, InvalidBody, NotSignedIn, SessionRequired, Forbidden, ForeignPage, AccountExpired, AccountSuspended,
        TooLarge, UnsupportedMediaType, NotConfigured, ProcessorError;
}

#[OpenApi(tag = "Tag::Money")]
impl Checkout {
    /// Buy credit by card
    ///
    /// For the owner of an account, with a session. Agents use `POST /v1/credits`. Open `url` to pay. The
    /// credit is added when the card processor confirms the payment, which can be after the browser returns.
    #[oai(path = "/v1/credits/checkout", method = "post", operation_id = "open_checkout")]
    async fn open(
        &self,
        person: InPerson,
        body: JsonBody<wire::OpenCheckout>,
        request: &Request,
        service: Data<&Service>,
    ) -> ApiResult<Json<wire::Checkout>, Open> {
        let amount = body.read()?;
        Ok(Json(service.open_checkout(&person.0, named_account(request), amount, None).await?.into()))
    }
}
