//! Connections: timeouts, slow clients and graceful ends.

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::time::{advance, timeout};

use config::ConnectionLimits;
use telemetry::ConnectionMeter;

use super::*;
use crate::listener::tests::LIMITS;

const CHECK_EVERY: Duration = Duration::from_millis(37_500);

fn pace_of(limits: &ConnectionLimits) -> Arc<Pace> {
    Arc::new(Pace::of(limits, ConnectionMeter::default()))
}

fn over(server: DuplexStream, requests: RequestCounter) -> Connection<DuplexStream> {
    let pace = pace_of(&LIMITS);
    assert_eq!(pace.check_every, CHECK_EVERY);
    Connection::over(server, requests, pace)
}

/// A client's end, and a connection on which a request was answered.
fn after_a_request() -> (DuplexStream, Connection<DuplexStream>) {
    let (visitor, server) = duplex(64);
    let requests = RequestCounter::default();
    drop(requests.start());
    (visitor, over(server, requests))
}

/// Sends a response as the HTTP library does, until it is read or the connection ends.
async fn answer(connection: &mut Connection<DuplexStream>, bytes: usize) -> io::Result<()> {
    let piece = connection.requests.start().pending(bytes);
    let mut left = bytes;
    while left > 0 {
        let written = connection.write(&vec![0; left.min(1_024)]).await?;
        piece.count_taken(written);
        left -= written;
    }
    Ok(())
}

/// Reads this many bytes per interval of an endless response. Returns how long that was allowed.
async fn taken_at(bytes: usize, every: Duration) -> Duration {
    let (mut visitor, mut connection) = after_a_request();
    let answering = tokio::spawn(async move { answer(&mut connection, 10_000_000).await });
    let since = Instant::now();
    let mut taken = vec![0; bytes];
    while !answering.is_finished() && since.elapsed() < 20 * CHECK_EVERY {
        if visitor.read_exact(&mut taken).await.is_err() {
            break;
        }
        tokio::time::sleep(every).await;
    }
    since.elapsed()
}

#[tokio::test(start_paused = true)]
async fn connection_stays_open_during_a_request_and_closes_when_idle() {
    let (_visitor, mut connection) = after_a_request();
    let active = connection.requests.start();
    let mut byte = [0];
    for _ in 0..10 {
        advance(CHECK_EVERY - Duration::from_secs(1)).await;
        let read = timeout(Duration::from_millis(1), connection.read(&mut byte));
        assert!(read.await.is_err(), "nothing was sent, and nothing has ended");
    }
    drop(active);
    let idle_since = Instant::now();
    let end = connection.read(&mut byte).await.unwrap_err();
    assert_eq!(end.kind(), io::ErrorKind::TimedOut);
    assert_eq!(idle_since.elapsed().as_secs(), LIMITS.idle_timeout.as_secs(), "no sooner and no later");
}

#[tokio::test(start_paused = true)]
async fn slow_readers_are_disconnected_and_fast_readers_are_not() {
    let fast_enough = taken_at(1_100, Duration::from_secs(1)).await;
    assert!(fast_enough >= 20 * CHECK_EVERY, "{fast_enough:?}");
    let too_slow = taken_at(500, Duration::from_secs(1)).await;
    assert!(too_slow <= 4 * CHECK_EVERY, "{too_slow:?}");
}

#[tokio::test(start_paused = true)]
async fn reading_in_large_bursts_is_judged_by_the_average_rate() {
    let fast_enough = taken_at(200_000, Duration::from_secs(180)).await;
    assert!(fast_enough >= 20 * CHECK_EVERY, "{fast_enough:?}");
    let too_slow = taken_at(200_000, Duration::from_secs(400)).await;
    assert!(too_slow < 20 * CHECK_EVERY, "{too_slow:?}");
}

#[tokio::test(start_paused = true)]
async fn reader_that_stops_reading_is_disconnected() {
    let (_visitor, mut connection) = after_a_request();
    let began = Instant::now();
    let end = answer(&mut connection, 1_000).await.unwrap_err();
    assert_eq!(end.kind(), io::ErrorKind::TimedOut);
    assert!((CHECK_EVERY..=2 * CHECK_EVERY).contains(&began.elapsed()), "{:?}", began.elapsed());
}

/// Reads small HTTP/2 responses in sequence, ten times as fast as required, beside an unread large response:
/// `handed_bytes` at first, then more each second. Returns when it timed out.
async fn taken_beside(handed_bytes: usize, more_each_second: usize) -> Duration {
    let (mut visitor, server) = duplex(64 * 1024);
    let requests = RequestCounter::default();
    let mut connection = over(server, requests.clone());
    let great = requests.start_concurrent();
    let mut pieces = vec![great.pending(handed_bytes)];
    let (since, mut small) = (Instant::now(), [0; 10_240]);
    while since.elapsed() < 20 * CHECK_EVERY {
        let piece = requests.start_concurrent().pending(small.len());
        connection.write_all(&small).await.unwrap();
        piece.count_taken(small.len());
        drop(piece);
        visitor.read_exact(&mut small).await.unwrap();
        if more_each_second > 0 {
            pieces = vec![great.pending(more_each_second), pieces.swap_remove(0)];
        }
        pieces.truncate(1);
        if let Ok(end) = timeout(Duration::from_secs(1), connection.read(&mut [0])).await {
            assert_eq!(end.unwrap_err().kind(), io::ErrorKind::TimedOut);
            break;
        }
    }
    since.elapsed()
}

