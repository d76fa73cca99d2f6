//! Carries spans to the collector by the HTTP client that the program has already. The thread that gathers them has no
//! runtime of its own, so each request is made on that of the process.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, ensure};
use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use http::{Request, Response};
use opentelemetry_http::{HttpClient, HttpError};
use tokio::runtime::Handle;

/// What a collector answers beyond this is no answer.
const ANSWER_BYTES_MAX: usize = 64 << 10;

#[derive(Debug)]
pub(super) struct Carrier {
    client: reqwest::Client,
    runtime: Handle,
    /// So that an outage is told in the log once.
    is_refused: AtomicBool,
}

impl Carrier {
    pub(super) fn new(runtime: Handle, wait: Duration) -> anyhow::Result<Self> {
        let client = reqwest::Client::builder().timeout(wait).build().context("a client for traces")?;
        Ok(Self { client, runtime, is_refused: AtomicBool::new(false) })
    }

    fn note(&self, refusal: Option<String>) {
        let was_refused = self.is_refused.swap(refusal.is_some(), Ordering::Relaxed);
        match refusal {
            Some(error) if !was_refused => {
                tracing::warn!(error, "the collector takes no traces; they are dropped until it does");
            }
            None if was_refused => tracing::info!("the collector takes traces again"),
            _ => {}
        }
    }
}

#[async_trait]
impl HttpClient for Carrier {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let sent = self.runtime.spawn(send(self.client.clone(), request)).await;
        let sent = sent.context("the runtime has ended").and_then(|sent| sent);
        self.note(match &sent {
            Ok(answer) if answer.status().is_success() => None,
            Ok(answer) => Some(answer.status().to_string()),
            Err(error) => Some(format!("{error:#}")),
        });
        Ok(sent?)
    }
}

async fn send(client: reqwest::Client, request: Request<Bytes>) -> anyhow::Result<Response<Bytes>> {
    // Without the address: it is the operator's to know, and the log's to leave out.
    let mut answer = client.execute(request.try_into()?).await.map_err(reqwest::Error::without_url)?;
    let mut response = Response::builder().status(answer.status());
    if let Some(headers) = response.headers_mut() {
        *headers = std::mem::take(answer.headers_mut());
    }
    let mut body = BytesMut::new();
    while let Some(chunk) = answer.chunk().await.map_err(reqwest::Error::without_url)? {
        ensure!(body.len() + chunk.len() <= ANSWER_BYTES_MAX, "the collector's answer is too long");
        body.extend_from_slice(&chunk);
    }
    Ok(response.body(body.freeze())?)
}
