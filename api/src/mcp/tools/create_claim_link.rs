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
Replace the claim link of a provisional account. The old link stops working. Use it only if that link \
was lost or shown to the wrong person; otherwise give your human the claim_url of get_account. Returns \
{claim_url, expires_at}. The person who opens it before then owns the account and keeps its pages. Free. \
Needs the scope account:manage.";
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
