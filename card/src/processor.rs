//! Opens checkouts at the card processor. Its response is validated strictly, because a person is redirected
//! to the address in it.

use std::fmt;
use std::time::Duration;

use anyhow::Context;
use domain::{AccountId, CheckoutAmount};
use reqwest::header::{CONTENT_TYPE, HeaderValue};
use reqwest::{Client, Response, redirect};
use serde::Deserialize;
use serde_json::Value;
use url::Url;
use url::form_urlencoded::Serializer;

use crate::is_processor_id;

/// Short, because a person waits for the response.
const RESPONSE_WAIT: Duration = Duration::from_secs(10);
const CONNECT_WAIT: Duration = Duration::from_secs(3);
const RESPONSE_BYTES_MAX: usize = 256 * 1024;
const CHECKOUT_URL_BYTES_MAX: usize = 8 * 1024;
const ERROR_CODE_BYTES_MAX: usize = 64;
const FORM: HeaderValue = HeaderValue::from_static("application/x-www-form-urlencoded");
const USER_AGENT: &str = concat!("Handbill/", env!("CARGO_PKG_VERSION"));
/// The processor's API version that the requests and events are written for. Without it the processor uses
/// the version that its account is set to.
const API_VERSION: HeaderValue = HeaderValue::from_static("2025-06-30.basil");

/// The processor's address, and where it sends people afterwards.
#[derive(Clone, Copy)]
pub struct ProcessorAddress<'a> {
    pub api_url: &'a str,
    pub secret_key: &'a str,
    /// Our own base URL. The paths of every order are below it.
    pub base_url: &'a str,
}

/// A card processor with Stripe's checkout sessions.
#[derive(Clone)]
pub struct CardProcessor {
    client: Client,
    sessions_url: String,
    secret_key: String,
    base_url: String,
}

/// The account and the amount of a checkout.
#[derive(Clone, Debug)]
pub struct CheckoutOrder {
    /// The processor opens one session per key, however often the request arrives.
    pub idempotency_key: String,
    pub account: AccountId,
    pub amount: CheckoutAmount,
    /// Our page for a person who has paid.
    pub paid_path: String,
    /// Our page for a person who cancelled.
    pub unpaid_path: String,
}

/// A checkout that awaits its payment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckoutSession {
    pub id: String,
    /// Where the person pays.
    pub url: String,
}

/// Why no checkout was opened.
#[derive(Debug, thiserror::Error)]
pub enum ProcessorFault {
    #[error("the card processor did not respond")]
    Unreachable(#[source] reqwest::Error),
    #[error("the card processor responded with status {status}, code {code}")]
    Refused { status: u16, code: String },
    #[error("the card processor's response is not a session: {0}")]
    Nonsense(&'static str),
}

impl From<reqwest::Error> for ProcessorFault {
    fn from(error: reqwest::Error) -> Self {
        ProcessorFault::Unreachable(error.without_url())
    }
}

impl CardProcessor {
    pub fn new(address: ProcessorAddress<'_>) -> anyhow::Result<Self> {
        let client = Client::builder()
            .timeout(RESPONSE_WAIT)
            .connect_timeout(CONNECT_WAIT)
            .user_agent(USER_AGENT)
            // A redirect must not leak the key to another address.
            .redirect(redirect::Policy::none())
            .build()
            .context("build the card processor's HTTP client")?;
        Ok(Self {
            client,
            sessions_url: format!("{}/v1/checkout/sessions", address.api_url),
            secret_key: address.secret_key.to_owned(),
            base_url: address.base_url.to_owned(),
        })
    }

    pub async fn open_checkout(&self, order: &CheckoutOrder) -> Result<CheckoutSession, ProcessorFault> {
        let response = self
            .client
            .post(&self.sessions_url)
            .bearer_auth(&self.secret_key)
            .header(CONTENT_TYPE, FORM)
            .header("Stripe-Version", API_VERSION)
            .header("Idempotency-Key", &order.idempotency_key)
            .body(self.form(order))
            .send()
            .await?;
        let status = response.status();
        let body = bounded_body(response).await?;
        if status.is_success() {
            return CheckoutSession::read(&body).map_err(ProcessorFault::Nonsense);
        }
        Err(ProcessorFault::Refused { status: status.as_u16(), code: error_code(&body) })
    }

    fn form(&self, order: &CheckoutOrder) -> String {
        let (account, cents) = (order.account.to_string(), order.amount.cents().to_string());
        let [success_url, cancel_url] =
            [&order.paid_path, &order.unpaid_path].map(|path| format!("{}{path}", self.base_url));
        let fields = [
            ("mode", "payment"),
            ("payment_method_types[0]", "card"),
            ("client_reference_id", &account),
            ("metadata[account_id]", &account),
            ("line_items[0][quantity]", "1"),
            ("line_items[0][price_data][currency]", "usd"),
            ("line_items[0][price_data][unit_amount]", &cents),
            ("line_items[0][price_data][product_data][name]", "Handbill credit"),
            ("success_url", &success_url),
            ("cancel_url", &cancel_url),
        ];
        Serializer::new(String::new()).extend_pairs(fields).finish()
    }
}

impl fmt::Debug for CardProcessor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CardProcessor").field("sessions_url", &self.sessions_url).finish_non_exhaustive()
    }
}

