//! What the page after a form shows and the database does not have: a new token, for one load, and the
//! warnings about the files of a publish. The browser keeps both in cookies for that page, so that the token
//! is never stored here.
//!
//! A page on a sibling host can plant cookies. The token of a publish is therefore shown only if it belongs
//! to the account of the page, and everything else only with our signature for this path. The signature of a
//! new secret is also for one person and covers its time: another person may be signed in by now, and not
//! every browser deletes a cookie in time.

use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use cookie::SameSite;
use domain::{Account, Time, UserId, Warning, WarningCode};
use poem::{Request, Response};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use service::Service;

use crate::html::error_text::sentence;
use crate::html::with_cookie;
use crate::http::cookies::{CookieScope, sent_as};
use crate::http::origin::origin_of;

const TOKEN: &str = "svc_result_token";
const WARNINGS: &str = "svc_result_warnings";
/// The browser opens the result right after the publish.
const TOKEN_KEPT: Duration = Duration::from_secs(120);
const WARNINGS_KEPT: Duration = Duration::from_secs(3600);
/// Browsers keep cookies of up to 4096 bytes. This is before the encoding, which adds a third.
const WARNINGS_BYTES_MAX: usize = 2_600;

/// A warning as the page shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarningNote {
    pub path: String,
    pub line: Option<u32>,
    pub message: String,
    pub hint: String,
    /// Whether it is about the whole site, so that the path says nothing.
    #[serde(default)]
    pub is_of_site: bool,
    #[serde(default)]
    pub is_secret: bool,
}

/// The first warnings about a publish.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarningNotes {
    pub first: Vec<WarningNote>,
    /// The number of warnings that are not among them.
    pub more: usize,
}

impl WarningNote {
    /// The fault and what to do, as sentences.
    pub fn text(&self) -> String {
        format!("{} {}", sentence(&self.message), sentence(&self.hint))
    }
}

impl From<&Warning> for WarningNote {
    fn from(warning: &Warning) -> Self {
        Self {
            path: warning.path.to_string(),
            line: warning.line,
            message: warning.message.clone(),
            hint: warning.hint.clone(),
            is_of_site: warning.code == WarningCode::NoIndex,
            is_secret: warning.code == WarningCode::Secret,
        }
    }
}

impl WarningNotes {
    /// The most that are shown without unfolding the others.
    pub const SHOWN_MAX: usize = 3;

    /// The heading above the warnings.
    pub fn title(&self) -> &'static str {
        let has_secret = self.first.iter().any(|warning| warning.is_secret);
        if has_secret { "Your page may expose a secret key" } else { "Check your page" }
    }

    /// The number of warnings that are folded.
    pub fn folded(&self) -> usize {
        self.first.len().saturating_sub(Self::SHOWN_MAX)
    }

    pub fn of(warnings: &[Warning]) -> Self {
        Self { first: warnings.iter().map(WarningNote::from).collect(), more: 0 }
    }

    /// As many of them as fit into a cookie.
    fn encoded(mut self) -> String {
        loop {
            let text = serde_json::to_string(&self).unwrap_or_default();
            if text.len() <= WARNINGS_BYTES_MAX || self.first.pop().is_none() {
                return BASE64_URL_SAFE_NO_PAD.encode(text);
            }
            self.more += 1;
        }
    }

    fn decoded(text: &str) -> Option<Self> {
        serde_json::from_slice(&BASE64_URL_SAFE_NO_PAD.decode(text).ok()?).ok()
    }

    /// Lets the browser keep them for the page at `path`.
    pub fn keep_on(self, response: Response, path: &str, service: &Service) -> Response {
        if self.first.is_empty() {
            return response;
        }
        let signed = service.sign(&purpose(path), &self.encoded());
        with_cookie(response, &scope(WARNINGS, path).set(&signed, WARNINGS_KEPT, service.addresses()))
    }

    /// Those that the browser kept for the page of this request.
    pub fn kept(request: &Request, service: &Service) -> Self {
        let purpose = purpose(request.uri().path());
        let sent = sent_as(request, WARNINGS);
        let own = sent.into_iter().find_map(|signed| service.verified(&purpose, signed));
        own.and_then(Self::decoded).unwrap_or_default()
    }
}

/// A new secret, as a cookie holds it.
#[derive(Serialize, Deserialize)]
struct DatedSecret<T> {
    created_at: Time,
    secret: T,
}

impl<T: Serialize> DatedSecret<T> {
    fn encoded(&self) -> String {
        BASE64_URL_SAFE_NO_PAD.encode(serde_json::to_string(self).unwrap_or_default())
    }
}

