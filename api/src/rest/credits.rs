//! Buys credit with an API call. The amount paid and the amount credited must both be the body's
//! `amount_usd`.

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
    /// The payment is settled and the credit added.
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
    /// Adds prepaid credit, from which later calls are paid. Without `X-PAYMENT` the call returns 402 with
    /// the amount. Tell your human the amount, then repeat the identical request with `X-PAYMENT`, which must
    /// equal `amount_usd` exactly. Needs the scope `account:manage`.
    #[oai(path = "/v1/credits", method = "post", operation_id = "buy_credit")]
    async fn buy(
        &self,
        caller: Token,
        /// Pays a 402. Use the value from the challenge's `instructions`, such as `dev:5`.
        #[oai(name = "X-PAYMENT")]
        payment: Header<PaymentOffer>,
        /// Makes a retry safe. For 24 hours the same key with the same request returns the same response, and
        /// credits once.
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
