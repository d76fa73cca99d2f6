//! How a token comes into the profile: `signup`, `join` and `login`. Where it is to be kept is made ready before it is
//! asked for, since a token that is lost cannot be had again.

use domain::TokenSecret;
use serde_json::json;

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
    let url = context.standing()?.url;
    let draft = context.make_room_for_token().await?;
    let reply = context.server_for(&url, None)?.call(&Request::make("/v1/signup")).await?;
    let signed_up: SignUp = reply.read()?;
    keep(draft, shown(&url), &signed_up.token)?;
    let now = context.clock.now();
    context.console.answer(&reply, |signed_up: SignUp| {
        let mut rows = vec![("account", signed_up.account.handle), ("status", signed_up.account.status)];
        rows.extend(signed_up.account.expires_at.map(|moment| ("expires", when(&moment, now))));
        rows.push(("free publishes", signed_up.limits.free_publishes.to_string()));
        rows.push(("claim link", signed_up.claim_url));
        facts(rows)
    })?;
    tell_where_it_is(context)?;
    context.console.note(
        "a person who opens the claim link makes the account permanent; `handbill publish PATH` publishes",
    );
    Ok(())
}

pub async fn join(context: &Context, code: Option<String>) -> Result<(), Failure> {
    let url = context.standing()?.url;
    let draft = context.make_room_for_token().await?;
    let code = match code {
        Some(code) => code,
        None => read_secret(&context.console, "Code of the invite: ").await?,
    };
    if code.is_empty() {
        let hint = "give the code on standard input, or type it where it is asked for";
        return Err(Failure::usage("there is no code of an invite", hint));
    }
    let request = Request::make("/v1/account/join").json(json!({ "code": code }));
    let reply = context.server_for(&url, None)?.call(&request).await?;
    let joined: Joined = reply.read()?;
    keep(draft, shown(&url), &joined.token)?;
    context.console.answer(&reply, |joined: Joined| {
        facts([("account", joined.account.handle), ("scopes", joined.scopes)])
    })?;
    tell_where_it_is(context)
}

/// A token is taken when the server knows it, also one that may not look at its account.
pub async fn login(context: &Context) -> Result<(), Failure> {
    let url = context.standing()?.url;
    let draft = context.make_room_for_token().await?;
    let token = read_secret(&context.console, &format!("Token for {}: ", shown(&url))).await?;
    let token: TokenSecret = token.parse().map_err(|()| {
        Failure::signed_out(
            "this is no token",
            "a token is svc_sk_ and 32 letters and digits; give it on standard input",
        )
    })?;
    let looked = context.server_for(&url, Some(token.clone()))?.get("/v1/account").await;
    match looked {
        Ok(reply) => {
            keep(draft, shown(&url), &token.reveal())?;
            context.console.answer(&reply, |detail: AccountDetail| {
                facts([("account", detail.account.handle), ("status", detail.account.status)])
            })?;
        }
        Err(failure) if failure.api_error.code == INSUFFICIENT_SCOPE => {
            keep(draft, shown(&url), &token.reveal())?;
            context
                .console
                .answer_with(&json!({ "account": null }), || "the token may not read its account".to_owned());
        }
        Err(failure) => return Err(failure),
    }
    tell_where_it_is(context)
}

pub async fn whoami(context: &Context) -> Result<(), Failure> {
    let standing = context.standing()?;
    let (url, token_from) = (shown(&standing.url).to_owned(), standing.token_from.clone());
    let reply: Reply = context.server_of(standing)?.get("/v1/account").await?;
    let account = reply.json()?;
    let detail: AccountDetail = reply.read()?;
    let profile = context.options.profile.to_string();
    let json =
        json!({ "url": url, "profile": profile, "token_from": token_from, "account": account["account"] });
    let (handle, status) = (detail.account.handle, detail.account.status);
    context.console.answer_with(&json, || {
        facts([("account", handle), ("status", status), ("server", url), ("token from", token_from)])
    });
    Ok(())
}

fn keep(draft: Draft, url: &str, token: &str) -> Result<(), Failure> {
    let token = token.parse().map_err(|()| {
        Failure::unreachable("the server gave a token that is none", "see that --url is a Handbill's")
    })?;
    draft.keep(Profile { url: Some(url.to_owned()), token: Some(token) })
}

fn tell_where_it_is(context: &Context) -> Result<(), Failure> {
    let file = context.profile_file()?;
    context.console.note(&format!("the token is kept in {}, for you alone", file.path().display()));
    Ok(())
}
