//! Bodies that are too long, too slow or too late, and the turns of who sends them, by a clock that stands still.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures::stream;

use super::*;
use crate::turns::{TurnTerms, Turns};

const CHUNK: Bytes = Bytes::from_static(&[b'x'; 1024]);

/// A body of so many kilobytes, and the count of those that were read.
fn kilobytes(count: u64) -> (Body, Arc<AtomicU64>) {
    let read = Arc::new(AtomicU64::new(0));
    let counter = read.clone();
    let chunks = stream::iter(0..count).map(move |_| {
        counter.fetch_add(1, Ordering::SeqCst);
        Ok::<_, io::Error>(CHUNK)
    });
    (Body::from_bytes_stream(chunks), read)
}

fn bounded(body: Body, declared_bytes: Option<u64>) -> Body {
    let mut request = Request::builder().body(body);
    if let Some(bytes) = declared_bytes {
        request.headers_mut().insert(header::CONTENT_LENGTH, bytes.into());
    }
    bound(&mut request, BodyTerms::default(), &Turn::free());
    request.take_body()
}

async fn refusal(body: Body) -> Refusal {
    refusal_behind(&body.into_vec().await.unwrap_err()).unwrap()
}

#[tokio::test]
async fn a_body_within_the_bound_is_read_whole() {
    let (body, _) = kilobytes(64);
    assert_eq!(bounded(body, None).into_vec().await.unwrap().len(), 64 * 1024);
}

#[tokio::test]
async fn a_body_is_refused_as_soon_as_it_passes_the_bound() {
    let (body, read) = kilobytes(1_000_000);
    let mut chunks = Box::pin(bounded(body, None).into_bytes_stream());
    let mut whole = 0;
    while let Some(Ok(_)) = chunks.next().await {
        whole += 1;
    }
    assert_eq!((whole, read.load(Ordering::SeqCst)), (64, 65));
}

