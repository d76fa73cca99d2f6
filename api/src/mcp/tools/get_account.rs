//! Looking at the account.

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
    const TITLE: &'static str = "Look at the account";
    const DESCRIPTION: &'static str = "\
Look at the account that your token belongs to. Use it to learn whether it is provisional, how long it still lives, \
what is left of the free publishes, and what credit there is; and to get the claim link for your human.

Returns status (provisional or claimed), expires_at (when a provisional account and its pages stop working; null once \
claimed), claim_url (while provisional: give it to your human, opening it makes the account and its pages permanent), \
free_publishes_left, credits_usd (may be negative), limits, usage of this month, member_count (people on the account), \
allow_agent_join (whether other agents may join by an invite) and suspended (null, or since when and why the operator \
lets the account change nothing). Free.";
    const EFFECT: Effect = Effect::Reads;

    type Arguments = NoArguments;
    type Answer = wire::AccountWithMembers;

    fn schema() -> Value {
        arguments::none()
    }

    async fn run(visit: &McpExchange, _arguments: NoArguments) -> Result<Self::Answer, RefusedCall> {
        let McpExchange { service, caller, .. } = visit;
        let summary = service.account(caller).await?;
        let claim_url = service.claim_url(caller, &summary.account);
        Ok(wire::AccountWithMembers {
            account: wire::AccountDetail::new(&summary, service.tariff(), claim_url),
            member_count: service.member_count(caller).await?,
        })
    }
}
