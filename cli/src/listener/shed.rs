//! What somebody is told who gets no place: 503 with `Retry-After`, and goodbye. Nothing of theirs is done, and they must
//! take next to nothing: so no more than `TOLD_MAX` are told at a time, and only when there are more hear the others
//! nothing. Who speaks HTTP/2 without asking is told that the connection goes away and nothing was begun, which their
//! library may take as leave to try again; that has no words in it, and no blame, after which some do not try.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::time::timeout;

const RETRY_AFTER_SECONDS: u64 = 2;
pub(super) const TOLD_MAX: usize = 1_024;
const TOLD_WITHIN: Duration = Duration::from_secs(2);
/// What is read of a request that is not answered.
const READ_BYTES: usize = 8 * 1024;

const HTTP2_PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n";
/// Frames: SETTINGS without a setting, then GOAWAY with no stream begun and the code NO_ERROR.
const HTTP2_GOODBYE: Bytes =
    Bytes::from_static(b"\0\0\0\x04\0\0\0\0\0\0\0\x08\x07\0\0\0\0\0\0\0\0\0\0\0\0\0");

#[derive(Clone)]
pub(crate) struct TurnedAway {
    answer: Bytes,
    places: Arc<Semaphore>,
}

impl TurnedAway {
    /// They are told this.
    pub(crate) fn told(content_type: &str, body: &str) -> Self {
        let answer = format!(
            "HTTP/1.1 503 Service Unavailable\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\
             Retry-After: {RETRY_AFTER_SECONDS}\r\nCache-Control: no-store\r\n\
             X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        Self { answer: answer.into(), places: Arc::new(Semaphore::new(TOLD_MAX)) }
    }

    /// Tells it, if not too many are told already.
    pub(crate) async fn tell(&self, stream: TcpStream) {
        let Ok(_place) = self.places.try_acquire() else { return };
        // Whoever does not listen is not told.
        let _ = timeout(TOLD_WITHIN, self.answer_once(stream)).await;
    }

    /// What was sent is read before and after, or the answer would be lost with a connection that is reset.
    async fn answer_once(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let mut sent = vec![0; READ_BYTES];
        let read = stream.read(&mut sent).await?;
        let speaks_http2 = sent[..read].starts_with(HTTP2_PREFACE);
        let answer = if speaks_http2 { HTTP2_GOODBYE } else { self.answer.clone() };
        stream.write_all(&answer).await?;
        stream.shutdown().await?;
        while stream.read(&mut sent).await? > 0 {}
        Ok(())
    }
}
