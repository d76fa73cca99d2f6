//! The names under which a site is served, and the limit of requests for nonexistent sites.

use std::time::Duration;

use domain::link::UrlStyle;
use domain::{ModerationStatus, Route, Visibility};

use super::harness::{EdgeHarness, HOST, Method, NOW};

async fn harness_in_host_style() -> EdgeHarness {
    EdgeHarness::with(|settings| settings.url_style = UrlStyle::Host).await
}

#[tokio::test]
async fn host_style_redirects_site_paths_to_the_sites_own_name_with_the_query() {
    let harness = harness_in_host_style().await;
    let route = harness.site(&[("index.html", "front"), ("docs/index.html", "docs")]).await;
    for (path, location) in [
        ("", "/"),
        ("/", "/"),
        ("/docs", "/docs"),
        ("/nowhere", "/nowhere"),
        ("/a%20b?x=1&sig=0123456789abcdef", "/a%20b?x=1&sig=0123456789abcdef"),
        ("/?sig=0123456789abcdef", "/?sig=0123456789abcdef"),
        ("//evil.example/", "//evil.example/"),
    ] {
        let seen = harness.visit(&route, path, &[]).await;
        let expected = format!("http://{HOST}.localhost:8081{location}");
        assert_eq!((seen.status, seen.says("location")), (301, Some(expected.as_str())), "{path}");
        assert_eq!(seen.says("cache-control"), Some("public, max-age=60"), "{path}");
    }
    assert_eq!(harness.views(), 0, "a redirect is no view");
    let by_name = harness.knock(Method::GET, "/docs/", &[("host", &format!("{HOST}.localhost:8081"))]).await;
    assert_eq!((by_name.status, by_name.text()), (200, "docs"));
}

#[tokio::test]
async fn host_style_closes_sites_by_path_too() {
    let harness = harness_in_host_style().await;
    let open = harness.site(&[("index.html", "front")]).await;
    let expired = Route { expires_at: Some(NOW), ..open.clone() };
    let blocked = Route { moderation: ModerationStatus::Blocked, ..open.clone() };
    let private = Route { visibility: Visibility::Private, ..open.clone() };
    for (route, status) in [(&expired, 410), (&blocked, 451), (&private, 403)] {
        assert_eq!(harness.visit(route, "/", &[]).await.status, status);
    }
    let sig = harness.link_key.signature(&private.host, private.link_generation);
    let seen = harness.visit(&private, &format!("/?sig={sig}"), &[]).await;
    let location = format!("http://{HOST}.localhost:8081/?sig={sig}");
    assert_eq!((seen.status, seen.says("location")), (301, Some(location.as_str())));
    assert_eq!(seen.says("cache-control"), Some("private, max-age=60"));
    let unknown = harness.knock(Method::GET, "/site/nobody-here-a1b2/", &[("host", "127.0.0.1")]).await;
    assert_eq!(unknown.status, 404, "no redirect to a site that does not exist");
}

#[tokio::test]
async fn host_style_serves_a_host_that_is_not_a_dns_label_by_path() {
    let harness = harness_in_host_style().await;
    let site = harness.site(&[("index.html", "front")]).await;
    for host in ["-my-page-a1b2", "xn--page-a1b2"] {
        let route = Route { host: host.parse().unwrap(), ..site.clone() };
        assert_eq!(harness.visit(&route, "/", &[]).await.text(), "front", "{host}");
    }
}

