//! Sites with redirects, rewrites and headers of their own.

use domain::{ModerationStatus, Route, Visibility};

use super::harness::{EdgeHarness, HOST, Method, NOW};

const REDIRECTS: &str = "/old /new?y=1\n/out/* https://a.example/:splat 302\n/any/* /:splat 307\n\
                         /lost/* /lost.html 404\n/real.txt /new 302\n/forced.txt /new 303!\n\
                         /none /nowhere 200\n/docs-page /docs 200\n/secret /_redirects 200\n/app/* /index.html 200";

async fn site(harness: &EdgeHarness, headers: &str) -> Route {
    let files = [
        ("index.html", "<h1>front</h1>"),
        ("new.html", "new"),
        ("lost.html", "lost"),
        ("404.html", "unknown"),
        ("real.txt", "real"),
        ("forced.txt", "forced"),
        ("docs/index.html", "docs"),
        ("app.3f2a9c1b.js", "1"),
        ("login.3f2a9c1b.html", "login"),
        ("_redirects", REDIRECTS),
        ("_headers", headers),
    ];
    harness.site(&files).await
}

#[tokio::test]
async fn rules_redirect_and_rewrite_in_path_and_host_style() {
    let harness = EdgeHarness::build().await;
    let route = site(&harness, "").await;
    for (path, status, expected) in [
        ("/old", 301, "{root}new?y=1"),
        ("/old?x=2&y=3", 301, "{root}new?y=1&x=2"),
        ("/out/a%20b?x&sig=1", 302, "https://a.example/a%20b?x"),
        ("/any//evil.example", 307, "{root}evil.example"),
        ("/any/%2e%2e/other-a1b2", 404, "unknown"),
        ("/lost/x", 404, "lost"),
        ("/real.txt", 200, "real"),
        ("/forced.txt", 303, "{root}new"),
        ("/none", 404, "unknown"),
        ("/docs-page", 200, "docs"),
        ("/docs", 301, "{root}docs/"),
        ("/app/x/y?z", 200, "<h1>front</h1>"),
        ("/new", 200, "new"),
        ("/unknown", 404, "unknown"),
        ("/secret", 404, "unknown"),
        ("/_redirects", 404, "unknown"),
        ("/%5fheaders", 404, "unknown"),
        ("/_redirects/", 404, "unknown"),
    ] {
        let by_path = harness.visit(&route, path, &[]).await;
        let by_name = harness.knock(Method::GET, path, &[("host", "my-page-a1b2.localhost:8081")]).await;
        for (seen, root) in [(by_path, format!("/site/{HOST}/")), (by_name, "/".to_owned())] {
            assert_eq!(seen.status, status, "{path}");
            let shown = seen.says("location").unwrap_or_else(|| seen.text());
            assert_eq!(shown, expected.replace("{root}", &root), "{path}");
            assert_eq!(seen.says("x-content-type-options"), Some("nosniff"));
        }
    }
    let seen = harness.visit(&route, "", &[]).await;
    assert_eq!(seen.says("location"), Some(format!("/site/{HOST}/").as_str()));
}

#[tokio::test]
async fn rewritten_pages_have_conditions_ranges_and_views_like_others() {
    let harness = EdgeHarness::build().await;
    let route = site(&harness, "/*\n  X-A: 1").await;
    let seen = harness.visit(&route, "/app/x", &[]).await;
    let etag = seen.says("etag").unwrap().to_owned();
    assert_eq!(harness.views(), 1);
    let held = harness.visit(&route, "/app/y", &[("if-none-match", &etag)]).await;
    assert_eq!((held.status, held.says("x-a"), harness.views()), (304, Some("1"), 1));
    let part = harness.visit(&route, "/app/z", &[("range", "bytes=4-8")]).await;
    assert_eq!((part.status, part.text(), part.says("x-a")), (206, "front", Some("1")));
    let target = format!("/site/{HOST}/app/x");
    let head = harness.knock(Method::HEAD, &target, &[("host", "127.0.0.1:8081")]).await;
    assert_eq!((head.status, head.text(), head.says("content-length")), (200, "", Some("14")));
    harness.views();
    harness.visit(&route, "/old", &[]).await;
    harness.visit(&route, "/lost/x", &[]).await;
    assert_eq!(harness.views(), 0, "neither a redirect nor a 404 is a view");
}

#[tokio::test]
async fn access_is_checked_before_rules_and_their_files_like_others() {
    let harness = EdgeHarness::build().await;
    let open = site(&harness, "/*\n  X-A: 1").await;
    let blocked = Route { moderation: ModerationStatus::Blocked, ..open.clone() };
    let private = Route { visibility: Visibility::Private, ..open.clone() };
    let expired = Route { expires_at: Some(NOW), ..open.clone() };
    for (route, status) in [(blocked, 451), (private, 403), (expired, 410)] {
        let seen = harness.visit(&route, "/old", &[]).await;
        assert_eq!((seen.status, seen.says("location"), seen.says("x-a")), (status, None, None));
    }
    let later = NOW.plus(std::time::Duration::from_secs(60));
    let late = Route {
        moderation: ModerationStatus::Pending,
        expires_at: Some(later),
        held_from: Some(NOW),
        ..open
    };
    for path in ["/app/x", "/lost/x", "/out/x"] {
        assert_eq!(harness.visit(&late, path, &[]).await.status, 503, "{path}");
    }
}