impl<T: DeserializeOwned> DatedSecret<T> {
    /// The secret, if it is not too old.
    fn kept(text: &str, now: Time) -> Option<T> {
        let dated: Self = serde_json::from_slice(&BASE64_URL_SAFE_NO_PAD.decode(text).ok()?).ok()?;
        (now.since(dated.created_at) <= TOKEN_KEPT).then_some(dated.secret)
    }
}

/// Lets the browser keep the token for the page at `path`, until the page has shown it.
pub fn keep_token(response: Response, token: &str, path: &str, service: &Service) -> Response {
    with_cookie(response, &scope(TOKEN, path).set(token, TOKEN_KEPT, service.addresses()))
}

/// The token that the browser kept, if it is one of this account.
pub async fn kept_token(request: &Request, account: &Account, service: &Service) -> Option<String> {
    for token in sent_as(request, TOKEN).into_iter().take(2) {
        if service.is_token_of(account, token, origin_of(request)).await {
            return Some(token.to_owned());
        }
    }
    None
}

/// Lets the browser keep a new secret of this person, with what is shown beside it, for the page at `path`.
pub fn keep_secret(
    response: Response,
    secret: &impl Serialize,
    path: &str,
    user: UserId,
    service: &Service,
) -> Response {
    let text = DatedSecret { created_at: service.clock().now(), secret }.encoded();
    keep_token(response, &service.sign(&secret_purpose(path, user), &text), path, service)
}

/// The secret that the browser kept for this person and the page of this request.
pub fn kept_secret<T: DeserializeOwned>(request: &Request, user: UserId, service: &Service) -> Option<T> {
    let (purpose, now) = (secret_purpose(request.uri().path(), user), service.clock().now());
    let sent = sent_as(request, TOKEN);
    sent.into_iter().find_map(|signed| DatedSecret::kept(service.verified(&purpose, signed)?, now))
}

/// Clears the token's cookie, once the page of the request shows the token.
pub fn clear_token(response: Response, request: &Request, service: &Service) -> Response {
    with_cookie(response, &scope(TOKEN, request.uri().path()).clear(service.addresses()))
}

fn scope<'a>(name: &'static str, path: &'a str) -> CookieScope<'a> {
    CookieScope { name, path, same_site: SameSite::Lax }
}

fn purpose(path: &str) -> String {
    format!("result-warnings:{path}")
}

fn secret_purpose(path: &str, user: UserId) -> String {
    format!("new-secret:{user}:{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(number: u32) -> WarningNote {
        WarningNote {
            path: format!("{number}.html"),
            line: Some(number),
            message: "\"missing.png\" is missing – ü".into(),
            hint: "add it; or remove the reference".into(),
            is_of_site: false,
            is_secret: false,
        }
    }

    #[test]
    fn warnings_survive_the_cookie_as_far_as_they_fit() {
        let few = WarningNotes { first: vec![note(1), note(2)], more: 0 };
        assert_eq!(WarningNotes::decoded(&few.clone().encoded()), Some(few));
        let many = WarningNotes { first: (0..50).map(note).collect(), more: 0 }.encoded();
        assert!(many.len() < 3_600, "{}", many.len());
        let kept = WarningNotes::decoded(&many).unwrap();
        assert_eq!(kept.first.len() + kept.more, 50);
        assert!(kept.first.len() > 10 && kept.first[0] == note(0), "{kept:?}");
        assert_eq!(WarningNotes::decoded("x.y"), None);
    }

    #[test]
    fn new_secret_is_kept_for_two_minutes_and_signed_for_one_person() {
        let created_at = Time::from_millis(1_790_000_000_000);
        let text = DatedSecret { created_at, secret: "svc_sk_x" }.encoded();
        let kept_at = |now| DatedSecret::<String>::kept(&text, now);
        let end = created_at.plus(TOKEN_KEPT);
        assert_eq!(kept_at(end).as_deref(), Some("svc_sk_x"));
        assert_eq!(kept_at(end.plus(Duration::from_millis(1))), None);
        let [ada, ben] = [1_u128, 2].map(|number| UserId::from_ulid(number.into()));
        assert_ne!(secret_purpose("/tokens", ada), secret_purpose("/tokens", ben));
    }

    #[test]
    fn result_cookies_are_for_one_path_and_not_for_scripts() {
        let addresses = crate::documents::Facts::sample_addresses();
        let set = scope(TOKEN, "/published/abc/my-page").set("svc_sk_x", TOKEN_KEPT, &addresses);
        let expected = "svc_result_token=svc_sk_x; HttpOnly; SameSite=Lax; Path=/published/abc/my-page; \
                        Max-Age=120";
        assert_eq!(set, expected);
    }
}
