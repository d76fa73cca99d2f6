//! Bodies that are too long, too slow or too late, and the permits of their senders, with a paused clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures::stream;

use super::*;
use crate::http::client_ip::TrustedProxies;
use crate::http::permits::{PermitLimits, RequestPermits};
use crate::http::terms::PermitClass;
use crate::http::upload_budget::{BodyBudget, SmallBodyBudget};

const CHUNK: Bytes = Bytes::from_static(&[b'x'; 1024]);

/// A body of so many kilobytes, and a count of those that were read.
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
    bound(&mut request, BodyTerms::default(), &RequestPermit::free());
    request.take_body()
}

async fn refusal(body: Body) -> Refusal {
    refusal_behind(&body.into_vec().await.unwrap_err()).unwrap()
}

#[tokio::test]
async fn body_within_the_limit_is_read_whole() {
    let (body, _) = kilobytes(64);
    assert_eq!(bounded(body, None).into_vec().await.unwrap().len(), 64 * 1024);
}

#[tokio::test]
async fn body_is_rejected_as_soon_as_it_exceeds_the_limit() {
    let (body, read) = kilobytes(1_000_000);
    let mut chunks = Box::pin(bounded(body, None).into_bytes_stream());
    let mut whole = 0;
    while let Some(Ok(_)) = chunks.next().await {
        whole += 1;
    }
    assert_eq!((whole, read.load(Ordering::SeqCst)), (64, 65));
}

