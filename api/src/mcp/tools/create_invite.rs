//! Invites people and agents. A code is a credential and must never be logged.

use domain::{InviteTerms, Role};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::http::refusal::RefusedCall;
use crate::mcp::arguments::{self, WholeNumber};
use crate::mcp::endpoint::McpExchange;
use crate::mcp::tool::{Effect, Tool};
use crate::wire;

pub struct CreateInvite;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    role: Option<InvitedRole>,
    max_uses: Option<WholeNumber>,
    ttl_hours: Option<WholeNumber>,
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
Invite people or agents to a claimed account. Use it if your human wants somebody else to publish here: \
all publishes are charged to the account. Returns {code, invite_url, role, max_uses, expires_at}. Give \
invite_url to a person. An agent sends code to POST /v1/account/join and gets a token. Both are secrets. \
Free. Needs the scope account:manage.";
    const EFFECT: Effect = Effect::Adds;

    type Arguments = Arguments;
    type Output = wire::CreatedInvite;

    fn schema() -> Value {
        let properties = json!({
            "role": {
                "type": "string",
                "enum": ["member", "admin"],
                "default": "member",
                "description": "The role of people who join: a member publishes, an admin also invites and removes \
                                others. Agents that join can publish and read, whatever the role.",
            },
            "max_uses": {
                "type": "integer",
                "minimum": 1,
                "maximum": InviteTerms::USES_MAX,
                "default": InviteTerms::USES,
                "description": "How many people and agents may join, in total.",
            },
            "ttl_hours": {
                "type": "integer",
                "minimum": 1,
                "maximum": InviteTerms::TTL_HOURS_MAX,
                "default": InviteTerms::TTL_HOURS,
                "description": "How many hours the invite is valid.",
            },
        });
        arguments::object(properties, &[])
    }

    async fn run(exchange: &McpExchange, arguments: Arguments) -> Result<Self::Output, RefusedCall> {
        let Arguments { role, max_uses, ttl_hours } = arguments;
        let terms = InviteTerms::new(
            role.map(Role::from),
            max_uses.map(|given| given.0),
            ttl_hours.map(|given| given.0),
        )?;
        let invite = exchange.service.invite(&exchange.caller, terms).await?;
        Ok(wire::CreatedInvite::new(&invite, exchange.service.addresses()))
    }
}
