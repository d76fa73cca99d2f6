//! Connections: one that is idle is hung up on, and so is one over which no request comes, be it the first or the next,
//! or whose visitor takes an answer so slowly that it will never end.
//!
//! The server libraries can do some of that, but start and stop a timer for it at every request; here one alarm looks
//! now and then. It must be looked at whenever there is something to wait for: a visitor may neither send nor take
//! anything.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use config::ConnectionLimits;
use telemetry::{ConnectionMeter, Count, Cut};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;
use tokio::time::{Instant, Sleep, sleep};

/// How slow the connections of a door may be, and what is counted of them.
#[derive(Clone)]
pub(crate) struct Pace {
    /// The head of its first request must have come over a connection by then: who sends it byte by byte is never idle.
    first_request_within: Duration,
    /// A connection on which nothing happened between two looks is closed: so it is idle for twice that at most.
    look_every: Duration,
    /// What a visitor must take of an answer between two looks.
    taken_bytes_min: u64,
    sent_bytes: Count,
    meter: ConnectionMeter,
}

impl Pace {
    pub(crate) fn of(limits: &ConnectionLimits, meter: ConnectionMeter) -> Self {
        let look_every = limits.idle_timeout / 2;
        let taken_bytes_min = look_every.as_secs_f64() * f64::from(limits.answer_bytes_per_second_min);
        Self {
            first_request_within: limits.head_timeout,
            look_every,
            taken_bytes_min: (taken_bytes_min as u64).max(1),
            sent_bytes: Count::default(),
            meter,
        }
    }

    /// Counts the bytes that go out.
    pub(crate) fn counting(self, sent_bytes: Count) -> Self {
        Self { sent_bytes, ..self }
    }
}

/// The requests that have come over a connection, as noted by whoever answers them; and whether it is to end.
#[derive(Clone)]
pub(crate) struct Asked(Arc<Requests>);

struct Requests {
    begun: AtomicU64,
    ended: AtomicU64,
    opened_at: Instant,
    /// How long after that the last request ended.
    rests_since_ms: AtomicU64,
    leave: Notify,
    must_go: AtomicBool,
}

/// A request that is being answered, as long as this is there.
pub(crate) struct InHand(Arc<Requests>);

impl Default for Asked {
    fn default() -> Self {
        Self(Arc::new(Requests {
            begun: AtomicU64::new(0),
            ended: AtomicU64::new(0),
            opened_at: Instant::now(),
            rests_since_ms: AtomicU64::new(0),
            leave: Notify::new(),
            must_go: AtomicBool::new(false),
        }))
    }
}

impl Asked {
    pub(crate) fn note(&self) -> InHand {
        self.0.begun.fetch_add(1, Ordering::Relaxed);
        InHand(self.0.clone())
    }

    /// For how long nothing has been asked; none while something is in hand.
    pub(crate) fn idle_for(&self) -> Option<Duration> {
        let rests_since = Duration::from_millis(self.0.rests_since_ms.load(Ordering::Relaxed));
        (!self.has_any_in_hand()).then(|| self.open_for().saturating_sub(rests_since))
    }

    /// Tells the connection to end once everything is answered.
    pub(crate) fn tell_to_leave(&self) {
        self.0.leave.notify_one();
    }

    /// The same; where nothing was ever asked it ends at once, though half of a request be there: it may be all that
    /// ever comes.
    pub(crate) fn tell_to_make_room(&self) {
        self.0.must_go.store(self.begun() == 0, Ordering::Relaxed);
        self.tell_to_leave();
    }

    pub(crate) async fn told_to_leave(&self) {
        self.0.leave.notified().await;
    }

    /// Whether it is to end without another word.
    pub(crate) fn must_go(&self) -> bool {
        self.0.must_go.load(Ordering::Relaxed) && self.begun() == 0
    }

