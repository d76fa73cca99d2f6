//! Buying credit with a call. What was paid and what is credited are one number, the body's: nothing here may add to
//! it.

use poem::web::Data;
use poem_openapi::payload::Json;
use poem_openapi::types::ToJSON;
use poem_openapi::{ApiResponse, OpenApi};
use service::{CreditRequest, Service};

use super::Tag;
use crate::http::api_result::{ApiResult, refusals};
use crate::http::call_header::{Header, IdempotencyKey, PaymentOffer};
use crate::http::caller::Token;
use crate::http::json_body::JsonBody;
use crate::wire;

#[derive(Default)]
pub struct Credits;

refusals! {
    Buy:
        InvalidRequest, InvalidBody, Unauthorized, NotSignedIn, InsufficientScope, Forbidden, ForeignPage,
        AccountExpired, AccountSuspended, PaymentRequired, IdempotencyConflict, TooLarge, UnsupportedMediaType, OutcomeUnknown;
}

#[derive(ApiResponse)]
pub enum Bought {
    /// It is paid and credited.
    #[oai(status = 200)]
    Bought(
        Json<wire::CreditBought>,
        /// The receipt as compact JSON.
        #[oai(header = "X-PAYMENT-RESPONSE")]
        String,
    ),
}

#[OpenApi(tag = "Tag::Money")]
impl Credits {
    /// Buy credit
    ///
    /// Without a payment the answer is 402 with the amount. Tell your human the amount, then send the identical
    /// request with `X-PAYMENT`, which must equal `amount_usd` exactly. Calls that cost something then take their
    /// price from the credit. Needs the scope `account:manage`.
    #[oai(path = "/v1/credits", method = "post", operation_id = "buy_credit")]
    async fn buy(
        &self,
        caller: Token,
        /// Settles a 402: what the challenge's instructions say, such as `dev:5`.
        #[oai(name = "X-PAYMENT")]
        payment: Header<PaymentOffer>,
        /// The same key and request give the same answer for 24 hours, and are credited once.
        #[oai(name = "Idempotency-Key")]
        key: Header<IdempotencyKey>,
        body: JsonBody<wire::CreditPurchase>,
        service: Data<&Service>,
    ) -> ApiResult<Bought, Buy> {
        let (amount, payment) = (body.amount_usd.0, payment.0);
        let request = CreditRequest { amount, payment: payment.settling(), idempotency_key: key.0.0 };
        let bought =
            service.buy_credit(&caller.0, request).await.map_err(|failure| payment.explain(failure))?;
        let bought = wire::CreditBought::from(&bought);
        let receipt = bought.receipt.to_json_string();
        Ok(Bought::Bought(Json(bought), receipt))
    }
}
