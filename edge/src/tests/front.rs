//! The front page from memory: the same responses as from all steps of a visit.

use std::time::Duration;

use domain::{Route, Visibility};
use tokio::time::Instant;

use super::harness::{EdgeHarness, HOST, Method, NOW, Seen};
use crate::LoadTerms;

const PAGE: &str = "<!doctype html><title>x</title><p>some words, some words, some words, some words";

/// Requests the front page, or something else below it, without reading its route again.
async fn knock(harness: &EdgeHarness, method: Method, path: &str, headers: &[(&str, &str)]) -> Seen {
    let mut all = vec![("host", "127.0.0.1:8081")];
    all.extend_from_slice(headers);
    harness.knock(method, &format!("/site/{HOST}{path}"), &all).await
}

fn said(seen: &Seen) -> (u16, Vec<String>, Vec<u8>) {
    let mut lines: Vec<_> =
        seen.headers.iter().map(|(name, value)| format!("{name}: {}", value.to_str().unwrap())).collect();
    lines.sort();
    (seen.status, lines, seen.body.to_vec())
}

async fn page() -> (EdgeHarness, Route) {
    let harness = EdgeHarness::build().await;
    let route = harness.site(&[("index.html", &PAGE.repeat(20)), ("a.css", "a{}")]).await;
    (harness, route)
}

#[tokio::test]
async fn responses_from_memory_equal_those_of_all_steps() {
    let (harness, public) = page().await;
    let provisional = Route { expires_at: Some(NOW.plus(Duration::from_secs(60))), ..public.clone() };
    let unlisted = Route { visibility: Visibility::Unlisted, ..public.clone() };
    let private = Route { visibility: Visibility::Private, ..public.clone() };
    for route in [public, provisional, unlisted, private] {
        harness.know(&route).await;
        let etag = knock(&harness, Method::GET, "/", &[]).await.says("etag").unwrap_or("none").to_owned();
        let conditions: &[&[(&str, &str)]] = &[
            &[],
            &[("accept-encoding", "br")],
            &[("accept-encoding", "gzip, zstd;q=0.5")],
            &[("if-none-match", &etag)],
            &[("if-none-match", "\"other\"")],
            &[("if-match", "\"other\"")],
            &[("range", "bytes=3-9")],
        ];
        for headers in conditions {
            // The path of the file itself always takes all steps.
            let full = said(&knock(&harness, Method::GET, "/index.html", headers).await);
            for _ in 0..3 {
                let front = said(&knock(&harness, Method::GET, "/", headers).await);
                assert_eq!(front, full, "{:?} {headers:?}", route.visibility);
            }
            let head = knock(&harness, Method::HEAD, "/", headers).await;
            // A range is for GET only.
            let status = if full.0 == 206 { 200 } else { full.0 };
            assert_eq!((head.status, head.body.len()), (status, 0), "{headers:?}");
        }
    }
}

#[tokio::test]
async fn public_html_roots_are_kept_with_their_route_for_a_while() {
    let (harness, public) = page().await;
    let rules = harness.site(&[("index.html", PAGE), ("_headers", "/*\n  x-a: b\n")]).await;
    let other = harness.site(&[("index.svg", "<svg/>")]).await;
    let private = Route { visibility: Visibility::Private, ..public.clone() };
    for (route, has_front) in [(public, true), (rules, false), (other, false), (private, false)] {
        harness.know(&route).await;
        // The first visit reads the content, and the second one finds it in the cache.
        for _ in 0..2 {
            knock(&harness, Method::GET, "/", &[]).await;
        }
        let sites = &harness.edge.inner.sites;
        let site = sites.recall(&route.host, |_| true).flatten().unwrap();
        let kept = |after| site.front.as_ref().and_then(|front| front.recall(None, Instant::now() + after));
        assert_eq!(kept(Duration::ZERO).is_some(), has_front, "{:?}", route.manifest);
        assert!(kept(Duration::from_secs(60)).is_none());
    }
}

#[tokio::test]
async fn visits_from_memory_are_counted_and_end_with_the_route() {
    let (harness, route) = page().await;
    harness.know(&route).await;
    for _ in 0..5 {
        assert_eq!(knock(&harness, Method::GET, "/", &[]).await.status, 200);
    }
    knock(&harness, Method::HEAD, "/", &[]).await;
    assert_eq!(harness.views(), 5);
    let other = harness.site(&[("index.html", "<p>another page")]).await;
    harness.know(&other).await;
    assert_eq!(knock(&harness, Method::GET, "/", &[]).await.text(), "<p>another page");
    harness.know(&Route { is_suspended: true, ..other.clone() }).await;
    assert_eq!(knock(&harness, Method::GET, "/", &[]).await.status, 451);
    let late = Route {
        held_from: Some(NOW),
        expires_at: Some(NOW.plus(Duration::from_secs(60))),
        moderation: domain::ModerationStatus::Pending,
        ..other
    };
    harness.know(&late).await;
    assert_eq!(knock(&harness, Method::GET, "/", &[]).await.status, 503);
}

#[tokio::test]
async fn page_in_memory_needs_no_read_permit_and_an_evicted_one_is_read_again() {
    let terms =
        LoadTerms { content_reads_max: 1, wait_max: Duration::from_millis(20), ..LoadTerms::default() };
    let harness = EdgeHarness::under(terms).await;
    let route = harness.site(&[("index.html", PAGE)]).await;
    harness.know(&route).await;
    for _ in 0..2 {
        assert_eq!(knock(&harness, Method::GET, "/", &[]).await.text(), PAGE);
    }
    let read = harness.edge.inner.contents.take_read().await;
    assert_eq!(knock(&harness, Method::GET, "/", &[]).await.text(), PAGE);
    harness.edge.inner.contents.evict_all();
    assert_eq!(knock(&harness, Method::GET, "/", &[]).await.status, 503);
    drop(read);
    assert_eq!(knock(&harness, Method::GET, "/", &[]).await.text(), PAGE);
    assert_eq!(harness.edge.inner.contents.memory_bytes(), PAGE.len() as u64);
}
