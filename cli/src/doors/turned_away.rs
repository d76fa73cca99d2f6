//! What somebody is told who gets no place: 503 with `Retry-After`, and goodbye. Nothing of theirs is done, and they must
//! take next to nothing: so few of them are told at a time, and the others hear nothing.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::time::timeout;

const RETRY_AFTER_SECONDS: u64 = 2;
const TOLD_MAX: usize = 256;
const TOLD_WITHIN: Duration = Duration::from_secs(2);
/// What is read of a request that is not answered.
const READ_BYTES: usize = 8 * 1024;

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

    /// Tells it beside everything else.
    pub(crate) fn tell(&self, stream: TcpStream) {
        let Ok(place) = self.places.clone().try_acquire_owned() else { return };
        let answer = self.answer.clone();
        tokio::spawn(async move {
            let _place = place;
            // Whoever does not listen is not told.
            let _ = timeout(TOLD_WITHIN, answer_once(stream, &answer)).await;
        });
    }
}

/// What was sent is read before and after, or the answer would be lost with a connection that is reset.
async fn answer_once(mut stream: TcpStream, answer: &[u8]) -> std::io::Result<()> {
    let mut sent = vec![0; READ_BYTES];
    let _begin_of_what_was_asked = stream.read(&mut sent).await?;
    stream.write_all(answer).await?;
    stream.shutdown().await?;
    while stream.read(&mut sent).await? > 0 {}
    Ok(())
}
