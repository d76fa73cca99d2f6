//! Streaming of large files.

use futures::StreamExt;
use futures::stream;
use tokio::time::sleep;

use super::*;

const REST_MAX: Duration = Duration::from_secs(10);
const BYTES_PER_SECOND_MIN: u32 = 1000;
const CHUNK_BYTES: usize = 1000;
/// Without waiting.
const AT_ONCE: Duration = Duration::ZERO;

fn streams() -> StreamShare {
    share(&LoadTerms {
        streamed_answers_max: 1,
        rest_max: REST_MAX,
        bytes_per_second_min: BYTES_PER_SECOND_MIN,
        ..LoadTerms::default()
    })
}

fn share(terms: &LoadTerms) -> StreamShare {
    Streams::new(terms).open_to(None)
}

/// So many chunks, each available some time after it was requested.
fn chunks(count: usize, each_after: Duration) -> Chunks {
    let chunk = move |_| async move {
        sleep(each_after).await;
        Ok(Bytes::from(vec![7; CHUNK_BYTES]))
    };
    stream::iter(0..count).then(chunk).boxed()
}

async fn enter(streams: &StreamShare) -> anyhow::Result<StreamSlot> {
    streams.enter(Instant::now()).await
}

/// Takes a chunk at this interval. Returns how many bytes arrived and how the body ended.
async fn taken(body: Body, each_after: Duration) -> (usize, io::Result<()>) {
    let (mut body, mut came) = (body.into_bytes_stream(), 0);
    loop {
        sleep(each_after).await;
        match body.next().await {
            Some(Ok(chunk)) => came += chunk.len(),
            Some(Err(error)) => return (came, Err(error)),
            None => return (came, Ok(())),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn response_holds_its_permit_until_it_is_fully_sent() {
    let streams = streams();
    let body = enter(&streams).await.unwrap().deliver(chunks(3, AT_ONCE));
    let mut body = body.into_bytes_stream();
    for _ in 0..3 {
        sleep(Duration::from_secs(1)).await;
        assert!(enter(&streams).await.is_err(), "there is more to be taken");
        assert_eq!(body.next().await.unwrap().unwrap().len(), CHUNK_BYTES);
    }
    assert!(body.next().await.is_none());
    assert!(enter(&streams).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn stalled_client_loses_its_permit_and_its_response_is_cut() {
    let streams = streams();
    let body = enter(&streams).await.unwrap().deliver(chunks(3, AT_ONCE));
    let since = Instant::now();
    let slot = streams.enter(since + 2 * REST_MAX).await.unwrap();
    assert_eq!(since.elapsed(), REST_MAX);
    let (came, end) = taken(body, AT_ONCE).await;
    assert_eq!((came, end.unwrap_err().kind()), (CHUNK_BYTES, io::ErrorKind::TimedOut));
    drop(slot);
    tokio::time::resume();
    let metrics = telemetry::Vitals::default().metrics().await.body;
    assert!(
        metrics.contains("handbill_connections_cut_total{reason=\"untaken\",role=\"edge\"} 1\n"),
        "{metrics}"
    );
}

#[tokio::test(start_paused = true)]
async fn disconnected_client_returns_its_permit_at_once() {
    let streams = streams();
    let silent = stream::pending().boxed();
    let body = enter(&streams).await.unwrap().deliver(silent);
    sleep(Duration::from_secs(1)).await;
    drop(body);
    let since = Instant::now();
    assert!(streams.enter(since + REST_MAX).await.is_ok());
    assert_eq!(since.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn fast_client_gets_the_whole_response_and_slow_client_is_cut() {
    let streams = streams();
    let all = (200 * CHUNK_BYTES, true);
    for (each_after, is_fast_enough) in [(990, true), (1_300, false), (9_000, false)] {
        let body = enter(&streams).await.unwrap().deliver(chunks(200, AT_ONCE));
        let (came, end) = taken(body, Duration::from_millis(each_after)).await;
        assert_eq!((came, end.is_ok()) == all, is_fast_enough, "{each_after} ms: {came} bytes, {end:?}");
    }
    // Many stalls in a row are as bad as a slow rate, however fast the rest is. A single one is not.
    let body = enter(&streams).await.unwrap().deliver(chunks(200, AT_ONCE));
    let mut body = body.into_bytes_stream();
    for _ in 0..100 {
        body.next().await.unwrap().unwrap();
    }
    sleep(REST_MAX - Duration::from_secs(1)).await;
    for _ in 0..100 {
        body.next().await.unwrap().unwrap();
    }
    assert!(body.next().await.is_none());
}

#[test]
fn burst_extends_the_allowed_pause_up_to_the_maximum_lead() {
    let pace = Pace { rest_max: REST_MAX, bytes_per_second_min: BYTES_PER_SECOND_MIN };
    assert_eq!(pace.rest_after(REST_MAX, 90 * CHUNK_BYTES), REST_MAX + Duration::from_secs(90));
    let ahead = REST_MAX + Duration::from_micros(LEAD_BYTES_MAX * 1_000);
    assert_eq!(pace.rest_after(REST_MAX, 10_000 * CHUNK_BYTES), ahead);
    assert_eq!(pace.rest_after(ahead, CHUNK_BYTES), ahead);
}

#[tokio::test(start_paused = true)]
async fn without_a_minimum_rate_no_pause_is_too_long() {
    let terms = LoadTerms { rest_max: REST_MAX, bytes_per_second_min: 0, ..LoadTerms::default() };
    let body = enter(&share(&terms)).await.unwrap().deliver(chunks(3, AT_ONCE));
    let (came, end) = taken(body, 100 * REST_MAX).await;
    assert_eq!((came, end.is_ok()), (3 * CHUNK_BYTES, true));
}

#[tokio::test(start_paused = true)]
async fn store_delays_do_not_count_against_the_client_and_store_errors_are_returned() {
    let streams = streams();
    let body = enter(&streams).await.unwrap().deliver(chunks(3, 5 * REST_MAX));
    let (came, end) = taken(body, AT_ONCE).await;
    assert_eq!((came, end.is_ok()), (3 * CHUNK_BYTES, true));
    let broken = chunks(2, AT_ONCE).chain(stream::once(async { Err(io::Error::other("the store is gone")) }));
    let body = enter(&streams).await.unwrap().deliver(broken.boxed());
    let (came, end) = taken(body, AT_ONCE).await;
    assert_eq!((came, end.unwrap_err().to_string().as_str()), (2 * CHUNK_BYTES, "the store is gone"));
    assert!(enter(&streams).await.is_ok());
}
