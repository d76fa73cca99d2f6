//! Inviting people and agents. A code is a credential: it must never reach a log.

use domain::{InviteTerms, Role};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::http::refusal::RefusedCall;
use crate::mcp::arguments::{self, Whole};
use crate::mcp::endpoint::McpExchange;
use crate::mcp::tool::{Effect, Tool};
use crate::wire;

pub struct CreateInvite;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    role: Option<InvitedRole>,
    max_uses: Option<Whole>,
    ttl_hours: Option<Whole>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum InvitedRole {
    Member,
    Admin,
}

impl From<InvitedRole> for Role {
    fn from(role: InvitedRole) -> Self {
        match role {
            InvitedRole::Member => Role::Member,
            InvitedRole::Admin => Role::Admin,
        }
    }
}

impl Tool for CreateInvite {
    const NAME: &'static str = "create_invite";
    const TITLE: &'static str = "Invite people and agents";
    const DESCRIPTION: &'static str = "\
Make an invite to this account, for people and for other agents. Use it when your human wants somebody, or another \
agent, to publish on the same account. The account must be claimed. Whoever joins publishes at the account's cost, so \
let your human decide whom to invite.

Returns {code, invite_url, role, max_uses, expires_at}. Give invite_url to a person, who opens it and signs in; give \
code to an agent, which sends it to POST /v1/account/join as {\"code\": …} and gets a token of its own. Every join \
spends one use. Free. Both are secrets: hand them to those who are invited only. Needs the scope account:manage.";
    const EFFECT: Effect = Effect::Adds;

    type Arguments = Arguments;
    type Answer = wire::CreatedInvite;

    fn schema() -> Value {
        let properties = json!({
            "role": {
                "type": "string",
                "enum": ["member", "admin"],
                "default": "member",
                "description": "What a person becomes who joins: a member publishes, an admin also invites and \
                                removes others. An agent that joins may publish and read, whatever the role.",
            },
            "max_uses": {
                "type": "integer",
                "minimum": 1,
                "maximum": InviteTerms::USES_MAX,
                "default": InviteTerms::USES,
                "description": "How many may join by it, people and agents together.",
            },
            "ttl_hours": {
                "type": "integer",
                "minimum": 1,
                "maximum": InviteTerms::TTL_HOURS_MAX,
                "default": InviteTerms::TTL_HOURS,
                "description": "For how many hours it can be used.",
            },
        });
        arguments::object(properties, &[])
    }

    async fn run(visit: &McpExchange, arguments: Arguments) -> Result<Self::Answer, RefusedCall> {
        let Arguments { role, max_uses, ttl_hours } = arguments;
        let terms = InviteTerms::new(
            role.map(Role::from),
            max_uses.map(|given| given.0),
            ttl_hours.map(|given| given.0),
        )?;
        let invite = visit.service.invite(&visit.caller, terms).await?;
        Ok(wire::CreatedInvite::new(&invite, visit.service.addresses()))
    }
}
