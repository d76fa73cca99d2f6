//! The response to a connection without a slot: 503 with `Retry-After`, then the connection is closed. Its
//! request is not processed. This must cost next to nothing, so the number of concurrent responses is
//! limited, and further connections are closed without one. A client that speaks HTTP/2 from the start gets a
//! GOAWAY without an error code and with no stream processed. Its library may then retry, which some would
//! not do after an error.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::time::timeout;

const RETRY_AFTER_SECONDS: u64 = 2;
pub(super) const RESPONSES_MAX: usize = 1_024;
const RESPOND_WITHIN: Duration = Duration::from_secs(2);
/// How much of the unanswered request is read at a time.
const READ_BYTES: usize = 8 * 1024;

const HTTP2_PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n";
/// A SETTINGS frame without settings, then GOAWAY with no stream processed and the code NO_ERROR.
const HTTP2_GOAWAY: Bytes = Bytes::from_static(b"\0\0\0\x04\0\0\0\0\0\0\0\x08\x07\0\0\0\0\0\0\0\0\0\0\0\0\0");

#[derive(Clone)]
pub(crate) struct OverloadResponse {
    response: Bytes,
    permits: Arc<Semaphore>,
}

impl OverloadResponse {
    /// A response with this body.
    pub(crate) fn new(content_type: &str, body: &str) -> Self {
        let response = format!(
            "HTTP/1.1 503 Service Unavailable\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\
             Retry-After: {RETRY_AFTER_SECONDS}\r\nCache-Control: no-store\r\n\
             X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        Self { response: response.into(), permits: Arc::new(Semaphore::new(RESPONSES_MAX)) }
    }

    /// Sends the response, unless too many are being sent already.
    pub(crate) async fn send(&self, stream: TcpStream) {
        let Ok(_permit) = self.permits.try_acquire() else { return };
        // A client that does not read gets no response.
        let _ = timeout(RESPOND_WITHIN, self.respond(stream)).await;
    }

    /// Reads the request before and after, because otherwise a connection reset could discard the response.
    async fn respond(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let mut sent = vec![0; READ_BYTES];
        let read = stream.read(&mut sent).await?;
        let speaks_http2 = sent[..read].starts_with(HTTP2_PREFACE);
        let response = if speaks_http2 { HTTP2_GOAWAY } else { self.response.clone() };
        stream.write_all(&response).await?;
        stream.shutdown().await?;
        while stream.read(&mut sent).await? > 0 {}
        Ok(())
    }
}