    fn open_for(&self) -> Duration {
        self.0.opened_at.elapsed()
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
        let open_for = u64::try_from(self.0.opened_at.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.0.rests_since_ms.store(open_for, Ordering::Relaxed);
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
    /// What the visitor took since then.
    taken_bytes: u64,
    pace: Arc<Pace>,
}

impl<S> Connection<S> {
    pub(crate) fn over(stream: S, asked: Asked, pace: Arc<Pace>) -> Self {
        let alarm = Box::pin(sleep(pace.first_request_within.min(pace.look_every)));
        Self { stream, alarm, asked, begun_before: 0, taken_bytes: 0, pace }
    }

    /// Ready when the connection was idle for too long, or nothing was asked by the first look.
    fn poll_idle(&mut self, context: &mut Context<'_>) -> Poll<()> {
        loop {
            ready!(self.alarm.as_mut().poll(context));
            let left_for_first = self.pace.first_request_within.saturating_sub(self.asked.open_for());
            if self.asked.begun() == 0 && !left_for_first.is_zero() {
                self.alarm.as_mut().reset(Instant::now() + left_for_first.min(self.pace.look_every));
                continue;
            }
            if !self.is_in_use() {
                self.pace.meter.cut(Cut::Silent);
                return Poll::Ready(());
            }
            self.begun_before = self.asked.begun();
            self.taken_bytes = 0;
            self.alarm.as_mut().reset(Instant::now() + self.pace.look_every);
        }
    }

    /// Whether the connection does what it is there for since the alarm last rang: requests begin, or are in hand, which
    /// has bounds of its own, or answers are taken. What is sent between two requests is the head of the next one, and
    /// that is short.
    fn is_in_use(&self) -> bool {
        let begun = self.asked.begun();
        let is_taking = self.taken_bytes >= self.pace.taken_bytes_min;
        begun > 0 && (begun != self.begun_before || self.asked.has_any_in_hand() || is_taking)
    }

    fn note_sent(&mut self, written: &Poll<io::Result<usize>>) {
        if let Poll::Ready(Ok(bytes)) = written {
            self.taken_bytes += *bytes as u64;
            self.pace.sent_bytes.add(*bytes as u64);
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
        self.look(written, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.note_sent(&written);
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
    use crate::doors::tests::LIMITS;

    const LOOK_EVERY: Duration = Duration::from_millis(37_500);

    fn over(door: DuplexStream, asked: Asked) -> Connection<DuplexStream> {
        let pace = Pace::of(&LIMITS, ConnectionMeter::default());
        assert_eq!(pace.look_every, LOOK_EVERY);
        Connection::over(door, asked, Arc::new(pace))
    }

    /// A visitor's end, and a connection over which they have asked something, which was answered.
    fn asked_over() -> (DuplexStream, Connection<DuplexStream>) {
        let (visitor, door) = duplex(64);
        let asked = Asked::default();
        drop(asked.note());
        (visitor, over(door, asked))
    }

    fn assert_hung_up_when_idle(end: &io::Error, idle_since: Instant) {
        assert_eq!(end.kind(), io::ErrorKind::TimedOut);
        let idle = idle_since.elapsed();
        assert!(LOOK_EVERY <= idle && idle <= 2 * LOOK_EVERY + Duration::from_secs(1), "{idle:?}");
    }

    /// Takes so many bytes of an answer without an end every second; how long that went well.
    async fn taken_at(bytes_per_second: usize) -> Duration {
        let (mut visitor, mut connection) = asked_over();
        let answering = tokio::spawn(async move { connection.write_all(&[0; 10_000_000]).await });
        let since = Instant::now();
        let mut taken = vec![0; bytes_per_second];
        while !answering.is_finished() && since.elapsed() < 10 * LOOK_EVERY {
            visitor.read_exact(&mut taken).await.unwrap();
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        since.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_stays_while_its_request_is_in_hand_and_ends_when_nothing_happens() {
        let (mut visitor, mut connection) = asked_over();
        let in_hand = connection.asked.note();
        let mut byte = [0];
        for _ in 0..10 {
            advance(LOOK_EVERY - Duration::from_secs(1)).await;
            let read = timeout(Duration::from_millis(1), connection.read(&mut byte));
            assert!(read.await.is_err(), "nothing was sent, and nothing has ended");
        }
        drop(in_hand);
        connection.write_all(b"x").await.unwrap();
        visitor.read_exact(&mut byte).await.unwrap();
        let idle_since = Instant::now();
        let end = connection.read(&mut byte).await.unwrap_err();
        assert_eq!(end.kind(), io::ErrorKind::TimedOut);
        assert!(idle_since.elapsed() <= 2 * LOOK_EVERY, "{:?}", idle_since.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn who_takes_an_answer_fast_enough_gets_all_of_it_and_who_does_not_is_hung_up_on() {
        let fast_enough = taken_at(1_100).await;
        assert!(fast_enough >= 10 * LOOK_EVERY, "{fast_enough:?}");
        let too_slow = taken_at(900).await;
        assert!(too_slow <= 3 * LOOK_EVERY, "{too_slow:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn who_takes_no_more_of_an_answer_is_hung_up_on() {
        let (_visitor, mut connection) = asked_over();
        let idle_since = Instant::now();
        let end = connection.write_all(&[0; 1000]).await.unwrap_err();
        assert_hung_up_when_idle(&end, idle_since);
        let (_visitor, mut connection) = asked_over();
        connection.write_all(&[0; 64]).await.unwrap();
        let idle_since = Instant::now();
        let end = connection.write_vectored(&[io::IoSlice::new(&[0; 64])]).await.unwrap_err();
        assert_hung_up_when_idle(&end, idle_since);
    }

    #[tokio::test(start_paused = true)]
    async fn who_sends_without_asking_anything_is_hung_up_on_too() {
        let (mut visitor, door) = duplex(64);
        let mut connection = over(door, Asked::default());
        let opened_at = Instant::now();
        let end = loop {
            visitor.write_all(b"x").await.unwrap();
            connection.read_exact(&mut [0]).await.unwrap();
            match timeout(Duration::from_secs(1), connection.read(&mut [0])).await {
                Ok(end) => break end.unwrap_err(),
                Err(_) => assert!(opened_at.elapsed() < LIMITS.head_timeout + Duration::from_secs(2)),
            }
        };
        assert_eq!(end.kind(), io::ErrorKind::TimedOut);
        assert!(opened_at.elapsed() >= LIMITS.head_timeout);
    }

    #[tokio::test(start_paused = true)]
    async fn who_has_asked_once_is_idle_however_long_a_first_request_may_take() {
        let limits = ConnectionLimits { idle_timeout: Duration::from_secs(2), ..LIMITS };
        let (_visitor, door) = duplex(64);
        let asked = Asked::default();
        drop(asked.note());
        let pace = Arc::new(Pace::of(&limits, ConnectionMeter::default()));
        let opened_at = Instant::now();
        assert!(Connection::over(door, asked, pace.clone()).read(&mut [0]).await.is_err());
        assert!(opened_at.elapsed() <= limits.idle_timeout, "{:?}", opened_at.elapsed());
        let (_visitor, door) = duplex(64);
        let opened_at = Instant::now();
        assert!(Connection::over(door, Asked::default(), pace).read(&mut [0]).await.is_err());
        assert_eq!(opened_at.elapsed().as_secs(), limits.head_timeout.as_secs());
    }

    #[tokio::test(start_paused = true)]
    async fn who_was_answered_and_sends_without_asking_again_is_hung_up_on_as_well() {
        let (mut visitor, mut connection) = asked_over();
        connection.write_all(b"answer").await.unwrap();
        visitor.read_exact(&mut [0; 6]).await.unwrap();
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
        let mut connection = over(door, asked.clone());
        let mut byte = [0];
        for _ in 0..10 {
            drop(asked.note());
            let read = timeout(LOOK_EVERY - Duration::from_secs(1), connection.read(&mut byte));
            assert!(read.await.is_err(), "it was hung up");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn it_is_known_for_how_long_nothing_was_asked() {
        let asked = Asked::default();
        advance(Duration::from_secs(5)).await;
        assert_eq!(asked.idle_for(), Some(Duration::from_secs(5)));
        let in_hand = asked.note();
        assert_eq!(asked.idle_for(), None);
        drop(in_hand);
        advance(Duration::from_secs(2)).await;
        assert_eq!(asked.idle_for(), Some(Duration::from_secs(2)));
    }

    #[tokio::test(start_paused = true)]
    async fn faults_of_the_stream_are_told() {
        let (visitor, mut connection) = asked_over();
        drop(visitor);
        assert_eq!(connection.read(&mut [0]).await.unwrap(), 0);
        assert!(connection.write_all(b"x").await.is_err());
    }
}
