//! What every command needs: the server, the token, the clock.

use std::env;
use std::sync::atomic::AtomicBool;

use domain::{Chance, Clock, TokenSecret};
use reqwest::Url;

use crate::console::{Console, ConsoleLine};
use crate::failure::Failure;
use crate::options::Options;
use crate::parse;
use crate::profile::{Draft, Profile, ProfileFile, Renewal};
use crate::server::{Server, is_loopback, shown};

const TOKEN_VARIABLE: &str = "HANDBILL_TOKEN";
/// The API address of a local embedded server.
pub const DEFAULT_URL: &str = "http://127.0.0.1:8080";

pub struct Context {
    pub options: Options,
    pub console: Console,
    pub clock: Clock,
    pub chance: Chance,
    /// Set while the command only waits for changes, so that Ctrl-C ends it without a failure.
    pub is_watching: AtomicBool,
    /// The token from the environment, which takes precedence over the profile's.
    given: Option<TokenSecret>,
}

/// The server to use, and the token for it.
pub struct ClientAccount {
    pub url: Url,
    pub token: Option<TokenSecret>,
    pub token_from: String,
}

impl Context {
    pub fn new(options: Options, console: Console) -> Result<Self, Failure> {
        let given = token_of_environment()?;
        Ok(Self {
            options,
            console,
            clock: Clock::system(),
            chance: Chance::from_system(),
            is_watching: AtomicBool::new(false),
            given,
        })
    }

    /// The server, with a token.
    pub fn server(&self) -> Result<Server, Failure> {
        self.server_of(self.target()?)
    }

    /// The server of this target, if there is a token for it.
    pub fn server_of(&self, target: ClientAccount) -> Result<Server, Failure> {
        if target.token.is_none() {
            return Err(Failure::signed_out(
                format!("the profile {} has no token for {}", self.options.profile, shown(&target.url)),
                "run `handbill signup` for a new account, or `handbill login` to sign in to yours",
            ));
        }
        Server::new(target.url, target.token, self.console.clone())
    }

    /// The server without a token, or with one that is not saved yet.
    pub fn server_for(&self, url: &Url, token: Option<TokenSecret>) -> Result<Server, Failure> {
        Server::new(url.clone(), token, self.console.clone())
    }

    /// The server to use and the token for it. A profile's token is sent only to the profile's own address,
    /// so that a mistyped `--url` does not leak it.
    pub fn target(&self) -> Result<ClientAccount, Failure> {
        let is_complete = self.given.is_some() && self.options.url.is_some();
        let profile = if is_complete { Profile::default() } else { self.profile()? };
        let home = home_of(&profile)?;
        let url = self.options.url.clone().unwrap_or_else(|| home.clone());
        let own = profile.token.filter(|_| is_same(&url, &home));
        let (token, token_from) = match (&self.given, own) {
            (Some(given), _) => (Some(given.clone()), TOKEN_VARIABLE.to_owned()),
            (None, Some(own)) => (Some(own), format!("profile {}", self.options.profile)),
            (None, None) => (None, "none".to_owned()),
        };
        if token.is_some() && url.scheme() == "http" && !is_loopback(&url) {
            self.console.note(&format!(
                "The connection to {} is not encrypted, so the token can be intercepted.",
                shown(&url)
            ));
        }
        Ok(ClientAccount { url, token, token_from })
    }

    /// The profile's refresh token with its server, if the command uses the profile's token.
    pub fn renewal(&self) -> Result<Option<(Url, Renewal)>, Failure> {
        if self.given.is_some() {
            return Ok(None);
        }
        let profile = self.profile()?;
        let home = home_of(&profile)?;
        let is_used = self.options.url.as_ref().is_none_or(|url| is_same(url, &home));
        Ok(profile.renewal.filter(|_| is_used).map(|renewal| (home, renewal)))
    }

    /// Prepares to save a new token, and asks before it replaces another one.
    pub async fn prepare_for_token(&self) -> Result<Draft, Failure> {
        let file = self.profile_file()?;
        let name = &self.options.profile;
        if let Some(kept) = self.profile()?.with_token()
            && !self.options.yes
        {
            let at = kept.url.unwrap_or_else(|| DEFAULT_URL.to_owned());
            let question = format!("The profile {name} holds a token for {at}. Replace it?");
            if self.console.ask(&question).await? != ConsoleLine::Yes {
                return Err(Failure::usage(
                    format!(
                        "the profile {name} already holds a token for {at}, and a lost token cannot be recovered"
                    ),
                    "use another --profile, or replace the token with --yes",
                ));
            }
        }
        if self.given.is_some() {
            self.console.warn(&format!(
                "{TOKEN_VARIABLE} is set and takes precedence over the profile; unset it to use the new token"
            ));
        }
        file.draft()
    }

    fn profile(&self) -> Result<Profile, Failure> {
        let found = self.profile_file()?.read()?;
        if let Some(warning) = &found.warning {
            self.console.warn(warning);
        }
        Ok(found.profile)
    }

    pub fn profile_file(&self) -> Result<ProfileFile, Failure> {
        ProfileFile::of(&self.options.profile)
    }
}

fn token_of_environment() -> Result<Option<TokenSecret>, Failure> {
    let Some(text) = env::var_os(TOKEN_VARIABLE).filter(|text| !text.is_empty()) else { return Ok(None) };
    match text.to_str().map(str::trim).map(str::parse) {
        Some(Ok(token)) => Ok(Some(token)),
        _ => Err(Failure::signed_out(
            format!("{TOKEN_VARIABLE} does not hold a token"),
            "a token is svc_sk_ followed by 32 letters and digits; get one with `handbill signup`",
        )),
    }
}

/// The server that a profile's token is for.
fn home_of(profile: &Profile) -> Result<Url, Failure> {
    let kept = profile.url.as_deref().map(parse::address).transpose().map_err(|fault| {
        Failure::usage(format!("the profile's url: {fault}"), "fix the profile, or use --url")
    })?;
    let default = || DEFAULT_URL.parse();
    kept.map_or_else(default, Ok).map_err(|_| Failure::of_this_machine("the default address is invalid"))
}

fn is_same(one: &Url, other: &Url) -> bool {
    shown(one) == shown(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trailing_slash_of_an_api_address_is_ignored() {
        let is = |one: &str, other: &str| is_same(&one.parse().unwrap(), &other.parse().unwrap());
        assert!(is("http://a.example/handbill", "http://a.example/handbill/"));
        assert!(is("http://A.example:80", "http://a.example"));
        assert!(
            !is("http://a.example", "https://a.example") && !is("http://a.example", "http://a.example:81")
        );
    }
}
