//! Who gets access, and what everybody else sees.

use std::time::Duration;

use domain::{ModerationStatus, Route, Visibility};

use super::harness::{EdgeHarness, HOST, Method, NOW};

const SECRET_TEXT: &str = "the user's own words";

async fn private_site(harness: &EdgeHarness) -> Route {
    let page = format!("<body><a href=\"b.html\">{SECRET_TEXT}</a></body>");
    let files = [
        ("index.html", page.as_str()),
        ("b.html", "<p>b</p>"),
        ("a.css", "@font-face{src:url(f.woff2)}"),
        ("f.woff2", "font"),
        ("docs/index.html", "<a href='../b.html'>"),
        ("404.html", "<a href=\"b.html\">lost</a>"),
    ];
    Route { visibility: Visibility::Private, ..harness.site(&files).await }
}

#[tokio::test]
async fn closed_site_shows_our_error_page_and_never_its_content() {
    let harness = EdgeHarness::build().await;
    let open = harness.site(&[("index.html", SECRET_TEXT), ("404.html", SECRET_TEXT)]).await;
    let expired = Route { expires_at: Some(NOW), ..open.clone() };
    let blocked = Route { moderation: ModerationStatus::Blocked, ..open.clone() };
    let private = Route { visibility: Visibility::Private, ..open.clone() };
    for (route, status) in [(expired, 410), (blocked, 451), (private, 403)] {
        for path in ["/", "/nowhere", ""] {
            let seen = harness.visit(&route, path, &[]).await;
            assert_eq!(seen.status, status, "{path}");
            assert_eq!(seen.says("cache-control"), Some("no-store"));
            assert!(!seen.text().contains(SECRET_TEXT));
        }
    }
    assert_eq!(harness.visit(&open, "/", &[]).await.status, 200);
    assert_eq!(harness.views(), 1, "closed pages are no views");
}

#[tokio::test]
async fn site_expires_without_a_notice() {
    let harness = EdgeHarness::build().await;
    let soon = NOW.plus(Duration::from_secs(10));
    let route = Route { expires_at: Some(soon), ..harness.site(&[("index.html", "<p>x</p>")]).await };
    assert_eq!(harness.visit(&route, "/", &[]).await.status, 200);
    harness.clock.advance(Duration::from_secs(10));
    assert_eq!(harness.knock(Method::GET, &format!("/site/{HOST}/"), &[("host", "x")]).await.status, 410);
}

#[tokio::test]
async fn unknown_hosts_and_paths_are_404_and_other_methods_405() {
    let harness = EdgeHarness::build().await;
    let route = harness.site(&[("index.html", "x")]).await;
    harness.know(&route).await;
    for (target, host, status) in [
        ("/", "127.0.0.1:8081", 404),
        ("/favicon.ico", "127.0.0.1:8081", 200),
        ("/site/nobody-here-a1b2/", "127.0.0.1:8081", 404),
        ("/", "nobody-here-a1b2.localhost:8081", 404),
        ("/site/my-page-a1b2/nowhere", "127.0.0.1:8081", 404),
        ("/site/my-page-a1b2/", "127.0.0.1:8081", 200),
        ("/", "My-Page-A1B2.LOCALHOST:8081", 200),
        ("/site/my-page-a1b2/", "my-page-a1b2.localhost:8081", 404),
        ("/healthz", "127.0.0.1:8081", 200),
        ("/healthz", "my-page-a1b2.localhost", 404),
        ("/readyz", "my-page-a1b2.localhost", 404),
        ("/metrics", "127.0.0.1:8081", 404),
    ] {
        let seen = harness.knock(Method::GET, target, &[("host", host)]).await;
        assert_eq!(seen.status, status, "{target} at {host}");
        if status == 404 {
            assert_eq!(seen.says("content-type"), Some("text/html; charset=utf-8"));
            assert_eq!(seen.says("cache-control"), Some("no-store"));
        }
    }
    for method in [Method::POST, Method::PUT, Method::DELETE, Method::OPTIONS, Method::PATCH] {
        let seen = harness.knock(method, "/site/my-page-a1b2/", &[("host", "127.0.0.1")]).await;
        assert_eq!((seen.status, seen.says("allow")), (405, Some("GET, HEAD")));
    }
    assert_eq!(harness.knock(Method::GET, "/site/my-page-a1b2/", &[]).await.status, 400, "no host");
}