#[tokio::test]
async fn content_length_above_the_limit_is_rejected_before_reading() {
    let (body, read) = kilobytes(1_000);
    let mut chunks = Box::pin(bounded(body, Some(1_024_000)).into_bytes_stream());
    let error = chunks.next().await.unwrap().unwrap_err();
    assert_eq!(refusal_behind(&error).unwrap().code(), "too_large");
    assert_eq!(read.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn unread_bodies_are_drained_up_to_a_limit() {
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

/// A body that sends this many bytes every second, for as long as it is read.
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

/// A body that sends this many bytes after each of these pauses, and then stalls.
fn after_pauses(seconds: &'static [u64], bytes: usize) -> Body {
    let coming = stream::iter(seconds).then(move |pause| async move {
        sleep(Duration::from_secs(*pause)).await;
        Ok::<_, io::Error>(Bytes::from(vec![b'x'; bytes]))
    });
    Body::from_bytes_stream(coming.chain(stream::pending()))
}

async fn refusal_within(terms: BodyTerms, body: Body) -> (Refusal, u64) {
    given_up(Request::builder().body(body), terms).await
}

async fn given_up(mut request: Request, terms: BodyTerms) -> (Refusal, u64) {
    let begun_at = Instant::now();
    bound(&mut request, terms, &RequestPermit::free());
    (refusal(request.take_body()).await, begun_at.elapsed().as_secs())
}

#[tokio::test(start_paused = true)]
async fn endless_body_is_aborted_after_600_seconds() {
    // At 100 bytes a second, 64 KiB take 655 s.
    let any_pace = BodyTerms { bytes_per_second_min: 0, ..BodyTerms::default() };
    let silent = Body::from_bytes_stream(stream::pending::<io::Result<Bytes>>());
    for body in [trickling(100), silent] {
        let (refusal, waited_seconds) = refusal_within(any_pace, body).await;
        assert_eq!((refusal.message().as_str(), waited_seconds), ("body: did not arrive within 600 s", 600));
    }
}

#[tokio::test(start_paused = true)]
async fn slow_body_is_aborted_after_its_grace_period() {
    let silent = Body::from_bytes_stream(stream::pending::<io::Result<Bytes>>());
    for body in [silent, trickling(1000)] {
        let (refusal, waited_seconds) = refusal_within(BodyTerms::default(), body).await;
        assert_eq!((refusal.code(), waited_seconds), ("invalid_request", 30));
        assert!(refusal.message().contains("too slowly"), "{refusal}");
    }
    let (refusal, _) = refusal_within(BodyTerms::default(), trickling(1100)).await;
    assert_eq!(refusal.code(), "too_large", "it was fast enough but too long");
}

#[tokio::test(start_paused = true)]
async fn pause_does_not_abort_a_body_whose_average_rate_is_sufficient() {
    // 40 KiB at once cover the first 40 s, and 60 KiB cover 60 s.
    let paused = after_pauses(&[0, 39, 19], 20 * 1024);
    let (refusal, waited_seconds) = refusal_within(BodyTerms::default(), paused).await;
    assert!(refusal.message().contains("too slowly"), "{refusal}");
    assert_eq!(waited_seconds, 30, "20 KiB do not cover 39 s");

    let paused = after_pauses(&[1, 28, 10, 19], 20 * 1024);
    let (refusal, waited_seconds) = refusal_within(BodyTerms::default(), paused).await;
    assert_eq!((refusal.code(), waited_seconds), ("too_large", 58), "the fourth chunk exceeds the limit");
    let paused = after_pauses(&[1, 28, 10], 20 * 1024);
    let (refusal, waited_seconds) = refusal_within(BodyTerms::default(), paused).await;
    assert!(refusal.message().contains("too slowly"), "{refusal}");
    assert_eq!(waited_seconds, 60, "60 KiB cover a minute");
}

#[tokio::test(start_paused = true)]
async fn burst_credit_covers_at_most_a_minute_of_silence() {
    for (pauses, given_up_after_seconds) in [(&[0][..], 64), (&[10], 74), (&[0, 60, 60], 184)] {
        let bursts = after_pauses(pauses, 1_048_576);
        let upload = form_to(BodyLimit::Form).body(bursts);
        let (refusal, waited_seconds) = given_up(upload, BodyTerms::default()).await;
        assert!(refusal.message().contains("no pause may be longer than 64 s"), "{refusal}");
        assert_eq!(waited_seconds, given_up_after_seconds);
    }
}

#[tokio::test(start_paused = true)]
async fn time_before_the_first_read_does_not_count_against_the_sender() {
    let slow = RequestPermits::new(PermitLimits::default()).take(PermitClass::Request).await.unwrap();
    let mut request = Request::builder().body(after_pauses(&[], 0));
    bound(&mut request, BodyTerms::default(), &slow);
    sleep(Duration::from_secs(60)).await;
    let read_at = Instant::now();
    let mut chunks = Box::pin(request.take_body().into_bytes_stream());
    assert!(timeout(PERMIT_KEPT_FOR / 2, chunks.next()).await.is_err(), "nothing has arrived yet");
    assert!(slow.release(), "it still held its permit");
    assert!(chunks.next().await.unwrap().is_err());
    assert_eq!(read_at.elapsed().as_secs(), 30);
}

/// A body with the content type of a form, sent to a route with this limit.
fn form_to(limit: BodyLimit) -> poem::RequestBuilder {
    let form = Request::builder().content_type("multipart/form-data; boundary=XX");
    form.extension(Terms { body: limit, ..Terms::default() })
}

#[tokio::test]
async fn multipart_content_type_raises_the_body_limit_only_on_form_routes() {
    for (limit, is_taken) in [(BodyLimit::Small, false), (BodyLimit::Event, true), (BodyLimit::Form, true)] {
        let mut request = form_to(limit).body(kilobytes(65).0);
        bound(&mut request, BodyTerms::default(), &RequestPermit::free());
        match request.take_body().into_vec().await {
            Ok(whole) => assert!(is_taken && whole.len() == 65 * 1024, "{limit:?}"),
            Err(error) => {
                assert!(!is_taken, "{limit:?}");
                assert_eq!(refusal_behind(&error).unwrap().code(), "too_large", "{limit:?}");
            }
        }
    }
    let json = Request::builder().content_type("application/json").finish();
    let terms = Terms { body: BodyLimit::Form, ..Terms::default() };
    assert_eq!(terms.body_limit(&json), BodyLimit::Small);
}

#[tokio::test]
async fn card_event_body_limit_is_one_megabyte() {
    for (body, is_taken) in [(kilobytes(1_024).0, true), (kilobytes(1_025).0, false)] {
        let mut request = form_to(BodyLimit::Event).body(body);
        bound(&mut request, BodyTerms::default(), &RequestPermit::free());
        let read = request.take_body().into_vec().await;
        assert_eq!(read.is_ok(), is_taken);
        if let Err(error) = read {
            assert_eq!(refusal_behind(&error).unwrap().code(), "too_large");
        }
    }
}

/// Both memory budgets of a process.
struct Budgets {
    uploads: BodyBudget,
    small: SmallBodyBudget,
}

impl Budgets {
    fn of(bytes_each: usize) -> Self {
        Self { uploads: BodyBudget::new(bytes_each), small: SmallBodyBudget(BodyBudget::new(bytes_each)) }
    }
}

/// A body from an address that arrives slowly and counts against the budget of that address.
fn sent_from(address: &str, budgets: &Budgets, permit: &RequestPermit, limit: BodyLimit, body: Body) -> Body {
    // A request that was built in a test has no peer address.
    let proxies = TrustedProxies::new(vec!["0.0.0.0/32".parse().unwrap()]);
    let request = form_to(limit).header("x-forwarded-for", address).extension(proxies);
    let mut request = request.extension(budgets.uploads.clone()).extension(budgets.small.clone()).body(body);
    bound(&mut request, BodyTerms::default(), permit);
    request.take_body()
}

#[tokio::test(start_paused = true)]
async fn uploads_and_small_bodies_of_one_address_use_separate_budgets() {
    for (filled, other) in [(BodyLimit::Form, BodyLimit::Small), (BodyLimit::Small, BodyLimit::Form)] {
        let budgets = Budgets::of(64 * 1024);
        let permits = RequestPermits::new(PermitLimits::default());
        let mut all_permits = Vec::new();
        for _ in 0..3 {
            all_permits.push(permits.take(PermitClass::Request).await.unwrap());
        }
        let begun = |number: usize, limit: BodyLimit| {
            let body = after_pauses(&[0, 1], 16 * 1024);
            tokio::spawn(refusal(sent_from("192.0.2.1", &budgets, &all_permits[number], limit, body)))
        };
        // Half of the budget, which is the share of one address.
        let first = begun(0, filled);
        sleep(Duration::from_secs(2)).await;
        let (second, third) = (begun(1, filled), begun(2, other));
        sleep(Duration::from_secs(2)).await;
        assert_eq!(second.await.unwrap().code(), "overloaded", "{filled:?}");
        assert!(!first.is_finished() && !third.is_finished(), "{other:?}");
        for slow in [first, third] {
            assert!(slow.await.unwrap().message().contains("too slowly"));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn received_bytes_of_a_slow_body_count_against_its_address_until_read() {
    let budgets = Budgets::of(64 * 1024);
    let permits = RequestPermits::new(PermitLimits::default());
    let mut all_permits = Vec::new();
    for _ in 0..6 {
        all_permits.push(permits.take(PermitClass::Request).await.unwrap());
    }
    let begun = |number: usize, address: &'static str, limit: BodyLimit| {
        let body = after_pauses(&[0, 1], 8 * 1024);
        tokio::spawn(refusal(sent_from(address, &budgets, &all_permits[number], limit, body)))
    };
    let (first, second) = (begun(0, "192.0.2.1", BodyLimit::Small), begun(1, "192.0.2.1", BodyLimit::Small));
    sleep(Duration::from_secs(2)).await;
    let (third, elsewhere) =
        (begun(2, "192.0.2.1", BodyLimit::Small), begun(3, "192.0.2.2", BodyLimit::Small));
    let message = begun(4, "192.0.2.1", BodyLimit::Message);
    sleep(Duration::from_secs(2)).await;
    assert_eq!(third.await.unwrap().code(), "overloaded", "two bodies of this address hold its share");
    let all_at_once = sent_from("192.0.2.1", &budgets, &all_permits[5], BodyLimit::Small, kilobytes(64).0);
    assert_eq!(all_at_once.into_vec().await.unwrap().len(), 64 * 1024, "it is read while the permit is held");
    assert!(!first.is_finished() && !second.is_finished() && !elsewhere.is_finished());
    assert!(!message.is_finished(), "its memory is counted by the reader");

    for slow in [first, second, elsewhere, message] {
        assert!(slow.await.unwrap().message().contains("too slowly"));
    }
    let freed = Request::builder().extension(budgets.small.clone()).finish();
    BodyShare::of_small(&freed).enter().try_grow(32 * 1024).unwrap();
}

#[tokio::test(start_paused = true)]
async fn slow_body_releases_its_permit_until_the_body_is_complete() {
    let permits = RequestPermits::new(PermitLimits { requests_max: 1, ..PermitLimits::default() });
    let slow = permits.take(PermitClass::Request).await.unwrap();
    let mut request = Request::builder().body(coming_after_5_seconds());
    bound(&mut request, BodyTerms::default(), &slow);
    let reading = tokio::spawn(request.take_body().into_vec());
    let asked_at = Instant::now();
    let other = permits.take(PermitClass::Request).await.unwrap();
    assert!(asked_at.elapsed() < 2 * PERMIT_KEPT_FOR, "{:?}", asked_at.elapsed());
    sleep(Duration::from_secs(5)).await;
    assert!(!reading.is_finished(), "the body is complete, and another request holds the permit");
    drop(other);
    assert_eq!(reading.await.unwrap().unwrap().len(), CHUNK.len());
    assert!(slow.release(), "it holds its permit again");
}

#[tokio::test(start_paused = true)]
async fn slow_body_that_cannot_reacquire_its_permit_gets_overloaded() {
    let permits = RequestPermits::new(PermitLimits { requests_max: 1, ..PermitLimits::default() });
    let slow = permits.take(PermitClass::Request).await.unwrap();
    let mut request = Request::builder().body(coming_after_5_seconds());
    bound(&mut request, BodyTerms::default(), &slow);
    let reading = tokio::spawn(refusal(request.take_body()));
    let _other = permits.take(PermitClass::Request).await.unwrap();
    assert_eq!(reading.await.unwrap().code(), "overloaded");
}

#[tokio::test(start_paused = true)]
async fn permit_released_before_the_body_is_not_reacquired_after_it() {
    let permits = RequestPermits::new(PermitLimits { requests_max: 1, ..PermitLimits::default() });
    let uploading = permits.take(PermitClass::Request).await.unwrap();
    let mut request = Request::builder().body(coming_after_5_seconds());
    bound(&mut request, BodyTerms::default(), &uploading);
    assert!(uploading.release());
    let _other = permits.take(PermitClass::Request).await.unwrap();
    assert_eq!(request.take_body().into_vec().await.unwrap().len(), CHUNK.len());
    assert!(!uploading.release(), "it did not acquire one");
}
