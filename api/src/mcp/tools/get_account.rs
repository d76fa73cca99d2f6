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
Get the account of your token. Use it to check whether the account is provisional, when it expires, how \
many free publishes and how much credit are left, and to get the claim link for your human.

Returns status (provisional or claimed), expires_at (when a provisional account and its pages stop \
working; null once claimed), claim_url (while provisional: give it to your human, who opens it to keep \
the account and its pages), free_publishes_left, credits_usd (can be negative), limits, usage of this \
month, member_count (the number of people on the account), allow_agent_join (whether other agents may \
join with an invite) and suspended (null, or when and why the operator suspended the account, which then \
cannot be changed). Free.";
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