#[tokio::test]
async fn the_404_of_a_site_links_to_its_front_page_if_visitors_can_open_it() {
    let harness = EdgeHarness::build().await;
    let public = harness.site(&[("index.html", "front")]).await;
    harness.know(&public).await;
    for (path, target) in [("nowhere", "./"), ("a/b", "./../"), ("a/b/", "./../../"), ("a//b", "./../../")] {
        for (address, host) in [
            (format!("/site/{HOST}/{path}"), "127.0.0.1:8081".to_owned()),
            (format!("/{path}"), format!("{HOST}.localhost:8081")),
        ] {
            let seen = harness.knock(Method::GET, &address, &[("host", &host)]).await;
            let link = format!("<a class=\"button\" href=\"{target}\">Go to the front page</a>");
            assert!(seen.status == 404 && seen.text().contains(&link), "{address}: {}", seen.text());
            let at = url::Url::parse(&format!("http://{host}{address}")).unwrap().join(target).unwrap();
            let front = harness.knock(Method::GET, at.path(), &[("host", &host)]).await;
            assert_eq!((front.status, front.text()), (200, "front"), "{at}");
        }
    }
    let private = Route { visibility: Visibility::Private, ..public };
    let sig = harness.link_key.signature(&private.host, private.link_generation);
    let seen = harness.visit(&private, &format!("/nowhere?sig={sig}"), &[]).await;
    assert!(seen.status == 404 && !seen.text().contains("front page"), "{}", seen.text());
    let empty = harness.site(&[("a.txt", "x"), ("b.txt", "y")]).await;
    for path in ["/", "/nowhere"] {
        let seen = harness.visit(&empty, path, &[]).await;
        assert!(seen.status == 404 && !seen.text().contains("front page"), "{}", seen.text());
    }
}

#[tokio::test]
async fn private_site_is_fully_usable_from_its_signed_link() {
    let harness = EdgeHarness::build().await;
    let route = private_site(&harness).await;
    let sig = harness.link_key.signature(&route.host, route.link_generation);
    let page = harness.visit(&route, &format!("/?sig={sig}"), &[]).await;
    assert_eq!(page.text(), format!("<body><a href=\"b.html?sig={sig}\">{SECRET_TEXT}</a></body>"));
    assert_eq!(page.says("cache-control"), Some("private, max-age=60"));
    assert_eq!(page.says("referrer-policy"), Some("same-origin"));
    assert_eq!(page.says("x-robots-tag"), Some("noindex"));

    let stylesheet = format!("http://127.0.0.1:8081/site/{HOST}/a.css?sig={sig}");
    let font = harness.visit(&route, "/f.woff2", &[("referer", &stylesheet)]).await;
    assert_eq!((font.status, font.text()), (200, "font"));
    assert_eq!(font.says("vary"), Some("Accept-Encoding, Referer, Sec-Fetch-Dest"));
    let held = [("referer", stylesheet.as_str()), ("if-none-match", font.says("etag").unwrap())];
    let unchanged = harness.visit(&route, "/f.woff2", &held).await;
    assert_eq!((unchanged.status, unchanged.says("vary")), (304, font.says("vary")));
    let signed = harness.visit(&route, &format!("/f.woff2?sig={sig}"), &[]).await;
    assert_eq!(
        (signed.status, signed.says("vary")),
        (200, Some("Accept-Encoding")),
        "the address says it all"
    );
    assert_eq!(harness.visit(&route, "/f.woff2", &[]).await.status, 403);
    let document = harness.visit(&route, "/b.html", &[("referer", &stylesheet)]).await;
    assert_eq!(document.status, 403, "a referer opens assets, not documents");

    let folder = harness.visit(&route, &format!("/docs?sig={sig}"), &[]).await;
    assert_eq!(folder.status, 301);
    assert_eq!(folder.says("location"), Some(format!("/site/{HOST}/docs/?sig={sig}").as_str()));
    let below = harness.visit(&route, &format!("/docs/?sig={sig}"), &[]).await;
    assert_eq!(below.text(), format!("<a href=\"../b.html?sig={sig}\">"));
    let lost = harness.visit(&route, &format!("/no/where?sig={sig}"), &[]).await;
    assert_eq!((lost.status, lost.text()), (404, format!("<a href=\"b.html?sig={sig}\">lost</a>").as_str()));
}

#[tokio::test]
async fn nested_assets_of_a_private_site_are_allowed() {
    let harness = EdgeHarness::build().await;
    let route = private_site(&harness).await;
    let sig = harness.link_key.signature(&route.host, route.link_generation);
    let root = format!("http://127.0.0.1:8081/site/{HOST}");
    let signed = format!("{root}/first.css?sig={sig}");
    // A style sheet that another imports is redirected to its signed address, so that this is the `Referer`
    // of what it loads in turn.
    for (path, purpose, location) in [
        ("/a.css", "style", format!("/site/{HOST}/a.css?sig={sig}")),
        ("/a.css?v=2", "script", format!("/site/{HOST}/a.css?sig={sig}&v=2")),
    ] {
        let headers = [("referer", signed.as_str()), ("sec-fetch-dest", purpose)];
        let seen = harness.visit(&route, path, &headers).await;
        assert_eq!((seen.status, seen.says("location")), (302, Some(location.as_str())));
        assert_eq!(seen.says("cache-control"), Some("private, max-age=60"));
        assert_eq!(seen.says("vary"), Some("Accept-Encoding, Referer, Sec-Fetch-Dest"));
        let wrong = format!("{path}{}sig=0123456789abcdef", if path.contains('?') { '&' } else { '?' });
        let led = harness.visit(&route, &wrong, &headers).await.says("location").unwrap().to_owned();
        let there =
            harness.visit(&route, led.strip_prefix(&format!("/site/{HOST}")).unwrap(), &headers).await;
        assert_eq!(there.status, 200, "nobody is led in a circle");
    }
    for (path, purpose, status) in [
        ("/f.woff2", "font", 200),
        ("/a.css", "image", 200),
        ("/b.html", "empty", 200),
        ("/b.html", "document", 403),
        ("/b.html", "iframe", 403),
        ("/b.html", "script", 403),
    ] {
        let headers = [("referer", signed.as_str()), ("sec-fetch-dest", purpose)];
        assert_eq!(harness.visit(&route, path, &headers).await.status, status, "{path} as {purpose}");
        let unsigned = format!("{root}/first.css");
        let headers = [("referer", unsigned.as_str()), ("sec-fetch-dest", purpose)];
        assert_eq!(harness.visit(&route, path, &headers).await.status, 403, "{path} as {purpose}, unsigned");
    }
}

