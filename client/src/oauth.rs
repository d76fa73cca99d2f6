//! Tokens by OAuth: what `login` gets for a code, and what a profile's refresh token is exchanged for.

use std::time::Duration;

use domain::oauth::RefreshToken;
use domain::{Clock, TokenSecret};
use serde::Deserialize;

use crate::context::Context;
use crate::failure::Failure;
use crate::profile::{Profile, Renewal};
use crate::request::Request;
use crate::server::{Server, shown};

/// The server knows the command line under this id.
pub const CLIENT_ID: &str = "handbill-cli";
/// A token is renewed this long before it expires, so that it does not expire during a command.
const RENEWED_BEFORE: Duration = Duration::from_secs(5 * 60);

/// The response to a token request.
pub enum TokenReply {
    Issued(Box<Issued>),
    /// An error of OAuth, such as `authorization_pending`.
    Refused {
        error: String,
        description: String,
    },
}

/// A new token, with what renews it.
pub struct Issued {
    pub token: TokenSecret,
    pub renewal: Renewal,
}

#[derive(Deserialize)]
struct IssuedReply {
    access_token: String,
    refresh_token: String,
    expires_in: u64,
}

#[derive(Deserialize)]
struct RefusedReply {
    error: String,
    #[serde(default)]
    error_description: String,
}

/// Requests tokens. The client's id is added to the parameters.
pub async fn request_tokens(
    server: &Server,
    parameters: &[(&str, &str)],
    clock: &Clock,
) -> Result<TokenReply, Failure> {
    let parameters = [parameters, &[("client_id", CLIENT_ID)]].concat();
    let reply = server.send(&Request::make("/oauth/token").form(&parameters)).await?;
    if let Ok(RefusedReply { error, error_description }) = reply.read() {
        return Ok(TokenReply::Refused { error, description: error_description });
    }
    let issued: IssuedReply = reply.succeeded()?.read()?;
    let malformed = || {
        Failure::unreachable(
            "the server returned a malformed token",
            "check that --url points to a Handbill server",
        )
    };
    let token = issued.access_token.parse().map_err(|()| malformed())?;
    let refresh: RefreshToken = issued.refresh_token.parse().map_err(|()| malformed())?;
    let expires_at = clock.now().plus(Duration::from_secs(issued.expires_in));
    Ok(TokenReply::Issued(Box::new(Issued { token, renewal: Renewal { refresh, expires_at } })))
}

/// Renews the profile's token if the command uses it and it expires soon. Each refresh token works once, and
/// a second use would end the sign-in, so only one process renews at a time.
pub async fn renew_if_due(context: &Context) -> Result<(), Failure> {
    if due(context)?.is_none() {
        return Ok(());
    }
    let file = context.profile_file()?;
    let _locked = file.lock().await?;
    // Another process may have renewed it in the meantime.
    let Some((url, renewal)) = due(context)? else { return Ok(()) };
    let draft = file.draft()?;
    let server = context.server_for(&url, None)?;
    let refresh = renewal.refresh.reveal();
    let parameters = [("grant_type", "refresh_token"), ("refresh_token", refresh.as_str())];
    match request_tokens(&server, &parameters, &context.clock).await? {
        TokenReply::Issued(issued) => {
            let Issued { token, renewal } = *issued;
            let url = Some(shown(&url).to_owned());
            draft.save(Profile { url, token: Some(token), renewal: Some(renewal) })
        }
        // The token still works for some minutes.
        TokenReply::Refused { error, .. }
            if is_temporary(&error) && renewal.expires_at > context.clock.now() =>
        {
            Ok(())
        }
        TokenReply::Refused { error, description } if is_temporary(&error) => Err(Failure::unreachable(
            format!("the server cannot renew the sign-in of this profile now: {description}"),
            "run the command again in a minute",
        )),
        TokenReply::Refused { description, .. } => Err(Failure::signed_out(
            format!("the sign-in of this profile has ended: {description}"),
            "run `handbill login --yes` to sign in again",
        )),
    }
}

/// Whether a server that returns this error may accept the same request later.
pub fn is_temporary(error: &str) -> bool {
    ["temporarily_unavailable", "server_error"].contains(&error)
}

fn due(context: &Context) -> Result<Option<(reqwest::Url, Renewal)>, Failure> {
    let soon = context.clock.now().plus(RENEWED_BEFORE);
    Ok(context.renewal()?.filter(|(_, renewal)| renewal.expires_at <= soon))
}