#[tokio::test]
async fn a_declared_length_beyond_the_bound_is_refused_before_a_byte_is_read() {
    let (body, read) = kilobytes(1_000);
    let mut chunks = Box::pin(bounded(body, Some(1_024_000)).into_bytes_stream());
    let error = chunks.next().await.unwrap().unwrap_err();
    assert_eq!(refusal_behind(&error).unwrap().code(), "too_large");
    assert_eq!(read.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn what_is_left_unread_is_discarded_but_not_for_ever() {
    let (body, read) = kilobytes(1_000);
    drop(bounded(body, None));
    let (endless, endlessly_read) = kilobytes(u64::MAX);
    assert_eq!(refusal(bounded(endless, None)).await.code(), "too_large");
    let is_done =
        || read.load(Ordering::SeqCst) == 1_000 && endlessly_read.load(Ordering::SeqCst) > 64 * 1024;
    let done = async {
        while !is_done() {
            tokio::task::yield_now().await;
        }
    };
    timeout(Duration::from_secs(20), done).await.unwrap();
    tokio::task::yield_now().await;
    assert!(endlessly_read.load(Ordering::SeqCst) <= 64 * 1024 + 128);
}

/// A body of which so many bytes come every second, until its sender is let go.
fn trickling(bytes: usize) -> Body {
    Body::from_bytes_stream(stream::unfold((), move |()| async move {
        sleep(Duration::from_secs(1)).await;
        Some((Ok::<_, io::Error>(Bytes::from(vec![b'x'; bytes])), ()))
    }))
}

fn coming_after_5_seconds() -> Body {
    Body::from_bytes_stream(stream::once(async {
        sleep(Duration::from_secs(5)).await;
        Ok::<_, io::Error>(CHUNK)
    }))
}

/// A body of which so many bytes come after each of these pauses, and then nothing more, without an end.
fn after_pauses(seconds: &'static [u64], bytes: usize) -> Body {
    let coming = stream::iter(seconds).then(move |pause| async move {
        sleep(Duration::from_secs(*pause)).await;
        Ok::<_, io::Error>(Bytes::from(vec![b'x'; bytes]))
    });
    Body::from_bytes_stream(coming.chain(stream::pending()))
}

async fn refusal_within(terms: BodyTerms, body: Body) -> (Refusal, u64) {
    let begun_at = Instant::now();
    let mut request = Request::builder().body(body);
    bound(&mut request, terms, &Turn::free());
    (refusal(request.take_body()).await, begun_at.elapsed().as_secs())
}

#[tokio::test(start_paused = true)]
async fn a_body_that_never_ends_is_given_up() {
    // 100 bytes a second would be enough for 64 KiB in 655 s.
    let any_pace = BodyTerms { bytes_per_second_min: 0, ..BodyTerms::default() };
    let silent = Body::from_bytes_stream(stream::pending::<io::Result<Bytes>>());
    for body in [trickling(100), silent] {
        let (refusal, waited_seconds) = refusal_within(any_pace, body).await;
        assert_eq!((refusal.message().as_str(), waited_seconds), ("body: did not arrive within 600 s", 600));
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_that_comes_too_slowly_is_given_up_after_its_grace() {
    let silent = Body::from_bytes_stream(stream::pending::<io::Result<Bytes>>());
    for body in [silent, trickling(1000)] {
        let (refusal, waited_seconds) = refusal_within(BodyTerms::default(), body).await;
        assert_eq!((refusal.code(), waited_seconds), ("invalid_request", 30));
        assert!(refusal.message().contains("too slowly"), "{refusal}");
    }
    let (refusal, _) = refusal_within(BodyTerms::default(), trickling(1100)).await;
    assert_eq!(refusal.code(), "too_large", "it came fast enough, and there was too much of it");
}

#[tokio::test(start_paused = true)]
async fn a_pause_ends_no_body_that_came_fast_enough_before() {
    // 40 KiB at once are enough for the first 40 s, 60 for 60 s.
    let paused = after_pauses(&[0, 39, 19], 20 * 1024);
    let (refusal, waited_seconds) = refusal_within(BodyTerms::default(), paused).await;
    assert!(refusal.message().contains("too slowly"), "{refusal}");
    assert_eq!(waited_seconds, 30, "20 KiB do not last for 39 s");

    let paused = after_pauses(&[1, 28, 10, 19], 20 * 1024);
    let (refusal, waited_seconds) = refusal_within(BodyTerms::default(), paused).await;
    assert_eq!((refusal.code(), waited_seconds), ("too_large", 58), "the fourth is one too many");
    let paused = after_pauses(&[1, 28, 10], 20 * 1024);
    let (refusal, waited_seconds) = refusal_within(BodyTerms::default(), paused).await;
    assert!(refusal.message().contains("too slowly"), "{refusal}");
    assert_eq!(waited_seconds, 60, "60 KiB last for a minute");
}

#[tokio::test(start_paused = true)]
async fn who_is_slow_with_a_body_leaves_the_turn_to_others_until_it_has_come() {
    let turns = Turns::new(TurnTerms { requests_max: 1, ..TurnTerms::default() });
    let slow = turns.take(&Request::default()).await.unwrap();
    let mut request = Request::builder().body(coming_after_5_seconds());
    bound(&mut request, BodyTerms::default(), &slow);
    let reading = tokio::spawn(request.take_body().into_vec());
    let other = turns.take(&Request::default()).await.unwrap();
    sleep(Duration::from_secs(5)).await;
    assert!(!reading.is_finished(), "all has come, and it is another's turn");
    drop(other);
    assert_eq!(reading.await.unwrap().unwrap().len(), CHUNK.len());
    assert!(slow.give_back(), "it is theirs again");
}

#[tokio::test(start_paused = true)]
async fn whose_turn_does_not_come_again_is_told_to_come_again() {
    let turns = Turns::new(TurnTerms { requests_max: 1, ..TurnTerms::default() });
    let slow = turns.take(&Request::default()).await.unwrap();
    let mut request = Request::builder().body(coming_after_5_seconds());
    bound(&mut request, BodyTerms::default(), &slow);
    let reading = tokio::spawn(refusal(request.take_body()));
    let _other = turns.take(&Request::default()).await.unwrap();
    assert_eq!(reading.await.unwrap().code(), "overloaded");
}

#[tokio::test(start_paused = true)]
async fn who_gave_the_turn_back_before_the_body_needs_none_at_its_end() {
    let turns = Turns::new(TurnTerms { requests_max: 1, ..TurnTerms::default() });
    let uploading = turns.take(&Request::default()).await.unwrap();
    let mut request = Request::builder().body(coming_after_5_seconds());
    bound(&mut request, BodyTerms::default(), &uploading);
    assert!(uploading.give_back());
    let _other = turns.take(&Request::default()).await.unwrap();
    assert_eq!(request.take_body().into_vec().await.unwrap().len(), CHUNK.len());
    assert!(!uploading.give_back(), "it has taken none");
}
