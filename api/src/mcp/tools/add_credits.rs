//! Buys credit with a call. The amount paid and the amount credited must both be the argument.

use domain::Payment;
use serde::Deserialize;
use serde_json::{Value, json};
use service::CreditRequest;

use crate::http::refusal::RefusedCall;
use crate::mcp::arguments;
use crate::mcp::consent::Price;
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

/// The payment methods that settle within a call.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum PaymentScheme {
    Dev,
}

impl Tool for AddCredits {
    const NAME: &'static str = "add_credits";
    const TITLE: &'static str = "Buy credit";
    const DESCRIPTION: &'static str = "\
Buy credit, which pays for calls with a price. Use it after a payment_required refusal, or if your human \
asks for it. Tell your human the amount in US dollars first, and wait for a yes. Every call buys \
amount_usd again. dev moves no real money. Returns {credits_usd, receipt}. Then repeat the refused call. \
After the free allowance a publish costs {publish_price} USD. Needs the scope account:manage.";
    const EFFECT: Effect = Effect::Adds;

    type Arguments = Arguments;
    type Output = wire::CreditBought;

    fn schema() -> Value {
        let properties = json!({
            "amount_usd": {
                "type": "number",
                "minimum": wire::CreditPurchase::USD_MIN,
                "maximum": wire::CreditPurchase::USD_MAX,
                "description": "The amount in US dollars that your human agreed to, with at most six decimals.",
            },
            "payment_scheme": {
                "type": "string",
                "enum": ["dev"],
                "description": "The payment method. dev settles at once and moves no real money.",
            },
        });
        arguments::object(properties, &["amount_usd", "payment_scheme"])
    }

    async fn price(exchange: &McpExchange, arguments: &Arguments) -> Result<Option<Price>, RefusedCall> {
        exchange.dev_payment.demand()?;
        let amount = arguments.amount_usd.0;
        let question = format!("Buy credit for {amount} USD?");
        Ok(Some(Price { amount, reason: "credits", question }))
    }

    async fn run(exchange: &McpExchange, arguments: Arguments) -> Result<Self::Output, RefusedCall> {
        exchange.dev_payment.demand()?;
        let amount = arguments.amount_usd.0;
        let request = CreditRequest { amount, payment: Some(Payment::Dev(amount)), idempotency_key: None };
        Ok(wire::CreditBought::from(&exchange.service.buy_credit(&exchange.caller, request).await?))
    }
}
