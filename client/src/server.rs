//! The HTTP client. The token is sent only to the address that it belongs to, never along a redirect, and
//! responses have a size limit.

use std::error::Error;
use std::fs::File;
use std::io::Write;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use domain::TokenSecret;
use reqwest::{Certificate, Client, ClientBuilder, RequestBuilder, Url, redirect};

use crate::console::Console;
use crate::failure::Failure;
use crate::reply::Reply;
use crate::request::Request;
use crate::retry::Trouble;

/// The longest archive of a version, with room for its index.
const DOWNLOAD_BYTES_MAX: usize = 12 * 1_048_576;
const CONNECT_WAIT_MAX: Duration = Duration::from_secs(10);
/// From a sent call to the next byte of its response. It is long, because it includes the upload.
const RESPONSE_WAIT_MAX: Duration = Duration::from_secs(180);

pub struct Server {
    http: Client,
    url: Url,
    token: Option<TokenSecret>,
    console: Console,
}

impl Server {
    pub fn new(url: Url, token: Option<TokenSecret>, console: Console) -> Result<Self, Failure> {
        let http = client(&url).build().map_err(|error| {
            Failure::of_this_machine(format!("could not create the HTTP client: {}", innermost(&error)))
        })?;
        Ok(Self { http, url, token, console })
    }

    /// The address of the API.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Sends a call and returns its response if it is a success.
    pub async fn call(&self, request: &Request) -> Result<Reply, Failure> {
        self.send(request).await?.succeeded()
    }

    pub async fn get(&self, path: &str) -> Result<Reply, Failure> {
        self.call(&Request::get(path)).await
    }

    /// The bytes of a response that is not text.
    pub async fn download(&self, path: &str) -> Result<Bytes, Failure> {
        let sent = self.prepared(&Request::get(path)).send().await;
        let mut response = sent.map_err(|error| self.no_response(&error))?;
        if !response.status().is_success() {
            let reply = Reply::read_from(response).await.map_err(|error| self.no_response(&error))?;
            return reply.succeeded().map(|reply| reply.body.into());
        }
        let mut body = BytesMut::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.no_response(&error))? {
            // A longer response is not from Handbill and will fail to parse.
            if body.len() + chunk.len() > DOWNLOAD_BYTES_MAX {
                break;
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body.freeze())
    }

    /// Writes the bytes of a long response to a file, and returns how many there are.
    pub async fn save(&self, path: &str, file: &mut File) -> Result<u64, Failure> {
        let sent = self.prepared(&Request::get(path)).send().await;
        let mut response = sent.map_err(|error| self.no_response(&error))?;
        if !response.status().is_success() {
            let reply = Reply::read_from(response).await.map_err(|error| self.no_response(&error))?;
            return reply.succeeded().map(|_| 0);
        }
        let mut written = 0;
        while let Some(chunk) = response.chunk().await.map_err(|error| self.no_response(&error))? {
            file.write_all(&chunk)
                .map_err(|error| Failure::of_this_machine(format!("could not write the file: {error}")))?;
            written += chunk.len() as u64;
        }
        Ok(written)
    }

    /// Sends a call and returns its response, whatever the status. Retries it where that is safe.
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
            let Some(pause) = pause else { return sent.map_err(|error| self.no_response(&error)) };
            retries += 1;
            let why = sent.map_or_else(|error| innermost(&error), |reply| format!("status {}", reply.status));
            self.console.note(&format!("{}: {why}; retrying in {pause:?}", shown(&self.url)));
            tokio::time::sleep(pause).await;
        }
    }

    /// Sends a call, and again with the contents that the server does not have yet.
    pub async fn send_with_missing(&self, request: &mut Request) -> Result<Reply, Failure> {
        loop {
            let reply = self.send(request).await?;
            if !request.add_missing(&reply) {
                return Ok(reply);
            }
        }
    }

    async fn send_once(&self, request: &Request) -> reqwest::Result<Reply> {
        Reply::read_from(self.prepared(request).send().await?).await
    }

    fn prepared(&self, request: &Request) -> RequestBuilder {
        let url = format!("{}{}", shown(&self.url), request.path);
        let mut call = self.http.request(request.method.clone(), url);
        if let Some(token) = &self.token {
            call = call.bearer_auth(token.clone().reveal());
        }
        request.put_into(call)
    }

    fn no_response(&self, error: &reqwest::Error) -> Failure {
        let why = innermost(error);
        let what = if error.is_connect() { "cannot be reached" } else { "did not send a complete response" };
        Failure::unreachable(
            format!("{} {what}: {why}", shown(&self.url)),
            "check that the server is running (`handbill serve` starts one here) and that --url or HANDBILL_URL points to it",
        )
    }
}

/// A command makes one or two calls to one server. Without TLS the system's certificates are not loaded,
/// because that takes longer than everything else.
fn client(url: &Url) -> ClientBuilder {
    // The first installation cannot fail, and there is no second.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = Client::builder()
        .user_agent(concat!("handbill/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::Policy::none())
        .connect_timeout(CONNECT_WAIT_MAX)
        .read_timeout(RESPONSE_WAIT_MAX);
    let client = if is_loopback(url) { client.no_proxy() } else { client };
    if url.scheme() == "http" { client.tls_certs_only(std::iter::empty::<Certificate>()) } else { client }
}

/// A URL without trailing slashes, so that paths can be appended.
pub fn shown(url: &Url) -> &str {
    url.as_str().trim_end_matches('/')
}

/// Whether the address is this machine.
pub fn is_loopback(url: &Url) -> bool {
    url.host_str().is_some_and(domain::is_loopback_host)
}

/// The innermost error, which is the most specific one.
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
    fn redirects_are_reported_and_not_followed() {
        let failure = reply(301, "", Some("https://handbill.example/v1/account")).succeeded().unwrap_err();
        assert!(failure.api_error.message.contains("https://handbill.example"), "{failure:?}");
    }

    #[test]
    fn response_of_another_server_is_reported() {
        let page = reply(200, "<html>welcome</html>", None);
        let failure = page.read::<crate::wire::Account>().unwrap_err();
        assert_eq!(failure.exit as u8, 7);
    }

    #[test]
    fn control_characters_are_removed_for_terminals_and_kept_in_json() {
        let body = r#"{"claim_url":"http://a/\u001b]0;gone\u0007","expires_at":"\u009b2J"}"#;
        let answer = reply(200, body, None);
        let link: crate::wire::ClaimLink = answer.read().unwrap();
        assert_eq!((link.claim_url.as_str(), link.expires_at.as_deref()), ("http://a/]0;gone", Some("2J")));
        assert_eq!(answer.json().unwrap()["claim_url"], "http://a/\u{1b}]0;gone\u{7}");
    }

    #[test]
    fn only_local_addresses_are_loopback() {
        let is = |url: &str| is_loopback(&url.parse().unwrap());
        assert!(is("http://127.0.0.1:8080") && is("http://[::1]:8080") && is("http://localhost"));
        assert!(!is("http://127.0.0.1.example.org") && !is("https://10.0.0.1") && !is("http://localhosts"));
    }
}
