//! Sends spans to the collector with the program's HTTP client. The exporter's thread has no runtime of its
//! own, so each request runs on that of the process.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, ensure};
use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use http::{Request, Response};
use opentelemetry_http::{HttpClient, HttpError};
use tokio::runtime::Handle;

/// The limit of a collector's response.
const RESPONSE_BYTES_MAX: usize = 64 << 10;

#[derive(Debug)]
pub(super) struct Carrier {
    client: reqwest::Client,
    runtime: Handle,
    /// So that an outage is logged once.
    is_refused: AtomicBool,
}

impl Carrier {
    pub(super) fn new(runtime: Handle, wait: Duration) -> anyhow::Result<Self> {
        let client =
            reqwest::Client::builder().timeout(wait).build().context("build the HTTP client for traces")?;
        Ok(Self { client, runtime, is_refused: AtomicBool::new(false) })
    }

    fn log_change(&self, refusal: Option<String>) {
        let was_refused = self.is_refused.swap(refusal.is_some(), Ordering::Relaxed);
        match refusal {
            Some(error) if !was_refused => {
                tracing::warn!(error, "the collector refuses traces; they are dropped until it accepts them");
            }
            None if was_refused => tracing::info!("the collector accepts traces again"),
            _ => {}
        }
    }
}

#[async_trait]
impl HttpClient for Carrier {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let sent = self.runtime.spawn(send(self.client.clone(), request)).await;
        let sent = sent.context("the runtime has shut down").and_then(|sent| sent);
        self.log_change(match &sent {
            Ok(response) if response.status().is_success() => None,
            Ok(response) => Some(response.status().to_string()),
            Err(error) => Some(format!("{error:#}")),
        });
        Ok(sent?)
    }
}

async fn send(client: reqwest::Client, request: Request<Bytes>) -> anyhow::Result<Response<Bytes>> {
    // Without the URL, which may be confidential and must not be logged.
    let mut received = client.execute(request.try_into()?).await.map_err(reqwest::Error::without_url)?;
    let mut response = Response::builder().status(received.status());
    if let Some(headers) = response.headers_mut() {
        *headers = std::mem::take(received.headers_mut());
    }
    let mut body = BytesMut::new();
    while let Some(chunk) = received.chunk().await.map_err(reqwest::Error::without_url)? {
        ensure!(body.len() + chunk.len() <= RESPONSE_BYTES_MAX, "the collector's response is too long");
        body.extend_from_slice(&chunk);
    }
    Ok(response.body(body.freeze())?)
}
