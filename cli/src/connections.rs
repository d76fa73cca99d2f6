//! Connections: one that is idle is hung up on, and so is one over which no request comes, be it the first or the next.
//!
//! The server libraries can do that too, but start and stop a timer for it at every request; here one alarm looks now
//! and then. It must be looked at whenever there is something to wait for: a visitor may neither send nor take anything.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use telemetry::Count;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

/// A connection on which nothing happened between two looks is closed: idle for 75 s at most, and for half of that at
/// least.
const LOOK_EVERY: Duration = Duration::from_millis(37_500);

/// The head of its first request must have come over a connection by then: who sends it byte by byte is never idle.
const FIRST_REQUEST_WITHIN: Duration = Duration::from_secs(30);

/// The requests that have come over a connection; noted by whoever answers them.
#[derive(Clone, Default)]
pub(crate) struct Asked(Arc<Requests>);

#[derive(Default)]
struct Requests {
    begun: AtomicU64,
    ended: AtomicU64,
}

/// A request that is being answered, as long as this is there.
pub(crate) struct InHand(Arc<Requests>);

impl Asked {
    pub(crate) fn note(&self) -> InHand {
        self.0.begun.fetch_add(1, Ordering::Relaxed);
        InHand(self.0.clone())
    }

    fn begun(&self) -> u64 {
        self.0.begun.load(Ordering::Relaxed)
    }

    fn has_any_in_hand(&self) -> bool {
        self.begun() != self.0.ended.load(Ordering::Relaxed)
    }
}

impl Drop for InHand {
    fn drop(&mut self) {
        self.0.ended.fetch_add(1, Ordering::Relaxed);
    }
}

/// A connection that ends itself when it was idle for too long, or nothing was asked.
pub(crate) struct Connection<S> {
    stream: S,
    alarm: Pin<Box<Sleep>>,
    asked: Asked,
    /// The requests that had begun when the alarm last rang.
    begun_before: u64,
    /// Whether anything was taken from the visitor since then.
    has_read: bool,
    /// Whether the visitor took anything since then.
    has_written: bool,
    sent_bytes: Count,
}

impl<S> Connection<S> {
    pub(crate) fn over(stream: S, asked: Asked) -> Self {
        Self {
            stream,
            alarm: Box::pin(sleep(FIRST_REQUEST_WITHIN)),
            asked,
            begun_before: 0,
            has_read: true,
            has_written: false,
            sent_bytes: Count::default(),
        }
    }

    /// Counts the bytes that go out.
    pub(crate) fn counting(self, sent_bytes: Count) -> Self {
        Self { sent_bytes, ..self }
    }

    /// Ready when the connection was idle for too long, or nothing was asked by the first look.
    fn poll_idle(&mut self, context: &mut Context<'_>) -> Poll<()> {
        loop {
            ready!(self.alarm.as_mut().poll(context));
            if !self.is_in_use() {
                return Poll::Ready(());
            }
            self.begun_before = self.asked.begun();
            (self.has_read, self.has_written) = (false, false);
            self.alarm.as_mut().reset(Instant::now() + LOOK_EVERY);
        }
    }

    /// Whether the connection does what it is there for since the alarm last rang: requests begin, or come in, or
    /// answers go out. What is sent between two requests is the head of the next one, and that is short.
    fn is_in_use(&self) -> bool {
        let begun = self.asked.begun();
        let has_come_in = self.has_read && self.asked.has_any_in_hand();
        begun > 0 && (begun != self.begun_before || has_come_in || self.has_written)
    }

    fn note_sent(&self, written: &Poll<io::Result<usize>>) {
        if let Poll::Ready(Ok(bytes)) = written {
            self.sent_bytes.add(*bytes as u64);
        }
    }