#[tokio::test]
async fn without_sec_fetch_dest_the_file_type_decides_about_redirects() {
    let harness = EdgeHarness::build().await;
    let files =
        [("index.html", "x"), ("a.css", "x"), ("b.js", "x"), ("c.mjs", "x"), ("d.png", "x"), ("e.json", "x")];
    let route = Route { visibility: Visibility::Private, ..harness.site(&files).await };
    let sig = harness.link_key.signature(&route.host, route.link_generation);
    let referer = format!("http://127.0.0.1:8081/site/{HOST}/first.css?sig={sig}");
    for (path, status) in
        [("/a.css", 302), ("/b.js", 302), ("/c.mjs", 302), ("/d.png", 200), ("/e.json", 200), ("/", 403)]
    {
        let seen = harness.visit(&route, path, &[("referer", referer.as_str())]).await;
        assert_eq!(seen.status, status, "{path}");
        let location = (status == 302).then(|| format!("/site/{HOST}{path}?sig={sig}"));
        assert_eq!(seen.says("location"), location.as_deref());
    }
}

#[tokio::test]
async fn redirect_locations_are_valid_urls_for_any_request() {
    let harness = EdgeHarness::build().await;
    let files = [("ünï/index.html", "x"), ("ünï/a.css", "x"), ("a b/index.html", "x")];
    let route = Route { visibility: Visibility::Private, ..harness.site(&files).await };
    let sig = harness.link_key.signature(&route.host, route.link_generation);
    for (path, led_to) in
        [("/ünï", "/%C3%BCn%C3%AF/"), ("/%C3%BCn%c3%af", "/%C3%BCn%c3%af/"), ("/a%20b", "/a%20b/")]
    {
        let seen = harness.visit(&route, &format!("{path}?sig={sig}&q=é"), &[]).await;
        let location = format!("/site/{HOST}{led_to}?sig={sig}&q=%C3%A9");
        assert_eq!((seen.status, seen.says("location")), (301, Some(location.as_str())));
    }
    let referer = format!("http://127.0.0.1:8081/site/{HOST}/?sig={sig}");
    let headers = [("referer", referer.as_str()), ("sec-fetch-dest", "style")];
    let seen = harness.visit(&route, "/ünï/a.css", &headers).await;
    let location = format!("/site/{HOST}/%C3%BCn%C3%AF/a.css?sig={sig}");
    assert_eq!((seen.status, seen.says("location")), (302, Some(location.as_str())));
}

#[tokio::test]
async fn health_probes_are_answered_and_not_treated_as_sites() {
    let harness = EdgeHarness::build().await;
    for (path, body) in [("/healthz", r#"{"status":"ok"}"#), ("/readyz", r#"{"status":"ready"}"#)] {
        let seen = harness.knock(Method::GET, path, &[("host", "127.0.0.1")]).await;
        assert_eq!((seen.status, seen.text()), (200, body));
        assert_eq!(
            (seen.says("x-content-type-options"), seen.says("cache-control")),
            (Some("nosniff"), Some("no-store"))
        );
    }
}

#[tokio::test]
async fn links_of_a_private_page_are_signed_for_the_requested_url_style() {
    let harness = EdgeHarness::build().await;
    let files = [
        ("index.html", "<a href=\"/\"><a href=\"/site/my-page-a1b2/\">"),
        ("a/b.html", "<a href='../../x'>"),
    ];
    let route = Route { visibility: Visibility::Private, ..harness.site(&files).await };
    let sig = harness.link_key.signature(&route.host, route.link_generation);
    let by_path = harness.visit(&route, &format!("/?sig={sig}"), &[]).await;
    assert_eq!(by_path.text(), format!("<a href=\"/\"><a href=\"/site/my-page-a1b2/?sig={sig}\">"));
    let name = [("host", "my-page-a1b2.localhost")];
    let by_name = harness.knock(Method::GET, &format!("/?sig={sig}"), &name).await;
    assert_eq!(
        by_name.text(),
        format!("<a href=\"/?sig={sig}\"><a href=\"/site/my-page-a1b2/?sig={sig}\">"),
        "on its own name every path is the site's"
    );
    let deep = harness.visit(&route, &format!("/a/b?sig={sig}"), &[]).await;
    assert_eq!(deep.text(), "<a href='../../x'>", "a link out of the site tells nobody the signature");
}