#[tokio::test]
async fn host_style_answers_foreign_host_names_with_421() {
    let harness = harness_in_host_style().await;
    harness.know(&harness.site(&[("index.html", "front")]).await).await;
    for (target, host, status) in [
        (format!("/site/{HOST}/"), "login.bank.example", 421),
        ("/".into(), "login.bank.example:443", 421),
        ("/favicon.ico".into(), "login.bank.example", 421),
        ("/healthz".into(), "10.0.0.7:8081", 200),
        ("/".into(), "127.0.0.1:8081", 404),
        ("/favicon.ico".into(), "localhost:8081", 200),
        (format!("/site/{HOST}/"), "LOCALHOST.:8081", 301),
    ] {
        let seen = harness.knock(Method::GET, &target, &[("host", host)]).await;
        assert_eq!(seen.status, status, "{target} at {host}");
        if status == 421 {
            assert_eq!(seen.says("content-type"), Some("text/html; charset=utf-8"));
            assert_eq!(seen.says("cache-control"), Some("no-store"));
        }
    }
    let in_path_style = EdgeHarness::build().await;
    let route = in_path_style.site(&[("index.html", "front")]).await;
    in_path_style.know(&route).await;
    let target = format!("/site/{HOST}/");
    let seen = in_path_style.knock(Method::GET, &target, &[("host", "login.bank.example")]).await;
    assert_eq!(seen.text(), "front");
}

#[tokio::test]
async fn the_icon_of_the_edge_is_not_that_of_a_site() {
    let harness = EdgeHarness::build().await;
    let route = harness.site(&[("favicon.ico", "of the site")]).await;
    harness.know(&route).await;
    let at_root = harness.knock(Method::GET, "/favicon.ico", &[("host", "127.0.0.1:8081")]).await;
    assert_eq!((at_root.status, at_root.says("content-type")), (200, Some("image/x-icon")));
    assert_eq!(at_root.says("content-length"), Some(at_root.body.len().to_string().as_str()));
    assert!(at_root.body.starts_with(&[0, 0, 1, 0]), "an ICO file");
    let head = harness.knock(Method::HEAD, "/favicon.ico", &[("host", "127.0.0.1:8081")]).await;
    assert_eq!((head.status, head.body.len()), (200, 0));
    assert_eq!(harness.visit(&route, "/favicon.ico", &[]).await.text(), "of the site");
    let by_name = harness.knock(Method::GET, "/favicon.ico", &[("host", &format!("{HOST}.localhost"))]).await;
    assert_eq!(by_name.text(), "of the site");
    let without = harness.site(&[("index.html", "front")]).await;
    assert_eq!(harness.visit(&without, "/favicon.ico", &[]).await.status, 404);
}

#[tokio::test]
async fn network_with_too_many_misses_gets_only_sites_it_was_already_served() {
    let harness = EdgeHarness::with(|settings| settings.misses_per_minute = 3).await;
    let known = harness.site(&[("index.html", "front")]).await;
    let other = Route { host: "other-page-c3d4".parse().unwrap(), ..known.clone() };
    let at = ("host", "127.0.0.1:8081");
    let guess = async |number: u32, from| {
        harness.knock(Method::GET, &format!("/site/guess-{number:04}/"), &[at, ("x-from", from)]).await
    };
    let mine = ("x-from", "192.0.2.1");
    assert_eq!(harness.visit(&known, "/", &[mine]).await.status, 200);
    for number in 0..3 {
        assert_eq!(harness.visit(&known, "/nowhere", &[mine]).await.status, 404, "no miss of a site");
        assert_eq!(guess(number, "192.0.2.1").await.status, 404);
    }
    let refused = guess(3, "192.0.2.1").await;
    assert_eq!((refused.status, refused.says("retry-after")), (429, Some("60")));
    assert_eq!(refused.says("cache-control"), Some("no-store"));
    let existing = harness.visit(&other, "/", &[mine]).await;
    assert_eq!(
        (existing.status, existing.body),
        (429, refused.body),
        "one answer for what is and is not there"
    );
    let by_name = [("host", "other-page-c3d4.localhost"), mine];
    assert_eq!(harness.knock(Method::GET, "/", &by_name).await.status, 429);
    assert_eq!(harness.visit(&known, "/", &[mine]).await.text(), "front");
    assert_eq!(harness.visit(&other, "/", &[("x-from", "192.0.2.2")]).await.status, 200);
    assert_eq!(harness.visit(&other, "/", &[]).await.status, 200, "a proxy that names nobody is not counted");
    harness.clock.advance(Duration::from_secs(60));
    assert_eq!(harness.visit(&other, "/", &[mine]).await.status, 200);
}
