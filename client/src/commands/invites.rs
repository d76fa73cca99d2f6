//! `handbill invites`.

use reqwest::Method;
use serde_json::{Map, Value, json};

use super::path_part;
use crate::command::{Create, InviteRole, Invites};
use crate::context::Context;
use crate::failure::Failure;
use crate::request::Request;
use crate::show::{Fit, facts, has_passed, table, when};
use crate::wire::{Invite, RevokedInvite};

pub async fn run(context: &Context, command: Option<Invites>) -> Result<(), Failure> {
    match command {
        None | Some(Invites::List) => list(context).await,
        Some(Invites::Create(terms)) => create(context, &terms).await,
        Some(Invites::Revoke { code }) => revoke(context, &code).await,
    }
}

async fn list(context: &Context) -> Result<(), Failure> {
    let reply = context.server()?.get("/v1/account/invites").await?;
    let now = context.clock.now();
    context.console.print_reply(&reply, |invites: Vec<Invite>| {
        let rows = invites.into_iter().map(|invite| {
            let state = match &invite.revoked_at {
                Some(revoked_at) => format!("revoked {}", when(revoked_at, now)),
                None if has_passed(&invite.expires_at, now) => {
                    format!("expired {}", when(&invite.expires_at, now))
                }
                None => format!("expires {}", when(&invite.expires_at, now)),
            };
            let uses = format!("{} of {}", invite.uses, invite.max_uses);
            [invite.code, invite.role, uses, state, invite.invite_url]
        });
        let fit = Fit { shortened: None, left_out: &["LINK", "ROLE", "USED"] };
        table(["CODE", "ROLE", "USED", "STATE", "LINK"], fit, rows, "No invites.")
    })
}

async fn create(context: &Context, terms: &Create) -> Result<(), Failure> {
    let role = terms.role.map(|role| match role {
        InviteRole::Member => "member",
        InviteRole::Admin => "admin",
    });
    let fields = [
        ("role", role.map(Value::from)),
        ("max_uses", terms.max_uses.map(Value::from)),
        ("ttl_hours", terms.ttl_hours.map(Value::from)),
    ];
    let fields = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    let body = json!(fields.collect::<Map<_, _>>());
    let reply = context.server()?.call(&Request::make("/v1/account/invites").json(body)).await?;
    let now = context.clock.now();
    context.console.print_reply(&reply, |invite: Invite| {
        facts([
            ("for people", invite.invite_url),
            ("for agents", format!("{}   (for `handbill join`)", invite.code)),
            ("role", invite.role),
            ("uses", invite.max_uses.to_string()),
            ("expires", when(&invite.expires_at, now)),
        ])
    })
}

async fn revoke(context: &Context, code: &str) -> Result<(), Failure> {
    let request = Request::set(Method::DELETE, format!("/v1/account/invites/{}", path_part(code)?));
    let reply = context.server()?.call(&request).await?;
    context.console.print_reply(&reply, |revoked: RevokedInvite| format!("Revoked {}", revoked.code))
}
