//! Returns the account.

use serde_json::Value;

use super::NoArguments;
use crate::http::refusal::RefusedCall;
use crate::mcp::arguments;
use crate::mcp::endpoint::McpExchange;
use crate::mcp::tool::{Effect, Tool};
use crate::wire;

pub struct GetAccount;

impl Tool for GetAccount {
    const NAME: &'static str = "get_account";
    const TITLE: &'static str = "Get the account";
    const DESCRIPTION: &'static str = "\
Get the account of your token. Use it to see what is left, and to get the claim link for your human. \
Returns status (provisional or claimed), expires_at and claim_url (null or absent once claimed), \
free_publishes_left, credits_usd, limits, usage, member_count, allow_agent_join and suspended. Free.";
    const EFFECT: Effect = Effect::Reads;

    type Arguments = NoArguments;
    type Output = wire::AccountWithMembers;

    fn schema() -> Value {
        arguments::none()
    }

    async fn run(exchange: &McpExchange, _arguments: NoArguments) -> Result<Self::Output, RefusedCall> {
        let McpExchange { service, caller, .. } = exchange;
        let summary = service.account(caller).await?;
        let claim_url = service.claim_url(caller, &summary.account);
        Ok(wire::AccountWithMembers {
            account: wire::AccountDetail::new(&summary, service.tariff(), claim_url),
            member_count: service.member_count(caller).await?,
        })
    }
}
