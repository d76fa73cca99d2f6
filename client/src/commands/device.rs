//! `login` with a browser: the device authorization of OAuth (RFC 8628). The browser may run elsewhere.

use std::io::{self, IsTerminal};
use std::time::Duration;

use domain::Scopes;
use domain::oauth::scope_text;
use serde::Deserialize;
use serde_json::json;

use super::sign_in::print_location;
use crate::browser;
use crate::command::Login;
use crate::context::Context;
use crate::failure::{Failure, INSUFFICIENT_SCOPE};
use crate::oauth::{CLIENT_ID, Issued, TokenReply, is_temporary, request_tokens};
use crate::profile::Profile;
use crate::request::Request;
use crate::server::{Server, shown};
use crate::show::facts;
use crate::wire::AccountDetail;

const DEVICE_GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";
const NOT_FOUND: u16 = 404;
/// A server that asks for longer pauses or waits is not followed.
const INTERVAL_SECONDS: std::ops::RangeInclusive<u64> = 1..=60;
const WAIT_SECONDS_MAX: u64 = 3_600;
/// RFC 8628: how much longer to pause after `slow_down`.
const SLOWER_BY: Duration = Duration::from_secs(5);

/// A sign-in that the server has begun.
#[derive(Deserialize)]
struct Begun {
    device_code: String,
    user_code: String,
    verification_uri: String,
    verification_uri_complete: String,
    expires_in: u64,
    interval: u64,
}

pub async fn sign_in(context: &Context, login: Login) -> Result<(), Failure> {
    let url = context.target()?.url;
    let draft = context.prepare_for_token().await?;
    let server = context.server_for(&url, None)?;
    let begun = begin(&server).await?;
    context
        .console
        .announce(&format!("Open {} and enter the code {}", begun.verification_uri, begun.user_code));
    // Without a browser the person opens the address anywhere.
    let is_attended = io::stdin().is_terminal();
    if is_attended && !login.no_browser && browser::open(&begun.verification_uri_complete).is_err() {
        context.console.note("No browser could be opened here.");
    }
    let Issued { token, renewal } = wait(context, &server, &begun).await?;
    let profile =
        Profile { url: Some(shown(&url).to_owned()), token: Some(token.clone()), renewal: Some(renewal) };
    draft.save(profile)?;
    match context.server_for(&url, Some(token))?.get("/v1/account").await {
        Ok(reply) => context.console.print_reply(&reply, |detail: AccountDetail| {
            facts([("account", detail.account.handle), ("status", detail.account.status)])
        })?,
        Err(failure) if failure.api_error.code == INSUFFICIENT_SCOPE => {
            context.console.print_result(&json!({ "account": null }), || {
                "The token cannot read its account.".to_owned()
            });
        }
        Err(failure) => return Err(failure),
    }
    print_location(context)
}

async fn begin(server: &Server) -> Result<Begun, Failure> {
    let scope = scope_text(Scopes::all());
    let request = Request::make("/oauth/device_authorization");
    let reply = server.send(&request.form(&[("client_id", CLIENT_ID), ("scope", &scope)])).await?;
    if reply.status == NOT_FOUND {
        return Err(Failure::unreachable(
            "this server cannot sign in with a browser",
            "use a token of the account with `handbill login --with-token`",
        ));
    }
    reply.succeeded()?.read()
}

/// Asks until the person has decided.
async fn wait(context: &Context, server: &Server, begun: &Begun) -> Result<Issued, Failure> {
    let mut interval =
        Duration::from_secs(begun.interval.clamp(*INTERVAL_SECONDS.start(), *INTERVAL_SECONDS.end()));
    let wait_max = Duration::from_secs(begun.expires_in.min(WAIT_SECONDS_MAX));
    let mut waited = Duration::ZERO;
    let parameters = [("grant_type", DEVICE_GRANT), ("device_code", begun.device_code.as_str())];
    while waited < wait_max {
        tokio::time::sleep(interval).await;
        waited += interval;
        match request_tokens(server, &parameters, &context.clock).await? {
            TokenReply::Issued(issued) => return Ok(*issued),
            TokenReply::Refused { error, description } => match error.as_str() {
                "authorization_pending" => {}
                error if is_temporary(error) => {}
                "slow_down" => interval += SLOWER_BY,
                "access_denied" => {
                    let hint = "run `handbill login` again to try once more";
                    return Err(Failure::signed_out("the sign-in was cancelled in the browser", hint));
                }
                _ => return Err(not_in_time(&description)),
            },
        }
    }
    Err(not_in_time("nobody entered the code in time"))
}

fn not_in_time(why: &str) -> Failure {
    Failure::signed_out(format!("the sign-in failed: {why}"), "run `handbill login` again")
}