impl CheckoutSession {
    fn read(body: &[u8]) -> Result<Self, &'static str> {
        #[derive(Deserialize)]
        struct ProcessorResponse {
            id: String,
            url: String,
        }
        let ProcessorResponse { id, url } =
            serde_json::from_slice(body).map_err(|_| "id or url is missing")?;
        if !is_processor_id(&id) {
            return Err("the id is malformed");
        }
        if !is_web_address(&url) {
            return Err("the url is malformed");
        }
        Ok(Self { id, url })
    }
}

fn is_web_address(text: &str) -> bool {
    text.len() <= CHECKOUT_URL_BYTES_MAX
        && text.bytes().all(|byte| byte.is_ascii_graphic())
        && Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}

async fn bounded_body(mut response: Response) -> Result<Vec<u8>, ProcessorFault> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > RESPONSE_BYTES_MAX {
            return Err(ProcessorFault::Nonsense("it is too long"));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// The processor's error code, for the log. Its message may quote the key, so it is not logged.
fn error_code(body: &[u8]) -> String {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let error = &body["error"];
    let code = error["code"].as_str().or_else(|| error["type"].as_str()).unwrap_or_default();
    let is_code = (1..=ERROR_CODE_BYTES_MAX).contains(&code.len())
        && code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    if is_code { code.to_owned() } else { "unknown".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_read_strictly() {
        let read = |body: &str| CheckoutSession::read(body.as_bytes());
        let good = r#"{"id":"cs_1","object":"checkout.session","url":"https://pay.example/c/cs_1#x"}"#;
        let session = CheckoutSession { id: "cs_1".into(), url: "https://pay.example/c/cs_1#x".into() };
        assert_eq!(read(good), Ok(session));
        for bad in [
            "",
            "null",
            "[]",
            "{}",
            "<html>",
            r#"{"id":"cs_1"}"#,
            r#"{"id":"cs_1","url":null}"#,
            r#"{"id":7,"url":"https://pay.example/"}"#,
            r#"{"id":"","url":"https://pay.example/"}"#,
            r#"{"id":"two words","url":"https://pay.example/"}"#,
            r#"{"id":"cs_1","url":"/pay"}"#,
            r#"{"id":"cs_1","url":"javascript:alert(1)"}"#,
            r#"{"id":"cs_1","url":"https://pay.example/\n"}"#,
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn only_known_processor_error_codes_are_logged() {
        let code = |body: &str| error_code(body.as_bytes());
        assert_eq!(code(r#"{"error":{"type":"card_error","code":"amount_too_small"}}"#), "amount_too_small");
        assert_eq!(code(r#"{"error":{"type":"api_error","message":"key sk_1"}}"#), "api_error");
        for body in ["", "{}", r#"{"error":"sk_live_1"}"#, r#"{"error":{"code":"sk_live_4eC39H"}}"#] {
            assert_eq!(code(body), "unknown", "{body}");
        }
    }
}
