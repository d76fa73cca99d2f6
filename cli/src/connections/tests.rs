//! Connections: timeouts, slow clients and graceful ends.

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::time::{advance, timeout};

use config::ConnectionLimits;
use telemetry::ConnectionMeter;

use super::*;
use crate::listener::tests::LIMITS;

const LOOK_EVERY: Duration = Duration::from_millis(37_500);

fn pace_of(limits: &ConnectionLimits) -> Arc<Pace> {
    Arc::new(Pace::of(limits, ConnectionMeter::default()))
}

fn over(door: DuplexStream, requests: RequestCounter) -> Connection<DuplexStream> {
    let pace = pace_of(&LIMITS);
    assert_eq!(pace.look_every, LOOK_EVERY);
    Connection::over(door, requests, pace)
}

/// A visitor's end, and a connection over which they have asked something, which was answered.
fn asked_over() -> (DuplexStream, Connection<DuplexStream>) {
    let (visitor, door) = duplex(64);
    let requests = RequestCounter::default();
    drop(requests.note());
    (visitor, over(door, requests))
}

/// Sends an answer as the HTTP library does, until it is taken or the connection ends.
async fn answer(connection: &mut Connection<DuplexStream>, bytes: usize) -> io::Result<()> {
    let piece = connection.requests.note().to_take(bytes);
    let mut left = bytes;
    while left > 0 {
        let written = connection.write(&vec![0; left.min(1_024)]).await?;
        piece.note_taken(written);
        left -= written;
    }
    Ok(())
}

/// Takes so many bytes at a time of an answer without an end; how long that went well.
async fn taken_at(bytes: usize, every: Duration) -> Duration {
    let (mut visitor, mut connection) = asked_over();
    let answering = tokio::spawn(async move { answer(&mut connection, 10_000_000).await });
    let since = Instant::now();
    let mut taken = vec![0; bytes];
    while !answering.is_finished() && since.elapsed() < 20 * LOOK_EVERY {
        if visitor.read_exact(&mut taken).await.is_err() {
            break;
        }
        tokio::time::sleep(every).await;
    }
    since.elapsed()
}

#[tokio::test(start_paused = true)]
async fn a_connection_stays_while_its_request_is_in_hand_and_ends_when_nothing_happens() {
    let (_visitor, mut connection) = asked_over();
    let in_hand = connection.requests.note();
    let mut byte = [0];
    for _ in 0..10 {
        advance(LOOK_EVERY - Duration::from_secs(1)).await;
        let read = timeout(Duration::from_millis(1), connection.read(&mut byte));
        assert!(read.await.is_err(), "nothing was sent, and nothing has ended");
    }
    drop(in_hand);
    let idle_since = Instant::now();
    let end = connection.read(&mut byte).await.unwrap_err();
    assert_eq!(end.kind(), io::ErrorKind::TimedOut);
    assert_eq!(idle_since.elapsed().as_secs(), LIMITS.idle_timeout.as_secs(), "no sooner and no later");
}

#[tokio::test(start_paused = true)]
async fn who_takes_an_answer_fast_enough_gets_all_of_it_and_who_does_not_is_hung_up_on() {
    let fast_enough = taken_at(1_100, Duration::from_secs(1)).await;
    assert!(fast_enough >= 20 * LOOK_EVERY, "{fast_enough:?}");
    let too_slow = taken_at(500, Duration::from_secs(1)).await;
    assert!(too_slow <= 4 * LOOK_EVERY, "{too_slow:?}");
}

#[tokio::test(start_paused = true)]
async fn who_takes_it_in_great_steps_is_as_fast_as_their_average() {
    let fast_enough = taken_at(200_000, Duration::from_secs(180)).await;
    assert!(fast_enough >= 20 * LOOK_EVERY, "{fast_enough:?}");
    let too_slow = taken_at(200_000, Duration::from_secs(400)).await;
    assert!(too_slow < 20 * LOOK_EVERY, "{too_slow:?}");
}

#[tokio::test(start_paused = true)]
async fn who_takes_no_more_of_an_answer_is_hung_up_on() {
    let (_visitor, mut connection) = asked_over();
    let began = Instant::now();
    let end = answer(&mut connection, 1_000).await.unwrap_err();
    assert_eq!(end.kind(), io::ErrorKind::TimedOut);
    assert!((LOOK_EVERY..=2 * LOOK_EVERY).contains(&began.elapsed()), "{:?}", began.elapsed());
}

