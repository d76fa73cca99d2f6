//! Creates a new claim link.

use serde_json::Value;

use super::NoArguments;
use crate::http::refusal::RefusedCall;
use crate::mcp::arguments;
use crate::mcp::endpoint::McpExchange;
use crate::mcp::tool::{Effect, Tool};
use crate::wire;

pub struct CreateClaimLink;

impl Tool for CreateClaimLink {
    const NAME: &'static str = "create_claim_link";
    const TITLE: &'static str = "Create a new claim link";
    const DESCRIPTION: &'static str = "\
Create a new claim link for a provisional account. The old link stops working. Use it if the old link was \
lost or shown to the wrong person; otherwise use the claim_url of get_account, which changes nothing.

Returns {claim_url, expires_at}. Give claim_url to your human and tell them to open it before expires_at. \
The person who opens it and signs in becomes the owner of the account. The account and its pages are then \
permanent, with free publishes every month, and your token keeps working. Free. A claimed account is \
refused with already_claimed. Needs the scope account:manage.";
    const EFFECT: Effect = Effect::Replaces;

    type Arguments = NoArguments;
    type Output = wire::ClaimLink;

    fn schema() -> Value {
        arguments::none()
    }

    async fn run(exchange: &McpExchange, _arguments: NoArguments) -> Result<Self::Output, RefusedCall> {
        Ok(exchange.service.rotate_claim_link(&exchange.caller).await?.into())
    }
}
