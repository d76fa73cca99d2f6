//! Builds one request, which `.await` sends.

use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use bytes::Bytes;
use reqwest::{Client, Method};
use serde_json::Value;

use crate::{PATIENCE, Reply};

const BOUNDARY: &str = "handbill-test-boundary-7d3f";
const TIMEOUT: Duration = Duration::from_secs(60);
const BETWEEN_CHECKS: Duration = Duration::from_millis(50);

/// The HTTP client of all personas. It follows no redirects, uses no proxy and requests no compression by
/// default.
pub(crate) fn client() -> Client {
    static CLIENT: LazyLock<()> = LazyLock::new(|| {
        // Another test of the same process may have installed it already.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
    LazyLock::force(&CLIENT);
    Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .timeout(TIMEOUT)
        .build()
        .expect("an HTTP client")
}

/// A request under construction.
#[must_use = "a call is sent by .await"]
pub struct Call {
    client: Client,
    method: Method,
    url: String,
    headers: Vec<(String, String)>,
    body: Body,
    answered: Option<Answered>,
    /// Whether it is retried while the page is being checked.
    waits_for_check: bool,
}

/// A persona's handler for a response to its own call, such as storing cookies.
pub(crate) type Answered = Arc<dyn Fn(&Reply) + Send + Sync>;

enum Body {
    None,
    Raw(String, Bytes),
    Form(Vec<Part>),
}

struct Part {
    name: String,
    file_name: Option<String>,
    content: Bytes,
}

impl Call {
    pub(crate) fn new(client: &Client, method: Method, url: impl Into<String>) -> Self {
        Self {
            client: client.clone(),
            method,
            url: url.into(),
            headers: Vec::new(),
            body: Body::None,
            answered: None,
            waits_for_check: false,
        }
    }

    pub(crate) fn when_answered(mut self, answered: Answered) -> Self {
        self.answered = Some(answered);
        self
    }

    /// Retries while the response says that the page is being checked. A test that moves the clock may be
    /// ahead of a scan.
    pub(crate) fn waiting_for_check(mut self) -> Self {
        self.waits_for_check = true;
        self
    }

    /// Takes the first response, even if it says that the page is being checked.
    pub fn at_once(mut self) -> Self {
        self.waits_for_check = false;
        self
    }

    pub fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// Pays inline: `dev:0.005`.
    pub fn paying(self, payment: impl Into<String>) -> Self {
        self.header("X-PAYMENT", payment)
    }

    pub fn idempotency_key(self, key: impl Into<String>) -> Self {
        self.header("Idempotency-Key", key)
    }

    pub fn json(self, body: &Value) -> Self {
        self.raw("application/json", body.to_string())
    }

    /// The fields of a form, encoded as a browser does.
    pub fn form(self, fields: &[(&str, &str)]) -> Self {
        let encoded =
            reqwest::Url::parse_with_params("http://form/", fields).expect("an address with a query");
        self.raw("application/x-www-form-urlencoded", encoded.query().unwrap_or_default().to_owned())
    }

    /// A body that is sent unchanged, well-formed or not.
    pub fn raw(mut self, content_type: &str, body: impl Into<Bytes>) -> Self {
        self.body = Body::Raw(content_type.to_owned(), body.into());
        self
    }

    pub fn field(self, name: &str, content: impl Into<Bytes>) -> Self {
        self.part(Part { name: name.to_owned(), file_name: None, content: content.into() })
    }

    /// Adds a file to a multipart form. Its path is sent unchanged, whatever it contains.
    pub fn file(self, path: &str, content: impl Into<Bytes>) -> Self {
        self.part(Part {
            name: "files".to_owned(),
            file_name: Some(path.to_owned()),
            content: content.into(),
        })
    }

    /// The response, or the error, such as a connection to a process that died.
    pub async fn try_send(self) -> Result<Reply, reqwest::Error> {
        let until = Instant::now() + PATIENCE;
        loop {
            let reply = self.send_once().await?;
            if self.waits_for_check && is_being_checked(&reply) && Instant::now() < until {
                tokio::time::sleep(BETWEEN_CHECKS).await;
                continue;
            }
            if let Some(answered) = &self.answered {
                answered(&reply);
            }
            return Ok(reply);
        }
    }

    async fn send_once(&self) -> Result<Reply, reqwest::Error> {
        let path = self.url.splitn(4, '/').nth(3).unwrap_or_default();
        let call = format!("{} /{path}", self.method);
        let mut request = self.client.request(self.method.clone(), &self.url);
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        request = match &self.body {
            Body::None => request,
            Body::Raw(content_type, body) => request.header("Content-Type", content_type).body(body.clone()),
            Body::Form(parts) => request
                .header("Content-Type", format!("multipart/form-data; boundary={BOUNDARY}"))
                .body(encode(parts)),
        };
        let answer = request.send().await?;
        let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
        Ok(Reply { status, headers, body: answer.bytes().await?, call })
    }

    fn part(mut self, part: Part) -> Self {
        match &mut self.body {
            Body::Form(parts) => parts.push(part),
            body => *body = Body::Form(vec![part]),
        }
        self
    }
}

impl IntoFuture for Call {
    type Output = Reply;
    type IntoFuture = Pin<Box<dyn Future<Output = Reply> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        let call = format!("{} {}", self.method, self.url);
        Box::pin(async move {
            match self.try_send().await {
                Ok(reply) => reply,
                Err(error) => panic!("{call} was not answered: {error:?}"),
            }
        })
    }
}

/// Whether an edge holds the page back until it is scanned.
fn is_being_checked(reply: &Reply) -> bool {
    reply.status == 503 && reply.text().contains("This page is being checked")
}

// Encodes as curl does: file names are sent unchanged, including folders. A library would escape what the
// tests need to send.
fn encode(parts: &[Part]) -> Vec<u8> {
    let mut body = Vec::new();
    for Part { name, file_name, content } in parts {
        body.extend_from_slice(format!("--{BOUNDARY}\r\n").as_bytes());
        let disposition = format!("Content-Disposition: form-data; name=\"{name}\"");
        body.extend_from_slice(disposition.as_bytes());
        if let Some(file_name) = file_name {
            body.extend_from_slice(format!("; filename=\"{file_name}\"\r\n").as_bytes());
            body.extend_from_slice(b"Content-Type: application/octet-stream");
        }
        body.extend_from_slice(b"\r\n\r\n");
        body.extend_from_slice(content);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{BOUNDARY}--\r\n").as_bytes());
    body
}
