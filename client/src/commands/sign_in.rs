//! How a token gets into the profile: `signup`, `join` and `login`. The profile is prepared before the token
//! is requested, because a lost token cannot be recovered.

use std::io::{self, IsTerminal};

use domain::TokenSecret;
use serde_json::json;

use super::device;
use crate::command::Login;
use crate::context::Context;
use crate::echo::read_secret;
use crate::failure::{Failure, INSUFFICIENT_SCOPE};
use crate::profile::{Draft, Profile};
use crate::reply::Reply;
use crate::request::Request;
use crate::server::shown;
use crate::show::{facts, when};
use crate::wire::{AccountDetail, Joined, SignUp};

pub async fn signup(context: &Context) -> Result<(), Failure> {
    let url = context.target()?.url;
    let draft = context.prepare_for_token().await?;
    let reply = context.server_for(&url, None)?.call(&Request::make("/v1/signup")).await?;
    let signed_up: SignUp = reply.read()?;
    save(draft, shown(&url), &signed_up.token)?;
    let now = context.clock.now();
    context.console.print_reply(&reply, |signed_up: SignUp| {
        let mut rows = vec![("account", signed_up.account.handle), ("status", signed_up.account.status)];
        rows.extend(signed_up.account.expires_at.map(|moment| ("expires", when(&moment, now))));
        rows.push(("free publishes", signed_up.limits.free_publishes.to_string()));
        rows.push(("claim link", signed_up.claim_url));
        facts(rows)
    })?;
    print_location(context)?;
    context
        .console
        .note("A person can open the claim link to save the account. Publish with `handbill publish PATH`.");
    Ok(())
}

pub async fn join(context: &Context, code: Option<String>) -> Result<(), Failure> {
    let url = context.target()?.url;
    let draft = context.prepare_for_token().await?;
    let code = match code {
        Some(code) => code,
        None => read_secret(&context.console, "Invite code: ").await?,
    };
    if code.is_empty() {
        let hint = "pass the code on standard input, or type it at the prompt";
        return Err(Failure::usage("the invite code is missing", hint));
    }
    let request = Request::make("/v1/account/join").json(json!({ "code": code }));
    let reply = context.server_for(&url, None)?.call(&request).await?;
    let joined: Joined = reply.read()?;
    save(draft, shown(&url), &joined.token)?;
    context.console.print_reply(&reply, |joined: Joined| {
        facts([("account", joined.account.handle), ("scopes", joined.scopes)])
    })?;
    print_location(context)
}

/// Signs in with a browser. With a token on standard input, saves that instead, as scripts do.
pub async fn login(context: &Context, login: Login) -> Result<(), Failure> {
    let has_token = login.with_token || (!login.no_browser && !io::stdin().is_terminal());
    if has_token { save_token(context).await } else { device::sign_in(context, login).await }
}

/// Saves a token that the server accepts, even one that may not read its account.
async fn save_token(context: &Context) -> Result<(), Failure> {
    let url = context.target()?.url;
    let draft = context.prepare_for_token().await?;
    let token = read_secret(&context.console, &format!("Token for {}: ", shown(&url))).await?;
    let token: TokenSecret = token.parse().map_err(|()| {
        Failure::signed_out(
            "this is not a token",
            "a token is svc_sk_ followed by 32 letters and digits; pass it on standard input",
        )
    })?;
    let fetched = context.server_for(&url, Some(token.clone()))?.get("/v1/account").await;
    match fetched {
        Ok(reply) => {
            save(draft, shown(&url), &token.reveal())?;
            context.console.print_reply(&reply, |detail: AccountDetail| {
                facts([("account", detail.account.handle), ("status", detail.account.status)])
            })?;
        }
        Err(failure) if failure.api_error.code == INSUFFICIENT_SCOPE => {
            save(draft, shown(&url), &token.reveal())?;
            context.console.print_result(&json!({ "account": null }), || {
                "The token cannot read its account.".to_owned()
            });
        }
        Err(failure) => return Err(failure),
    }
    print_location(context)
}

pub async fn whoami(context: &Context) -> Result<(), Failure> {
    let target = context.target()?;
    let (url, token_from) = (shown(&target.url).to_owned(), target.token_from.clone());
    let reply: Reply = context.server_of(target)?.get("/v1/account").await?;
    let account = reply.json()?;
    let detail: AccountDetail = reply.read()?;
    let profile = context.options.profile.to_string();
    let json =
        json!({ "url": url, "profile": profile, "token_from": token_from, "account": account["account"] });
    let (handle, status) = (detail.account.handle, detail.account.status);
    context.console.print_result(&json, || {
        facts([("account", handle), ("status", status), ("server", url), ("token from", token_from)])
    });
    Ok(())
}

fn save(draft: Draft, url: &str, token: &str) -> Result<(), Failure> {
    let token = token.parse().map_err(|()| {
        Failure::unreachable(
            "the server returned a malformed token",
            "check that --url points to a Handbill server",
        )
    })?;
    draft.save(Profile { url: Some(url.to_owned()), token: Some(token), renewal: None })
}

pub(super) fn print_location(context: &Context) -> Result<(), Failure> {
    let file = context.profile_file()?;
    context.console.note(&format!("Saved the token to {}, readable only by you.", file.path().display()));
    Ok(())
}
