//! `handbill members`.

use reqwest::Method;

use super::{confirm, path_part};
use crate::command::Members;
use crate::context::Context;
use crate::failure::Failure;
use crate::request::Request;
use crate::show::{Fit, count, paragraph, table, when, when_ever};
use crate::wire::{RemovedMember, Team};

const MEMBERS: &str = "/v1/account/members";

pub async fn run(context: &Context, command: Option<Members>) -> Result<(), Failure> {
    match command {
        None | Some(Members::List) => list(context).await,
        Some(Members::Remove { who }) => remove(context, &who).await,
    }
}

async fn list(context: &Context) -> Result<(), Failure> {
    let reply = context.server()?.get(MEMBERS).await?;
    let now = context.clock.now();
    context.console.print_reply(&reply, |team: Team| {
        let members = team.members.into_iter().map(|member| {
            let joined = when(&member.joined_at, now);
            [member.username, member.role, joined, member.user_id]
        });
        let tokens = team.tokens.into_iter().map(|token| {
            let used = when_ever(token.last_used_at.as_deref(), now);
            [token.name, token.scopes, used, token.id]
        });
        let unclaimed = paragraph("No members: the account is not claimed yet.");
        let fit = Fit { shortened: None, left_out: &["JOINED", "ROLE"] };
        let members = table(["PERSON", "ROLE", "JOINED", "ID"], fit, members, &unclaimed);
        let fit = Fit { shortened: Some("SCOPES"), left_out: &["SCOPES", "USED"] };
        let tokens = table(["TOKEN", "SCOPES", "USED", "ID"], fit, tokens, "No active tokens.");
        format!("{members}\n\n{tokens}")
    })
}

async fn remove(context: &Context, who: &str) -> Result<(), Failure> {
    let server = context.server()?;
    let team: Team = server.get(MEMBERS).await?.read()?;
    let member = team.members.into_iter().find(|member| member.user_id == who || member.username == who);
    // The server refuses a person who is not a member.
    let (user_id, name) = match member {
        Some(member) => (member.user_id, member.username),
        None => (path_part(who)?.to_owned(), who.to_owned()),
    };
    confirm(context, &format!("Remove {name}? The tokens that they created stop working.")).await?;
    let reply = server.call(&Request::set(Method::DELETE, format!("{MEMBERS}/{user_id}"))).await?;
    context.console.print_reply(&reply, |removed: RemovedMember| {
        let tokens = count(removed.tokens_revoked, "token", "tokens");
        format!("Removed {name} ({}), {tokens} revoked.", removed.user_id)
    })
}
