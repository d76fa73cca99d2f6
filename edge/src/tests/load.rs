//! More than is done at a time: what it costs those who want the same, and nobody else.

use domain::Route;
use poem::{Endpoint, Request};
use tokio::time::{Duration, Instant};

use super::house::{House, Method, NOW, Seen};
use crate::LoadTerms;

const LARGE_BYTES: usize = 3 << 20;
const AT: [(&str, &str); 1] = [("host", "127.0.0.1:8081")];

/// Bytes that nothing makes smaller.
fn noise() -> String {
    let mut hash = domain::BlobHash::of(b"noise");
    let mut noise = String::with_capacity(LARGE_BYTES + 64);
    while noise.len() < LARGE_BYTES {
        noise.push_str(&hash.to_string());
        hash = domain::BlobHash::of(&noise.as_bytes()[noise.len() - 64..]);
    }
    noise
}

fn assert_told_to_come_again(seen: &Seen) {
    assert_eq!((seen.status, seen.says("retry-after")), (503, Some("2")), "{}", seen.text());
}

/// A visitor who was answered and takes nothing.
async fn rest_at(house: &House, target: &str) -> poem::Response {
    let request = Request::builder().method(Method::GET).uri_str(target).header("host", "127.0.0.1:8081");
    house.edge.endpoint().get_response(request.finish()).await
}

#[tokio::test]
async fn what_is_streamed_takes_a_place_for_as_long_as_it_is_sent_and_what_is_held_takes_none() {
    let wait_max = Duration::from_millis(20);
    let terms = LoadTerms { streamed_answers_max: 1, wait_max, ..LoadTerms::default() };
    let house = House::under(terms).await;
    let large = noise();
    // With its badge it stays too large as well.
    let dressed = format!("<title>x</title><p>{large}");
    let route = house.site(&[("small.txt", "small"), ("a.bin", &large), ("dressed.html", &dressed)]).await;
    let route = Route { expires_at: Some(NOW.plus(Duration::from_secs(60))), ..route };
    house.know(&route).await;
    for target in ["/site/my-page-a1b2/a.bin", "/site/my-page-a1b2/dressed.html"] {
        let resting = rest_at(&house, target).await;
        assert_eq!(resting.status().as_u16(), 200, "{target}");
        let visit = |path, headers| house.visit(&route, path, headers);
        assert_told_to_come_again(&visit("/a.bin", &[]).await);
        assert_told_to_come_again(&visit("/a.bin", &[("range", "bytes=5-9")]).await);
        assert_told_to_come_again(&visit("/a.bin", &[("range", "bytes=5-9,20-29")]).await);
        assert_told_to_come_again(&visit("/dressed.html", &[]).await);
        assert_eq!(visit("/small.txt", &[]).await.text(), "small");
        assert_eq!(visit("/a.bin", &[("if-none-match", "*")]).await.status, 304);
        let head = house.knock(Method::HEAD, "/site/my-page-a1b2/a.bin", &AT).await;
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
async fn contents_that_are_slow_to_come_keep_no_route_from_being_read() {
    let wait_max = Duration::from_millis(20);
    let house = House::under(LoadTerms { content_reads_max: 1, wait_max, ..LoadTerms::default() }).await;
    let route = house.site(&[("small.txt", "small")]).await;
    let read = house.edge.inner.contents.take_read().await;
    assert_told_to_come_again(&house.visit(&route, "/small.txt", &[]).await);
    // The database is asked for this one.
    assert_eq!(house.knock(Method::GET, "/site/other-page-c3d4/", &AT).await.status, 404);
    drop(read);
    assert_eq!(house.visit(&route, "/small.txt", &[]).await.text(), "small");
}

#[tokio::test]
async fn who_waited_for_another_in_vain_does_not_wait_as_long_once_more() {
    let terms = LoadTerms { content_reads_max: 1, route_reads_max: 1, ..LoadTerms::default() };
    let house = House::under(terms).await;
    let route = house.site(&[("small.txt", "small")]).await;
    let inner = &house.edge.inner;
    let _read = inner.contents.take_read().await;
    let _look = inner.reads.take(Instant::now()).await.unwrap();
    house.know(&route).await;
    // Nothing is done from here on but waiting.
    tokio::time::pause();
    for target in ["/site/my-page-a1b2/small.txt", "/site/other-page-c3d4/"] {
        let visit = async || {
            let since = Instant::now();
            assert_told_to_come_again(&house.knock(Method::GET, target, &AT).await);
            since.elapsed()
        };
        let waited = futures::join!(visit(), visit(), visit());
        let once = terms.wait_max..terms.wait_max + Duration::from_millis(50);
        for waited in <[Duration; 3]>::from(waited) {
            assert!(once.contains(&waited), "{target}: {waited:?}");
        }
    }
}
