//! The Handbill that is spoken to. The token goes to the one address that it is for, never along a redirect, and an
//! answer is read within bounds.

use std::error::Error;
use std::time::Duration;

use domain::TokenSecret;
use reqwest::{Certificate, Client, ClientBuilder, Response, Url, redirect};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::console::Console;
use crate::failure::Failure;
use crate::request::Request;
use crate::retry::Trouble;
use crate::show::harmless;

const CONNECT_WAIT_MAX: Duration = Duration::from_secs(10);
/// From a sent call to the next byte of its answer. An upload counts in, so it is long.
const ANSWER_WAIT_MAX: Duration = Duration::from_secs(180);
const ANSWER_BYTES_MAX: usize = 16 * 1_048_576;
const SUCCESS: std::ops::Range<u16> = 200..300;
const REDIRECT: std::ops::Range<u16> = 300..400;

pub struct Server {
    http: Client,
    url: Url,
    token: Option<TokenSecret>,
    console: Console,
}

/// An answer, whole.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub body: String,
    retry_after: Option<String>,
    location: Option<String>,
}

impl Server {
    pub fn new(url: Url, token: Option<TokenSecret>, console: Console) -> Result<Self, Failure> {
        let http = client(&url).build().map_err(|error| {
            Failure::of_this_machine(format!("the HTTP client cannot be made: {}", innermost(&error)))
        })?;
        Ok(Self { http, url, token, console })
    }

    /// The answer to a call, if it is a success.
    pub async fn call(&self, request: &Request) -> Result<Reply, Failure> {
        self.send(request).await?.succeeded()
    }

    pub async fn get(&self, path: &str) -> Result<Reply, Failure> {
        self.call(&Request::get(path)).await
    }

    /// The answer to a call, whatever it says. What can be sent again is, for a while.
    pub async fn send(&self, request: &Request) -> Result<Reply, Failure> {
        let mut retries = 0;
        loop {
            let sent = self.send_once(request).await;
            request.hide_progress();
            let trouble = match &sent {
                Ok(reply) => Trouble::of_status(reply.status, reply.retry_after.as_deref()),
                Err(error) if error.is_connect() => Some(Trouble::Unreached),
                Err(error) => (!error.is_builder()).then_some(Trouble::Broken),
            };
            let pause = trouble.and_then(|trouble| request.repeat.pause_after(trouble, retries));
            let Some(pause) = pause else { return sent.map_err(|error| self.unanswered(&error)) };
            retries += 1;
            let why =
                sent.map_or_else(|error| innermost(&error), |reply| format!("answered {}", reply.status));
            self.console.note(&format!("{}: {why}; trying again in {pause:?}", shown(&self.url)));
            tokio::time::sleep(pause).await;
        }
    }

    async fn send_once(&self, request: &Request) -> reqwest::Result<Reply> {
        let url = format!("{}{}", shown(&self.url), request.path);
        let mut call = self.http.request(request.method.clone(), url);
        if let Some(token) = &self.token {
            call = call.bearer_auth(token.clone().reveal());
        }
        Reply::read_from(request.put_into(call).send().await?).await
    }

    fn unanswered(&self, error: &reqwest::Error) -> Failure {
        let why = innermost(error);
        let what = if error.is_connect() { "cannot be reached" } else { "did not answer to the end" };
        Failure::unreachable(
            format!("{} {what}: {why}", shown(&self.url)),
            "see that it runs (`handbill serve` starts one here) and that --url or HANDBILL_URL names it",
        )
    }
}

impl Reply {
    async fn read_from(mut response: Response) -> reqwest::Result<Self> {
        let status = response.status().as_u16();
        let header = |name: &str| Some(response.headers().get(name)?.to_str().ok()?.to_owned());
        let (retry_after, location) = (header("Retry-After"), header("Location"));
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await? {
            // What is longer is no answer of ours, and what is left of it will not be read as one.
            if body.len() + chunk.len() > ANSWER_BYTES_MAX {
                break;
            }
            body.extend_from_slice(&chunk);
        }
        Ok(Self { status, body: String::from_utf8_lossy(&body).into_owned(), retry_after, location })
    }