/// Takes small answers of HTTP/2 one after the other, ten times as fast as must be, while of a great one so much was handed
/// out and more is each second; how long that went well.
async fn taken_beside(handed_bytes: usize, more_each_second: usize) -> Duration {
    let (mut visitor, door) = duplex(64 * 1024);
    let requests = RequestCounter::default();
    let mut connection = over(door, requests.clone());
    let great = requests.note_one_of_several();
    let mut pieces = vec![great.to_take(handed_bytes)];
    let (since, mut small) = (Instant::now(), [0; 10_240]);
    while since.elapsed() < 20 * LOOK_EVERY {
        let piece = requests.note_one_of_several().to_take(small.len());
        connection.write_all(&small).await.unwrap();
        piece.note_taken(small.len());
        drop(piece);
        visitor.read_exact(&mut small).await.unwrap();
        if more_each_second > 0 {
            pieces = vec![great.to_take(more_each_second), pieces.swap_remove(0)];
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
async fn what_is_taken_of_one_answer_does_not_pay_for_another_that_is_stalled() {
    for (handed_bytes, lasts_seconds) in [(0, 0), (10_240, 10), (512_000, 500)] {
        let may_last = LIMITS.idle_timeout + Duration::from_secs(lasts_seconds);
        let lasted = taken_beside(handed_bytes, 0).await;
        assert!((may_last..=may_last + LOOK_EVERY).contains(&lasted), "{handed_bytes}: {lasted:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_beside_others_that_is_taken_fast_enough_may_last() {
    let fast_enough = taken_beside(10_240, 1_024).await;
    assert!(fast_enough >= 20 * LOOK_EVERY, "{fast_enough:?}");
    let too_slow = taken_beside(10_240, 512).await;
    assert!(too_slow < 10 * LOOK_EVERY, "{too_slow:?}");
}

#[tokio::test(start_paused = true)]
async fn where_no_pace_is_named_an_answer_may_take_for_ever() {
    let limits = ConnectionLimits { answer_bytes_per_second_min: 0, ..LIMITS };
    let (_visitor, door) = duplex(64);
    let mut connection = Connection::over(door, RequestCounter::default(), pace_of(&limits));
    let answering = timeout(100 * LOOK_EVERY, answer(&mut connection, 1_000));
    assert!(answering.await.is_err(), "it was hung up");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_waits_for_its_source_is_not_held_against_the_visitor() {
    let (_visitor, mut connection) = asked_over();
    let _worked_on = connection.requests.note();
    assert!(timeout(10 * LOOK_EVERY, connection.read(&mut [0])).await.is_err(), "it was hung up");
}

#[tokio::test(start_paused = true)]
async fn who_sends_without_asking_anything_is_hung_up_on_too() {
    let (mut visitor, door) = duplex(64);
    let mut connection = over(door, RequestCounter::default());
    let opened_at = Instant::now();
    let end = trickle(&mut visitor, &mut connection, LIMITS.head_timeout).await;
    assert_eq!(end.kind(), io::ErrorKind::TimedOut);
    assert!(opened_at.elapsed() >= LIMITS.head_timeout);
}

#[tokio::test(start_paused = true)]
async fn who_was_answered_and_sends_without_asking_again_is_hung_up_on_as_well() {
    let (mut visitor, mut connection) = asked_over();
    let end = trickle(&mut visitor, &mut connection, LIMITS.idle_timeout).await;
    assert_eq!(end.kind(), io::ErrorKind::TimedOut);
}

/// Sends a byte a second until the connection ends, which must be within this.
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
async fn who_has_asked_once_is_idle_however_long_a_first_request_may_take() {
    let limits = ConnectionLimits { idle_timeout: Duration::from_secs(2), ..LIMITS };
    let (_visitor, door) = duplex(64);
    let requests = RequestCounter::default();
    drop(requests.note());
    let opened_at = Instant::now();
    assert!(Connection::over(door, requests, pace_of(&limits)).read(&mut [0]).await.is_err());
    assert_eq!(opened_at.elapsed().as_secs(), limits.idle_timeout.as_secs());
    let (_visitor, door) = duplex(64);
    let opened_at = Instant::now();
    assert!(
        Connection::over(door, RequestCounter::default(), pace_of(&limits)).read(&mut [0]).await.is_err()
    );
    assert_eq!(opened_at.elapsed().as_secs(), limits.head_timeout.as_secs());
}

#[tokio::test(start_paused = true)]
async fn who_asks_now_and_then_stays() {
    let (_visitor, door) = duplex(64);
    let requests = RequestCounter::default();
    let mut connection = over(door, requests.clone());
    let mut byte = [0];
    for _ in 0..10 {
        drop(requests.note());
        let read = timeout(LIMITS.idle_timeout - Duration::from_secs(1), connection.read(&mut byte));
        assert!(read.await.is_err(), "it was hung up");
    }
}

#[tokio::test(start_paused = true)]
async fn faults_of_the_stream_are_told() {
    let (visitor, mut connection) = asked_over();
    drop(visitor);
    assert_eq!(connection.read(&mut [0]).await.unwrap(), 0);
    assert!(connection.write_all(b"x").await.is_err());
}