    /// The end of a connection that waits in vain for a step over the stream; none when the step was done.
    fn look<T>(&mut self, step: Poll<io::Result<T>>, context: &mut Context<'_>) -> Poll<io::Result<T>> {
        if step.is_pending() {
            return self.poll_idle(context).map(|()| Err(io::ErrorKind::TimedOut.into()));
        }
        step
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Connection<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        self.has_read |= read.is_ready();
        self.look(read, context)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Connection<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.note_sent(&written);
        self.has_written |= written.is_ready();
        self.look(written, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.note_sent(&written);
        self.has_written |= written.is_ready();
        self.look(written, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
    use tokio::time::{advance, timeout};

    use super::*;

    /// A visitor's end, and a connection over which they have asked something that is being answered.
    fn asked_over() -> (DuplexStream, Connection<DuplexStream>, InHand) {
        let (visitor, door) = duplex(64);
        let asked = Asked::default();
        let in_hand = asked.note();
        (visitor, Connection::over(door, asked), in_hand)
    }

    fn assert_hung_up_when_idle(end: &io::Error, idle_since: Instant) {
        assert_eq!(end.kind(), io::ErrorKind::TimedOut);
        let idle = idle_since.elapsed();
        assert!(LOOK_EVERY <= idle && idle <= 2 * LOOK_EVERY + Duration::from_secs(1), "{idle:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_stays_while_anything_happens_and_ends_when_nothing_does() {
        let (mut visitor, mut connection, _in_hand) = asked_over();
        let mut byte = [0];
        for _ in 0..10 {
            advance(LOOK_EVERY - Duration::from_secs(1)).await;
            visitor.write_all(b"x").await.unwrap();
            connection.read_exact(&mut byte).await.unwrap();
        }
        let idle_since = Instant::now();
        let end = connection.read(&mut byte).await.unwrap_err();
        assert_hung_up_when_idle(&end, idle_since);
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_is_being_sent_counts_as_well() {
        let (mut visitor, mut connection, _in_hand) = asked_over();
        let mut byte = [0];
        for _ in 0..10 {
            advance(LOOK_EVERY - Duration::from_secs(1)).await;
            connection.write_all(b"x").await.unwrap();
            visitor.read_exact(&mut byte).await.unwrap();
            let read = timeout(Duration::from_millis(1), connection.read(&mut byte));
            assert!(read.await.is_err(), "nothing was sent, and nothing has ended");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn who_takes_no_more_of_an_answer_is_hung_up_on() {
        let (_visitor, mut connection, _in_hand) = asked_over();
        let idle_since = Instant::now();
        let end = connection.write_all(&[0; 1000]).await.unwrap_err();
        assert_hung_up_when_idle(&end, idle_since);
        let (_visitor, mut connection, _in_hand) = asked_over();
        connection.write_all(&[0; 64]).await.unwrap();
        let idle_since = Instant::now();
        let end = connection.write_vectored(&[io::IoSlice::new(&[0; 64])]).await.unwrap_err();
        assert_hung_up_when_idle(&end, idle_since);
    }

    #[tokio::test(start_paused = true)]
    async fn who_sends_without_asking_anything_is_hung_up_on_too() {
        let (mut visitor, door) = duplex(64);
        let mut connection = Connection::over(door, Asked::default());
        let opened_at = Instant::now();
        let end = loop {
            visitor.write_all(b"x").await.unwrap();
            connection.read_exact(&mut [0]).await.unwrap();
            match timeout(Duration::from_secs(1), connection.read(&mut [0])).await {
                Ok(end) => break end.unwrap_err(),
                Err(_) => assert!(opened_at.elapsed() < FIRST_REQUEST_WITHIN + Duration::from_secs(2)),
            }
        };
        assert_eq!(end.kind(), io::ErrorKind::TimedOut);
        assert!(opened_at.elapsed() >= FIRST_REQUEST_WITHIN);
    }

    #[tokio::test(start_paused = true)]
    async fn who_was_answered_and_sends_without_asking_again_is_hung_up_on_as_well() {
        let (mut visitor, mut connection, in_hand) = asked_over();
        connection.write_all(b"answer").await.unwrap();
        visitor.read_exact(&mut [0; 6]).await.unwrap();
        drop(in_hand);
        let answered_at = Instant::now();
        let end = loop {
            visitor.write_all(b"x").await.unwrap();
            connection.read_exact(&mut [0]).await.unwrap();
            match timeout(Duration::from_secs(1), connection.read(&mut [0])).await {
                Ok(end) => break end.unwrap_err(),
                Err(_) => assert!(answered_at.elapsed() <= 2 * LOOK_EVERY, "still there"),
            }
        };
        assert_eq!(end.kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test(start_paused = true)]
    async fn who_asks_now_and_then_stays() {
        let (_visitor, door) = duplex(64);
        let asked = Asked::default();
        let mut connection = Connection::over(door, asked.clone());
        let mut byte = [0];
        for _ in 0..10 {
            drop(asked.note());
            let read = timeout(LOOK_EVERY - Duration::from_secs(1), connection.read(&mut byte));
            assert!(read.await.is_err(), "it was hung up");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn faults_of_the_stream_are_told() {
        let (visitor, mut connection, _in_hand) = asked_over();
        drop(visitor);
        assert_eq!(connection.read(&mut [0]).await.unwrap(), 0);
        assert!(connection.write_all(b"x").await.is_err());
    }
}