    pub fn succeeded(self) -> Result<Self, Failure> {
        if SUCCESS.contains(&self.status) {
            return Ok(self);
        }
        if REDIRECT.contains(&self.status) {
            let to = self.location.unwrap_or_else(|| "an address that it does not name".to_owned());
            let message = format!("the server sends elsewhere ({}): {to}", self.status);
            return Err(Failure::unreachable(message, "if that is the right address, name it with --url"));
        }
        Err(Failure::answered(self.status, self.body))
    }

    /// The answer as the type that this call answers with, for people: no text in it steers their terminal.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        let mut answer = self.json()?;
        make_harmless(&mut answer);
        serde_json::from_value(answer).map_err(|error| self.unreadable(&error))
    }

    /// The answer as it came, for machines.
    pub fn json(&self) -> Result<Value, Failure> {
        serde_json::from_str(&self.body).map_err(|error| self.unreadable(&error))
    }

    fn unreadable(&self, error: &serde_json::Error) -> Failure {
        let message = format!("the server's answer ({}) is not as it should be: {error}", self.status);
        Failure::unreachable(message, "see that --url is a Handbill's, and no older than this program")
    }
}

fn make_harmless(answer: &mut Value) {
    match answer {
        Value::String(text) => *text = harmless(text),
        Value::Array(items) => items.iter_mut().for_each(make_harmless),
        Value::Object(fields) => fields.values_mut().for_each(make_harmless),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A command speaks to one server, once or twice. Without TLS nothing of it is set up, because looking for the
/// system's certificates takes longer than all the rest.
fn client(url: &Url) -> ClientBuilder {
    // It cannot fail at the first time, and there is no second.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = Client::builder()
        .user_agent(concat!("handbill/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::Policy::none())
        .connect_timeout(CONNECT_WAIT_MAX)
        .read_timeout(ANSWER_WAIT_MAX);
    let client = if is_loopback(url) { client.no_proxy() } else { client };
    if url.scheme() == "http" { client.tls_certs_only(std::iter::empty::<Certificate>()) } else { client }
}

/// An address as people write it: paths are put behind it, so it does not end in a slash.
pub fn shown(url: &Url) -> &str {
    url.as_str().trim_end_matches('/')
}

/// Whether what is sent there stays on this machine.
pub fn is_loopback(url: &Url) -> bool {
    url.host_str().is_some_and(domain::is_loopback_host)
}

/// The fault at the bottom, which says what the others wrap.
fn innermost(error: &reqwest::Error) -> String {
    let mut fault: &dyn Error = error;
    while let Some(source) = fault.source() {
        fault = source;
    }
    fault.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(status: u16, body: &str, location: Option<&str>) -> Reply {
        Reply { status, body: body.to_owned(), retry_after: None, location: location.map(str::to_owned) }
    }

    #[test]
    fn a_redirect_is_told_and_not_followed() {
        let failure = reply(301, "", Some("https://handbill.example/v1/account")).succeeded().unwrap_err();
        assert!(failure.api_error.message.contains("https://handbill.example"), "{failure:?}");
    }

    #[test]
    fn an_answer_that_is_not_handbills_is_told_as_such() {
        let page = reply(200, "<html>welcome</html>", None);
        let failure = page.read::<crate::wire::Account>().unwrap_err();
        assert_eq!(failure.exit as u8, 7);
    }

    #[test]
    fn no_text_of_an_answer_steers_the_terminal_and_machines_have_it_as_it_came() {
        let body = r#"{"claim_url":"http://a/\u001b]0;gone\u0007","expires_at":"\u009b2J"}"#;
        let answer = reply(200, body, None);
        let link: crate::wire::ClaimLink = answer.read().unwrap();
        assert_eq!((link.claim_url.as_str(), link.expires_at.as_deref()), ("http://a/]0;gone", Some("2J")));
        assert_eq!(answer.json().unwrap()["claim_url"], "http://a/\u{1b}]0;gone\u{7}");
    }

    #[test]
    fn loopback_is_this_machine_alone() {
        let is = |url: &str| is_loopback(&url.parse().unwrap());
        assert!(is("http://127.0.0.1:8080") && is("http://[::1]:8080") && is("http://localhost"));
        assert!(!is("http://127.0.0.1.example.org") && !is("https://10.0.0.1") && !is("http://localhosts"));
    }
}