#[tokio::test(start_paused = true)]
async fn reading_one_response_gives_no_credit_to_a_stalled_one() {
    for (handed_bytes, lasts_seconds) in [(0, 0), (10_240, 10), (512_000, 500)] {
        let may_last = LIMITS.idle_timeout + Duration::from_secs(lasts_seconds);
        let lasted = taken_beside(handed_bytes, 0).await;
        assert!((may_last..=may_last + CHECK_EVERY).contains(&lasted), "{handed_bytes}: {lasted:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn response_beside_others_may_last_if_read_fast_enough() {
    let fast_enough = taken_beside(10_240, 1_024).await;
    assert!(fast_enough >= 20 * CHECK_EVERY, "{fast_enough:?}");
    let too_slow = taken_beside(10_240, 512).await;
    assert!(too_slow < 10 * CHECK_EVERY, "{too_slow:?}");
}

#[tokio::test(start_paused = true)]
async fn without_a_minimum_rate_a_response_has_no_time_limit() {
    let limits = ConnectionLimits { answer_bytes_per_second_min: 0, ..LIMITS };
    let (_visitor, server) = duplex(64);
    let mut connection = Connection::over(server, RequestCounter::default(), pace_of(&limits));
    let answering = timeout(100 * CHECK_EVERY, answer(&mut connection, 1_000));
    assert!(answering.await.is_err(), "it was hung up");
}

#[tokio::test(start_paused = true)]
async fn time_waiting_for_the_response_source_does_not_count_against_the_client() {
    let (_visitor, mut connection) = after_a_request();
    let _worked_on = connection.requests.start();
    assert!(timeout(10 * CHECK_EVERY, connection.read(&mut [0])).await.is_err(), "it was hung up");
}

#[tokio::test(start_paused = true)]
async fn connection_that_trickles_bytes_without_a_request_is_closed() {
    let (mut visitor, server) = duplex(64);
    let mut connection = over(server, RequestCounter::default());
    let opened_at = Instant::now();
    let end = trickle(&mut visitor, &mut connection, LIMITS.head_timeout).await;
    assert_eq!(end.kind(), io::ErrorKind::TimedOut);
    assert!(opened_at.elapsed() >= LIMITS.head_timeout);
}

#[tokio::test(start_paused = true)]
async fn connection_that_trickles_bytes_after_a_response_is_closed() {
    let (mut visitor, mut connection) = after_a_request();
    let end = trickle(&mut visitor, &mut connection, LIMITS.idle_timeout).await;
    assert_eq!(end.kind(), io::ErrorKind::TimedOut);
}

/// Sends a byte a second until the connection ends, which must happen within this time.
async fn trickle(
    visitor: &mut DuplexStream,
    connection: &mut Connection<DuplexStream>,
    within: Duration,
) -> io::Error {
    let since = Instant::now();
    loop {
        visitor.write_all(b"x").await.unwrap();
        connection.read_exact(&mut [0]).await.unwrap();
        match timeout(Duration::from_secs(1), connection.read(&mut [0])).await {
            Ok(end) => return end.unwrap_err(),
            Err(_) => assert!(since.elapsed() <= within + Duration::from_secs(2), "still there"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn idle_timeout_applies_after_the_first_request_instead_of_the_head_timeout() {
    let limits = ConnectionLimits { idle_timeout: Duration::from_secs(2), ..LIMITS };
    let (_visitor, server) = duplex(64);
    let requests = RequestCounter::default();
    drop(requests.start());
    let opened_at = Instant::now();
    assert!(Connection::over(server, requests, pace_of(&limits)).read(&mut [0]).await.is_err());
    assert_eq!(opened_at.elapsed().as_secs(), limits.idle_timeout.as_secs());
    let (_visitor, server) = duplex(64);
    let opened_at = Instant::now();
    assert!(
        Connection::over(server, RequestCounter::default(), pace_of(&limits)).read(&mut [0]).await.is_err()
    );
    assert_eq!(opened_at.elapsed().as_secs(), limits.head_timeout.as_secs());
}

#[tokio::test(start_paused = true)]
async fn connection_with_occasional_requests_stays_open() {
    let (_visitor, server) = duplex(64);
    let requests = RequestCounter::default();
    let mut connection = over(server, requests.clone());
    let mut byte = [0];
    for _ in 0..10 {
        drop(requests.start());
        let read = timeout(LIMITS.idle_timeout - Duration::from_secs(1), connection.read(&mut byte));
        assert!(read.await.is_err(), "it was hung up");
    }
}

#[tokio::test(start_paused = true)]
async fn stream_errors_are_returned() {
    let (visitor, mut connection) = after_a_request();
    drop(visitor);
    assert_eq!(connection.read(&mut [0]).await.unwrap(), 0);
    assert!(connection.write_all(b"x").await.is_err());
}
