//! Load beyond the limits, and its effect on other requests.

use domain::Route;
use poem::{Endpoint, Request};
use tokio::time::{Duration, Instant};

use super::harness::{EdgeHarness, Method, NOW, Seen};
use crate::{LoadTerms, ROUTE_SHARE};

const LARGE_BYTES: usize = 3 << 20;
const AT: [(&str, &str); 1] = [("host", "127.0.0.1:8081")];

/// Incompressible bytes.
fn noise() -> String {
    let mut hash = domain::BlobHash::of(b"noise");
    let mut noise = String::with_capacity(LARGE_BYTES + 64);
    while noise.len() < LARGE_BYTES {
        noise.push_str(&hash.to_string());
        hash = domain::BlobHash::of(&noise.as_bytes()[noise.len() - 64..]);
    }
    noise
}

fn assert_shed(seen: &Seen) {
    assert_eq!((seen.status, seen.says("retry-after")), (503, Some("2")), "{}", seen.text());
}

/// A visitor that got a response and does not read it.
async fn rest_at(harness: &EdgeHarness, target: &str) -> poem::Response {
    let request = Request::builder().method(Method::GET).uri_str(target).header("host", "127.0.0.1:8081");
    harness.edge.endpoint().get_response(request.finish()).await
}

#[tokio::test]
async fn streamed_responses_hold_a_permit_and_cached_ones_do_not() {
    let wait_max = Duration::from_millis(20);
    let terms = LoadTerms { streamed_answers_max: 1, wait_max, ..LoadTerms::default() };
    let harness = EdgeHarness::under(terms).await;
    let large = noise();
    // With its badge it is too large, too.
    let dressed = format!("<title>x</title><p>{large}");
    let route = harness.site(&[("small.txt", "small"), ("a.bin", &large), ("dressed.html", &dressed)]).await;
    let route = Route { expires_at: Some(NOW.plus(Duration::from_secs(60))), ..route };
    harness.know(&route).await;
    for target in ["/site/my-page-a1b2/a.bin", "/site/my-page-a1b2/dressed.html"] {
        let resting = rest_at(&harness, target).await;
        assert_eq!(resting.status().as_u16(), 200, "{target}");
        let visit = |path, headers| harness.visit(&route, path, headers);
        assert_shed(&visit("/a.bin", &[]).await);
        assert_shed(&visit("/a.bin", &[("range", "bytes=5-9")]).await);
        assert_shed(&visit("/a.bin", &[("range", "bytes=5-9,20-29")]).await);
        assert_shed(&visit("/dressed.html", &[]).await);
        assert_eq!(visit("/small.txt", &[]).await.text(), "small");
        assert_eq!(visit("/a.bin", &[("if-none-match", "*")]).await.status, 304);
        let head = harness.knock(Method::HEAD, "/site/my-page-a1b2/a.bin", &AT).await;
        assert_eq!((head.status, head.says("content-length")), (200, Some(large.len().to_string().as_str())));
        drop(resting);
        assert!(visit("/a.bin", &[]).await.text() == large, "it came otherwise");
        assert_eq!(visit("/a.bin", &[("range", "bytes=5-9")]).await.text(), &large[5..10]);
        let parts = visit("/a.bin", &[("range", "bytes=5-9,20-29")]).await;
        assert!(parts.status == 206 && parts.text().contains(&large[20..30]), "{}", parts.text());
        assert!(visit("/dressed.html", &[]).await.text().contains(&large), "it came otherwise");
    }
}

#[tokio::test]
async fn slow_content_reads_do_not_block_route_reads() {
    let wait_max = Duration::from_millis(20);
    let harness =
        EdgeHarness::under(LoadTerms { content_reads_max: 1, wait_max, ..LoadTerms::default() }).await;
    let route = harness.site(&[("small.txt", "small")]).await;
    let read = harness.edge.inner.contents.take_read().await;
    assert_shed(&harness.visit(&route, "/small.txt", &[]).await);
    // This one needs the database.
    assert_eq!(harness.knock(Method::GET, "/site/other-page-c3d4/", &AT).await.status, 404);
    drop(read);
    assert_eq!(harness.visit(&route, "/small.txt", &[]).await.text(), "small");
}

#[tokio::test]
async fn a_small_page_is_read_before_it_takes_a_press_permit() {
    let harness = EdgeHarness::under(LoadTerms { content_reads_max: 1, ..LoadTerms::default() }).await;
    let route = harness.site(&[("index.html", "<title>x</title><p>small")]).await;
    let route = Route { expires_at: Some(NOW.plus(Duration::from_secs(60))), ..route };
    let contents = &harness.edge.inner.contents;
    let read = contents.take_read().await;
    let other_pages = async {
        // The visit now waits for its read.
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        drop(contents.take_all_presses().await);
        drop(read);
    };
    let (seen, ()) = futures::join!(harness.visit(&route, "/", &[]), other_pages);
    assert!(seen.status == 200 && seen.text().contains("<p>small"), "{}", seen.text());
    assert_eq!(contents.kept_count(), 1, "it was not dressed as a stream");
    assert_eq!(
        contents.memory_bytes(),
        seen.body.len() as u64,
        "the page as it was stored is no longer held"
    );
}

