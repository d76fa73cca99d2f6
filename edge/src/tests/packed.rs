//! Large pages that must be dressed: once, and sent from memory afterwards.

use std::time::Duration;

use domain::{Chance, Route, Visibility};
use poem::{Endpoint, Request};

use super::harness::{EdgeHarness, HOST, Method, NOW};
use crate::LoadTerms;
use crate::form::HELD_BYTES_MAX;

const AT: (&str, &str) = ("host", "127.0.0.1:8081");

async fn provisional(harness: &EdgeHarness, page: &str) -> Route {
    Route {
        expires_at: Some(NOW.plus(Duration::from_secs(1800))),
        ..harness.site(&[("index.html", page)]).await
    }
}

/// Many tags, which are the most expensive to parse.
fn flood() -> String {
    let tags = "<div><b>".repeat(HELD_BYTES_MAX as usize / 6);
    format!("<body><a href=b.html>{tags}</body>")
}

/// Large, and still large when encoded.
fn noise() -> String {
    let chance = Chance::seeded(1);
    format!("<body>{}</body>", chance.base36(3 * HELD_BYTES_MAX as usize))
}

#[tokio::test]
async fn large_page_is_rewritten_once_and_then_served_from_memory() {
    let harness = EdgeHarness::build().await;
    for page in [flood(), noise()] {
        let route = provisional(&harness, &page).await;
        let first = harness.visit(&route, "/", &[]).await;
        assert!(first.text().starts_with(&page[..page.len() - 7]) && first.text().ends_with("</div></body>"));
        assert_eq!(first.says("content-length"), Some(first.body.len().to_string().as_str()));
        let hash = route.manifest.files()[0].hash;
        harness.blobs.delete_blob(hash).await.unwrap();
        let again = harness.visit(&route, "/", &[]).await;
        assert!(again.status == 200 && again.body == first.body && again.headers == first.headers);
        let etag = first.says("etag").unwrap();
        assert_eq!(harness.visit(&route, "/", &[("if-none-match", etag)]).await.status, 304);
        let head = harness.knock(Method::HEAD, &format!("/site/{HOST}/"), &[AT]).await;
        assert_eq!((head.status, head.says("content-length")), (200, first.says("content-length")));
    }
}

#[tokio::test]
async fn ranges_of_a_large_rewritten_page_match_the_sent_bytes() {
    let harness = EdgeHarness::build().await;
    let route = provisional(&harness, &noise()).await;
    let whole = harness.visit(&route, "/", &[]).await.body;
    let size = whole.len();
    for (range, from, to) in [
        ("bytes=0-3", 0, 4),
        ("bytes=65530-65540", 65530, 65541),
        ("bytes=-7", size - 7, size),
        ("bytes=1000000-", 1_000_000, size),
    ] {
        let part = harness.visit(&route, "/", &[("range", range)]).await;
        assert_eq!((part.status, &part.body[..]), (206, &whole[from..to]), "{range}");
    }
    let parts = harness.visit(&route, "/", &[("range", "bytes=0-1,70000-140000")]).await;
    assert_eq!(parts.says("content-length"), Some(parts.body.len().to_string().as_str()));
    assert!(parts.text().contains(str::from_utf8(&whole[70_000..140_001]).unwrap()));
    let beyond = harness.visit(&route, "/", &[("range", format!("bytes={size}-").as_str())]).await;
    assert_eq!(beyond.status, 416);
}

#[tokio::test]
async fn concurrent_requests_for_an_uncached_large_page_rewrite_it_once() {
    let wait_max = Duration::from_millis(20);
    let harness = EdgeHarness::under(LoadTerms { wait_max, ..LoadTerms::default() }).await;
    let route = provisional(&harness, &flood()).await;
    harness.know(&route).await;
    // One permit is left. A request that dressed the page again would get no permit, and its response would
    // have no length.
    let mut permits = harness.edge.inner.contents.take_all_presses().await;
    permits.pop();
    let target = format!("/site/{HOST}/");
    let visits = (0..20).map(|_| harness.knock(Method::GET, &target, &[AT]));
    let seen = futures::future::join_all(visits).await;
    assert!(seen.iter().all(|one| one.status == 200 && one.body == seen[0].body));
    assert!(seen.iter().all(|one| one.says("content-length").is_some()));
}

#[tokio::test]
async fn claim_or_visibility_change_rewrites_a_large_page_again() {
    let harness = EdgeHarness::build().await;
    let page = flood();
    let before = provisional(&harness, &page).await;
    let sig = harness.link_key.signature(&before.host, before.link_generation);
    let claimed = Route { expires_at: None, ..before.clone() };
    let private = Route { visibility: Visibility::Private, ..claimed.clone() };
    let path = format!("/?sig={sig}");
    let mut etags = Vec::new();
    for (route, is_badged, is_signed) in
        [(&before, true, false), (&claimed, false, false), (&private, false, true), (&before, true, false)]
    {
        let seen = harness.visit(route, &path, &[]).await;
        assert_eq!(seen.text().contains("is hosted on"), is_badged);
        assert_eq!(seen.text().contains(&format!("\"b.html?sig={sig}\"")), is_signed);
        etags.push(seen.says("etag").unwrap().to_owned());
    }
    assert_eq!(etags.pop(), Some(etags[0].clone()));
    etags.dedup();
    assert_eq!(etags.len(), 3);
}

#[tokio::test]
async fn page_too_large_for_the_cache_is_rewritten_while_streaming() {
    let harness = EdgeHarness::with(|settings| settings.cache_bytes = 4 << 20).await;
    let page = noise();
    let route = provisional(&harness, &page).await;
    for _ in 0..2 {
        let seen = harness.visit(&route, "/", &[("accept-encoding", "br")]).await;
        assert_eq!((seen.status, seen.says("content-length")), (200, None));
        assert!(seen.text().starts_with(&page[..page.len() - 7]) && seen.text().ends_with("</div></body>"));
    }
    assert_eq!(harness.edge.inner.contents.memory_bytes(), 0);
}

#[tokio::test]
async fn packed_page_holds_a_permit_while_it_is_sent() {
    let terms =
        LoadTerms { streamed_answers_max: 1, wait_max: Duration::from_millis(20), ..LoadTerms::default() };
    let harness = EdgeHarness::under(terms).await;
    let route = provisional(&harness, &noise()).await;
    assert_eq!(harness.visit(&route, "/", &[]).await.status, 200);
    harness.know(&route).await;
    let request = Request::builder().method(Method::GET).uri_str(format!("/site/{HOST}/")).header(AT.0, AT.1);
    let resting = harness.edge.endpoint().get_response(request.finish()).await;
    assert_eq!(resting.status().as_u16(), 200);
    assert_eq!(harness.visit(&route, "/", &[]).await.status, 503);
    drop(resting);
    assert_eq!(harness.visit(&route, "/", &[]).await.status, 200);
}
