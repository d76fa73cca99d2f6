//! Making a new claim link.

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
    const TITLE: &'static str = "Make a new claim link";
    const DESCRIPTION: &'static str = "\
Make a new claim link for a provisional account, in place of the old one, which then leads nowhere. Use it when the \
old link was lost or shown to the wrong person; otherwise take claim_url of get_account, which changes nothing.

Returns {claim_url, expires_at}. Give claim_url to your human and tell them to open it before expires_at: whoever \
opens it and signs in owns the account, which with its pages is then permanent and has free publishes every month. \
Free. Your token keeps working after that. A claimed account is refused with already_claimed. Needs the scope \
account:manage.";
    const EFFECT: Effect = Effect::Replaces;

    type Arguments = NoArguments;
    type Answer = wire::ClaimLink;

    fn schema() -> Value {
        arguments::none()
    }

    async fn run(visit: &McpExchange, _arguments: NoArguments) -> Result<Self::Answer, RefusedCall> {
        Ok(visit.service.rotate_claim_link(&visit.caller).await?.into())
    }
}