#[tokio::test]
async fn private_sites_keep_their_signature_and_their_protection() {
    let harness = EdgeHarness::build().await;
    let headers = "/*\n  Referrer-Policy: unsafe-url\n  X-Robots-Tag: all\n  Access-Control-Allow-Origin: *\n\
                   \u{20} Cache-Control: public, s-maxage=9, max-age=30\n/app/*\n  X-Frame-Options: DENY\n\
                   /docs-page\n  ! Referrer-Policy\n  Referrer-Policy: no-referrer";
    let route = Route { visibility: Visibility::Private, ..site(&harness, headers).await };
    let sig = format!("sig={}", harness.link_key.signature(&route.host, route.link_generation));
    let seen = harness.visit(&route, &format!("/old?{sig}"), &[]).await;
    assert_eq!(seen.says("location"), Some(format!("/site/{HOST}/new?y=1&{sig}").as_str()));
    assert_eq!(seen.says("cache-control"), Some("private, max-age=60"));
    let seen = harness.visit(&route, &format!("/out/x?a=1&{sig}"), &[]).await;
    assert_eq!(seen.says("location"), Some("https://a.example/x?a=1"));
    assert_eq!(seen.says("referrer-policy"), Some("same-origin"));
    let seen = harness.visit(&route, &format!("/app/x?{sig}"), &[]).await;
    assert_eq!(seen.status, 200);
    assert_eq!(seen.says("referrer-policy"), Some("same-origin"));
    assert_eq!(seen.says("cache-control"), Some("private, max-age=30"));
    assert_eq!(seen.says("access-control-allow-origin"), None);
    assert_eq!(seen.says("x-frame-options"), Some("DENY"));
    let robots: Vec<_> = seen.headers.get_all("x-robots-tag").iter().collect();
    assert_eq!(robots, ["noindex", "all"]);
    let seen = harness.visit(&route, &format!("/docs-page?{sig}"), &[]).await;
    assert_eq!(seen.says("referrer-policy"), Some("no-referrer"));
}

#[tokio::test]
async fn headers_of_a_site_only_tighten_and_caching_is_limited() {
    let harness = EdgeHarness::build().await;
    let headers = "/*\n  Content-Security-Policy: default-src 'none'\n  X-Content-Type-Options: none\n\
                   \u{20} Cache-Control: public, max-age=31536000, immutable\n  X-Robots-Tag: nofollow\n\
                   \u{20} Content-Disposition: attachment\n  Set-Cookie: a=b\n/old\n  X-B: 1";
    let route = site(&harness, headers).await;
    let seen = harness.visit(&route, "/", &[]).await;
    let policies: Vec<_> = seen
        .headers
        .get_all("content-security-policy")
        .iter()
        .map(|policy| policy.to_str().unwrap())
        .collect();
    assert!(
        policies[0].starts_with("default-src 'self'") && policies[1] == "default-src 'none'",
        "{policies:?}"
    );
    for (name, expected) in [
        ("x-content-type-options", Some("nosniff")),
        ("cache-control", Some("public, max-age=60")),
        ("x-robots-tag", Some("nofollow")),
        ("content-disposition", Some("attachment")),
        ("set-cookie", None),
    ] {
        assert_eq!(seen.says(name), expected, "{name}");
    }
    let long = "public, max-age=31536000, immutable";
    for (path, status, expected) in [
        ("/app.3f2a9c1b.js", 200, long),
        ("/login.3f2a9c1b.html", 200, "public, max-age=60"),
        ("/login.3f2a9c1b", 200, "public, max-age=60"),
        ("/app/old.3f2a9c1b.js", 200, "public, max-age=60"),
        ("/none.3f2a9c1b.js", 404, "public, max-age=60"),
        ("/old", 301, "public, max-age=60"),
        ("/docs", 301, "public, max-age=60"),
    ] {
        let seen = harness.visit(&route, path, &[]).await;
        assert_eq!((seen.status, seen.says("cache-control")), (status, Some(expected)), "{path}");
    }
    assert_eq!(harness.visit(&route, "/old", &[]).await.says("x-b"), Some("1"));
    let unlisted = Route { visibility: Visibility::Unlisted, ..route };
    let seen = harness.visit(&unlisted, "/", &[]).await;
    assert_eq!(seen.headers.get_all("x-robots-tag").iter().collect::<Vec<_>>(), ["noindex", "nofollow"]);
}

#[tokio::test]
async fn a_site_whose_rules_cannot_be_read_is_unavailable() {
    let harness = EdgeHarness::build().await;
    let mut files = site(&harness, "/*\n  X-A: 1").await.manifest.files().to_vec();
    let lost = files.iter_mut().find(|file| file.path.as_str() == "_headers").unwrap();
    lost.hash = domain::BlobHash::of(b"no such content");
    let route = super::harness::route(files);
    assert_eq!(harness.visit(&route, "/", &[]).await.status, 503);
}

#[tokio::test]
async fn only_the_beginning_of_a_large_file_with_rules_is_read() {
    let harness = EdgeHarness::build().await;
    let large = format!("/a /b\n{}/c /d\n", "# comment\n".repeat(200_000));
    let route = harness.site(&[("index.html", "front"), ("_redirects", &large)]).await;
    assert_eq!(harness.visit(&route, "/a", &[]).await.status, 301);
    assert_eq!(harness.visit(&route, "/c", &[]).await.status, 404);
}
