//! Buying credit with a call. What is paid and what is credited are one number, the argument's.

use domain::Payment;
use serde::Deserialize;
use serde_json::{Value, json};
use service::CreditRequest;

use crate::http::refusal::RefusedCall;
use crate::mcp::arguments;
use crate::mcp::endpoint::McpExchange;
use crate::mcp::tool::{Effect, Tool};
use crate::wire;

pub struct AddCredits;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    amount_usd: wire::Purchasable,
    #[serde(rename = "payment_scheme")]
    _payment_scheme: PaymentScheme,
}

/// The rails that settle within a call.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum PaymentScheme {
    Dev,
}

impl Tool for AddCredits {
    const NAME: &'static str = "add_credits";
    const TITLE: &'static str = "Buy credit";
    const DESCRIPTION: &'static str = "\
Buy credit for the account, from which calls that cost something are paid. Use it only after a call was refused with \
payment_required, or when your human asks for it. Say the amount in US dollars to your human first, and call this only \
when they have agreed.

Each call buys amount_usd once more: do not repeat it to be sure, look at credits_usd of get_account instead. The \
scheme dev settles at once and moves no real money; where it is switched off the call is refused with \
payment_required, and the hint says how else the account comes by credit.

Returns {credits_usd, receipt: {rail, amount_usd, id, settled_at}}. Next: make the refused call again, unchanged; a \
publish past the free allowance costs {publish_price} USD. Needs the scope account:manage.";
    const EFFECT: Effect = Effect::Adds;

    type Arguments = Arguments;
    type Answer = wire::CreditBought;

    fn schema() -> Value {
        let properties = json!({
            "amount_usd": {
                "type": "number",
                "minimum": wire::CreditPurchase::USD_MIN,
                "maximum": wire::CreditPurchase::USD_MAX,
                "description": "US dollars to buy, with at most six decimals; the amount that your human agreed to.",
            },
            "payment_scheme": {
                "type": "string",
                "enum": ["dev"],
                "description": "The rail that pays: dev settles at once and moves no real money.",
            },
        });
        arguments::object(properties, &["amount_usd", "payment_scheme"])
    }

    async fn run(visit: &McpExchange, arguments: Arguments) -> Result<Self::Answer, RefusedCall> {
        visit.dev_payment.demand()?;
        let amount = arguments.amount_usd.0;
        let request = CreditRequest { amount, payment: Some(Payment::Dev(amount)), idempotency_key: None };
        Ok(wire::CreditBought::from(&visit.service.buy_credit(&visit.caller, request).await?))
    }
}