#[tokio::test]
async fn failed_shared_wait_does_not_double_the_waiting_time() {
    let terms = LoadTerms { content_reads_max: 1, route_reads_max: 1, ..LoadTerms::default() };
    let harness = EdgeHarness::under(terms).await;
    let route = harness.site(&[("small.txt", "small")]).await;
    let inner = &harness.edge.inner;
    let _read = inner.contents.take_read().await;
    let _look = inner.route_reads.acquire(Instant::now()).await.unwrap();
    harness.know(&route).await;
    // From here on the clock moves only while everything waits.
    tokio::time::pause();
    for target in ["/site/my-page-a1b2/small.txt", "/site/other-page-c3d4/"] {
        let visit = async || {
            let since = Instant::now();
            assert_shed(&harness.knock(Method::GET, target, &AT).await);
            since.elapsed()
        };
        let waited = futures::join!(visit(), visit(), visit());
        let once = terms.wait_max..terms.wait_max + Duration::from_millis(50);
        for waited in <[Duration; 3]>::from(waited) {
            assert!(once.contains(&waited), "{target}: {waited:?}");
        }
    }
}

#[tokio::test]
async fn evicted_contents_in_flight_are_bounded_and_further_ones_are_streamed() {
    const CACHE_BYTES: u64 = 10 << 20;
    const FILE_BYTES: usize = 1 << 20;
    // A part is for routes, and as much again as the rest may be in flight.
    const MEMORY_BYTES_MAX: u64 = (CACHE_BYTES - CACHE_BYTES / ROUTE_SHARE) * 2;
    const HELD: usize = MEMORY_BYTES_MAX as usize / FILE_BYTES;
    let wait_max = Duration::from_millis(20);
    let harness = EdgeHarness::with(|settings| {
        settings.cache_bytes = CACHE_BYTES;
        settings.load = LoadTerms { streamed_answers_max: 2, wait_max, ..LoadTerms::default() };
    })
    .await;
    let names: Vec<_> = (0..HELD + 3).map(|number| format!("{number}.png")).collect();
    // As many contents, all different.
    let noise = noise();
    let content = |number: usize| noise.as_bytes()[64 * number..][..FILE_BYTES].to_vec();
    let mut files = Vec::new();
    for (number, name) in names.iter().enumerate() {
        files.push(harness.file(name, content(number)).await);
    }
    let page = harness.file("page.html", "<title>x</title>").await;
    let route = super::harness::route(files.into_iter().chain([page]).collect());
    let provisional = Route { expires_at: Some(NOW.plus(Duration::from_secs(60))), ..route };
    harness.know(&provisional).await;
    let contents = &harness.edge.inner.contents;
    let mut resting = Vec::new();
    for name in &names[..HELD + 1] {
        let answer = rest_at(&harness, &format!("/site/my-page-a1b2/{name}")).await;
        assert_eq!(answer.status().as_u16(), 200, "{name}");
        assert!(contents.memory_bytes() <= MEMORY_BYTES_MAX, "{name}");
        resting.push(answer);
    }
    assert_eq!(contents.memory_bytes(), MEMORY_BYTES_MAX, "one is streamed, and so not held");
    // An uncached content streams whole, and dressed, while there are slots.
    let (next, last) = (format!("/{}.png", HELD + 1), format!("/{}.png", HELD + 2));
    let streamed = harness.visit(&provisional, &next, &[]).await;
    assert!(streamed.status == 200 && streamed.body == content(HELD + 1), "{}", streamed.status);
    assert!(streamed.says("etag").is_some() && streamed.says("content-length").is_some());
    assert!(harness.visit(&provisional, "/page", &[]).await.text().contains("is hosted on"));
    resting.push(rest_at(&harness, &format!("/site/my-page-a1b2{next}")).await);
    assert_shed(&harness.visit(&provisional, &last, &[]).await);
    assert_shed(&harness.visit(&provisional, "/page", &[]).await);
    drop(resting);
    assert!(contents.memory_bytes() <= MEMORY_BYTES_MAX / 2, "{}", contents.memory_bytes());
    let held = harness.visit(&provisional, &last, &[]).await;
    assert!(held.status == 200 && held.body == content(HELD + 2), "{}", held.status);
}

#[tokio::test]
async fn no_network_can_take_all_stream_permits() {
    let wait_max = Duration::from_millis(20);
    let harness = EdgeHarness::with(|settings| {
        settings.load = LoadTerms { streamed_answers_max: 4, wait_max, ..LoadTerms::default() };
        settings.network_of = std::sync::Arc::new(|request| request.header("x-from")?.parse().ok());
    })
    .await;
    let route = harness.site(&[("a.png", &noise())]).await;
    let request = async |from: &'static str| {
        harness.know(&route).await;
        let request = Request::builder().method(Method::GET).uri_str("/site/my-page-a1b2/a.png");
        let request = request.header("host", "127.0.0.1:8081").header("x-from", from);
        harness.edge.endpoint().get_response(request.finish()).await
    };
    let mut resting = Vec::new();
    for (from, status) in
        [("192.0.2.1", 200), ("192.0.2.1", 200), ("192.0.2.1", 503), ("192.0.2.2", 200), ("192.0.2.2", 503)]
    {
        let answer = request(from).await;
        assert_eq!(answer.status().as_u16(), status, "{from}, after {}", resting.len());
        resting.push(answer);
    }
    assert_eq!(request("192.0.2.3").await.status().as_u16(), 200);
}
