//! The forms of a response: encodings, dress, conditions, ranges, views.

use std::time::Duration;

use domain::{Route, Visibility};

use super::harness::{EdgeHarness, HOST, Method, NOW, route};
use crate::form::HELD_BYTES_MAX;

fn page() -> String {
    format!("<!doctype html><html><body>{}</body></html>", "<p>again and again</p>".repeat(200))
}

async fn provisional(harness: &EdgeHarness, files: &[(&str, &str)]) -> Route {
    Route { expires_at: Some(NOW.plus(Duration::from_secs(1800))), ..harness.site(files).await }
}

#[tokio::test]
async fn page_is_sent_in_the_accepted_encoding_with_matching_headers() {
    let harness = EdgeHarness::build().await;
    let route = harness.site(&[("index.html", &page())]).await;
    let mut etags = Vec::new();
    for (accept, encoding) in
        [("identity", None), ("br", Some("br")), ("gzip, zstd", Some("zstd")), ("gzip", Some("gzip"))]
    {
        let seen = harness.visit(&route, "/", &[("accept-encoding", accept)]).await;
        assert_eq!((seen.status, seen.says("content-encoding")), (200, encoding));
        assert_eq!(seen.plain(), page());
        assert_eq!(seen.says("content-length"), Some(seen.body.len().to_string().as_str()));
        assert_eq!(seen.says("content-type"), Some("text/html; charset=utf-8"));
        assert_eq!(seen.says("cache-control"), Some("public, max-age=60"));
        assert_eq!(seen.says("vary"), Some("Accept-Encoding"));
        assert_eq!(seen.says("x-content-type-options"), Some("nosniff"));
        assert_eq!(seen.says("last-modified"), Some("Fri, 15 Jan 2027 07:00:00 GMT"));
        assert!(seen.says("content-security-policy").unwrap().contains("https://fonts.example"));
        assert_eq!(seen.says("x-robots-tag"), None);
        etags.push(seen.says("etag").unwrap().to_owned());
    }
    etags.sort();
    etags.dedup();
    assert_eq!(etags.len(), 4);
}

#[tokio::test]
async fn provisional_page_has_the_badge_until_it_is_claimed() {
    let harness = EdgeHarness::build().await;
    let page = page();
    let before =
        provisional(&harness, &[("index.html", &page), ("a.css", "body{}"), ("small.html", "<p>x")]).await;
    let mut etags = Vec::new();
    for accept in ["identity", "br", "zstd", "gzip"] {
        let seen = harness.visit(&before, "/", &[("accept-encoding", accept)]).await;
        let plain = seen.plain();
        let (badge_at, body_ends_at) = (plain.find("is hosted on").unwrap(), plain.find("</body>").unwrap());
        assert!(badge_at < body_ends_at, "{accept}");
        assert_eq!(seen.says("content-encoding").unwrap_or("identity"), accept);
        etags.push(seen.says("etag").unwrap().to_owned());
    }
    assert_eq!(harness.visit(&before, "/a.css", &[]).await.text(), "body{}");
    assert!(harness.visit(&before, "/small", &[]).await.text().starts_with("<p>x<div"));

    let after = Route { expires_at: None, ..before };
    let seen = harness.visit(&after, "/", &[("if-none-match", etags.join(", ").as_str())]).await;
    assert_eq!((seen.status, seen.text()), (200, page.as_str()));
}

#[tokio::test]
async fn unchanged_content_gets_304() {
    let harness = EdgeHarness::build().await;
    for route in [
        harness.site(&[("index.html", &page())]).await,
        provisional(&harness, &[("index.html", &page())]).await,
    ] {
        let first = harness.visit(&route, "/", &[("accept-encoding", "gzip")]).await;
        let etag = first.says("etag").unwrap();
        let again = harness.visit(&route, "/", &[("accept-encoding", "gzip"), ("if-none-match", etag)]).await;
        assert_eq!((again.status, again.body.len()), (304, 0));
        for name in ["etag", "cache-control", "vary", "last-modified"] {
            assert_eq!(again.says(name), first.says(name), "{name}");
        }
        assert_eq!(again.says("content-length"), None);
        let other_form =
            harness.visit(&route, "/", &[("accept-encoding", "br"), ("if-none-match", etag)]).await;
        assert_eq!(other_form.status, 200, "another encoding is another representation");
        let since = [("if-modified-since", first.says("last-modified").unwrap())];
        assert_eq!(harness.visit(&route, "/", &since).await.status, 304);
        assert_eq!(harness.visit(&route, "/", &[("if-match", "\"x\"")]).await.status, 412);
    }
}

#[tokio::test]
async fn ranges_are_cut_from_the_selected_representation() {
    let harness = EdgeHarness::build().await;
    let large: String = (0..HELD_BYTES_MAX / 4).map(|number| format!("{:04x}", number % 65_536)).collect();
    let route = harness.site(&[("small.txt", "0123456789"), ("large.bin", &large)]).await;
    for (path, content) in [("/small.txt", "0123456789"), ("/large.bin", large.as_str())] {
        let size = content.len();
        let one = harness.visit(&route, path, &[("range", "bytes=2-5")]).await;
        assert_eq!((one.status, one.text()), (206, &content[2..6]));
        assert_eq!(one.says("content-range"), Some(format!("bytes 2-5/{size}").as_str()));
        assert_eq!((one.says("content-length"), one.says("accept-ranges")), (Some("4"), Some("bytes")));

        let two = harness.visit(&route, path, &[("range", "bytes=0-1,-2")]).await;
        assert_eq!(two.status, 206);
        let kind = two.says("content-type").unwrap();
        let boundary = kind.strip_prefix("multipart/byteranges; boundary=").unwrap();
        assert_eq!(two.says("content-length"), Some(two.body.len().to_string().as_str()));
        let parts: Vec<_> = two.text().split(&format!("\r\n--{boundary}")).collect();
        assert_eq!((parts.len(), parts[0], parts[3]), (4, "", "--\r\n"));
        assert!(parts[1].contains(&format!("\r\nContent-Range: bytes 0-1/{size}\r\n\r\n")), "{}", parts[1]);
        assert!(parts[1].ends_with(&content[..2]) && parts[2].ends_with(&content[size - 2..]));

        let beyond = harness.visit(&route, path, &[("range", format!("bytes={size}-").as_str())]).await;
        assert_eq!(beyond.status, 416);
        assert_eq!(beyond.says("content-range"), Some(format!("bytes */{size}").as_str()));
        let stale = harness.visit(&route, path, &[("range", "bytes=0-1"), ("if-range", "\"old\"")]).await;
        assert_eq!((stale.status, stale.body.len()), (200, size));
        let etag = stale.says("etag").unwrap();
        let fresh = harness.visit(&route, path, &[("range", "bytes=0-1"), ("if-range", etag)]).await;
        assert_eq!(fresh.status, 206);
    }
    let encoded_site = harness.site(&[("index.html", &page())]).await;
    let whole = harness.visit(&encoded_site, "/", &[("accept-encoding", "gzip")]).await;
    let part = harness.visit(&encoded_site, "/", &[("accept-encoding", "gzip"), ("range", "bytes=-8")]).await;
    assert_eq!(part.body, whole.body[whole.body.len() - 8..]);
    let parts = [("accept-encoding", "gzip"), ("range", "bytes=0-1,-2")];
    assert_eq!(harness.visit(&encoded_site, "/", &parts).await.body, whole.body);
}

#[tokio::test]
async fn large_page_is_rewritten_once_and_cached_when_it_compresses_well() {
    let harness = EdgeHarness::build().await;
    let filler = "<p>filler</p>".repeat(HELD_BYTES_MAX as usize / 12);
    let large = format!("<body><a href=b.html>{filler}</body>");
    let route = provisional(&harness, &[("index.html", &large)]).await;
    let route = Route { visibility: Visibility::Private, ..route };
    let sig = harness.link_key.signature(&route.host, route.link_generation);
    let path = format!("/?sig={sig}");
    for (held_count, encoding) in ["br", "zstd", "gzip"].into_iter().enumerate() {
        let accept = ("accept-encoding", encoding);
        let seen = harness.visit(&route, &path, &[accept]).await;
        assert_eq!((seen.status, seen.says("content-encoding")), (200, Some(encoding)));
        assert_eq!(seen.says("content-length"), Some(seen.body.len().to_string().as_str()));
        let plain = seen.plain();
        assert!(plain.starts_with(&format!("<body><a href=\"b.html?sig={sig}\">")), "{encoding}");
        assert!(plain.ends_with("</div></body>") && plain.len() > large.len(), "{encoding}");
        let again = harness.visit(&route, &path, &[accept]).await;
        assert_eq!(again.body.as_ptr(), seen.body.as_ptr(), "it is made once");
        assert_eq!(harness.edge.inner.contents.kept_count(), held_count + 1);
        let etag = seen.says("etag").unwrap();
        assert_eq!(harness.visit(&route, &path, &[accept, ("if-none-match", etag)]).await.status, 304);
    }
}

#[tokio::test]
async fn large_page_that_does_not_compress_is_sent_without_an_encoding() {
    let harness = EdgeHarness::build().await;
    let large = noisy_page();
    let route = provisional(&harness, &[("index.html", &large)]).await;
    let first = harness.visit(&route, "/", &[("accept-encoding", "br")]).await;
    assert_eq!(
        (first.status, first.says("content-length"), first.says("content-encoding")),
        (200, Some(first.body.len().to_string().as_str()), None)
    );
    assert!(first.text().starts_with(&large[..large.len() - 7]) && first.text().ends_with("</div></body>"));
    assert_eq!(harness.edge.inner.contents.kept_count(), 1, "it is remembered that it stays large");
    let plain = harness.visit(&route, "/", &[]).await;
    assert_eq!(plain.body, first.body);
    assert_eq!(plain.says("etag"), first.says("etag"), "it is the same form");
    let etag = first.says("etag").unwrap();
    for accept in ["br", "identity"] {
        let headers = [("accept-encoding", accept), ("if-none-match", etag)];
        assert_eq!(harness.visit(&route, "/", &headers).await.status, 304, "{accept}");
    }
}

/// Large, and still large when encoded.
fn noisy_page() -> String {
    let mut noise = domain::BlobHash::of(b"noise");
    let mut large = "<body>".to_owned();
    while (large.len() as u64) < 3 * HELD_BYTES_MAX {
        noise = domain::BlobHash::of(noise.to_string().as_bytes());
        large.push_str(&noise.to_string());
    }
    large.push_str("</body>");
    large
}

/// Large, and small when encoded.
fn large_page() -> String {
    format!("<body>{}</body>", "filler ".repeat(HELD_BYTES_MAX as usize / 6))
}

#[tokio::test]
async fn large_pages_beyond_the_compression_limit_are_all_served() {
    let harness = EdgeHarness::build().await;
    let route = provisional(&harness, &[("404.html", &large_page())]).await;
    let route = Route { visibility: Visibility::Private, ..route };
    let sig = harness.link_key.signature(&route.host, route.link_generation);
    harness.know(&route).await;
    let targets: Vec<_> =
        (0..12).map(|depth| format!("/site/{HOST}/{}?sig={sig}", "a/".repeat(depth))).collect();
    let visits = targets
        .iter()
        .map(|target| harness.knock(Method::GET, target, &[("host", "x"), ("accept-encoding", "zstd")]));
    for seen in futures::future::join_all(visits).await {
        assert_eq!(seen.status, 404);
        assert!(seen.plain().ends_with("</div></body>"));
    }
}

#[tokio::test]
async fn page_without_a_compression_permit_is_rewritten_while_streaming() {
    let harness = EdgeHarness::build().await;
    let files = [("index.html", large_page()), ("small.html", page())];
    let files = files.each_ref().map(|(path, text)| (*path, text.as_str()));
    let route = provisional(&harness, &files).await;
    let permits = harness.edge.inner.contents.take_all_presses().await;
    let accept = ("accept-encoding", "zstd");
    for path in ["/", "/small"] {
        let seen = harness.visit(&route, path, &[accept]).await;
        assert_eq!((seen.status, seen.says("content-encoding")), (200, None), "{path}");
        assert!(seen.text().contains("is hosted on"), "{path}");
        let etag = seen.says("etag").unwrap();
        let plain = harness.visit(&route, path, &[("if-none-match", etag)]).await;
        assert_eq!(plain.status, 304, "{path}: it is the form without an encoding");
    }
    assert_eq!(harness.edge.inner.contents.kept_count(), 0);
    drop(permits);
    for path in ["/", "/small"] {
        let seen = harness.visit(&route, path, &[accept]).await;
        assert_eq!((seen.status, seen.says("content-encoding")), (200, Some("zstd")), "{path}");
    }
}

#[tokio::test]
async fn compression_continues_after_the_client_disconnects() {
    let harness = EdgeHarness::build().await;
    let route = provisional(&harness, &[("index.html", &large_page())]).await;
    harness.know(&route).await;
    let target = format!("/site/{HOST}/");
    let visit = harness.knock(Method::GET, &target, &[("host", "x"), ("accept-encoding", "zstd")]);
    assert!(tokio::time::timeout(Duration::ZERO, visit).await.is_err());
    let contents = &harness.edge.inner.contents;
    let pressed = async {
        while contents.kept_count() == 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), pressed).await.unwrap();
    drop(contents.take_all_presses().await);
}

#[tokio::test]
async fn conditional_requests_are_evaluated_against_the_sent_representation() {
    for text in [noisy_page(), large_page()] {
        let sent = {
            let harness = EdgeHarness::build().await;
            let route = provisional(&harness, &[("index.html", &text)]).await;
            harness.visit(&route, "/", &[("accept-encoding", "zstd")]).await
        };
        for (name, status) in [("if-match", 200), ("if-none-match", 304)] {
            // An edge that has not seen the page yet.
            let harness = EdgeHarness::build().await;
            let route = provisional(&harness, &[("index.html", &text)]).await;
            let headers = [("accept-encoding", "zstd"), (name, sent.says("etag").unwrap())];
            for _ in 0..2 {
                let seen = harness.visit(&route, "/", &headers).await;
                assert_eq!((seen.status, seen.says("etag")), (status, sent.says("etag")), "{name}");
            }
        }
    }
}

#[tokio::test]
async fn late_base_element_also_affects_earlier_links() {
    let harness = EdgeHarness::build().await;
    let page = |base: &str| format!("<head><link href=a.css><base href='{base}'></head><a href='../b'>");
    let files = [("out.html", page("https://cdn.example/")), ("in.html", page("sub/"))];
    let files = files.each_ref().map(|(path, text)| (*path, text.as_str()));
    let route = Route { visibility: Visibility::Private, ..harness.site(&files).await };
    let sig = harness.link_key.signature(&route.host, route.link_generation);
    let out = harness.visit(&route, &format!("/out?sig={sig}"), &[]).await;
    assert_eq!(out.text(), files[0].1);
    let within = harness.visit(&route, &format!("/in?sig={sig}"), &[("accept-encoding", "gzip")]).await;
    let expected = files[1].1.replace("a.css", &format!("\"a.css?sig={sig}\""));
    assert_eq!(within.plain(), expected.replace("'../b'", &format!("\"../b?sig={sig}\"")));
}

#[tokio::test]
async fn xhtml_gets_the_badge_and_its_links_are_signed() {
    let harness = EdgeHarness::build().await;
    let page = "<html xmlns=\"http://www.w3.org/1999/xhtml\"><body><a href=\"b\"/></body></html>";
    let route = provisional(&harness, &[("index.xhtml", page), ("index.html", page)]).await;
    let route = Route { visibility: Visibility::Private, ..route };
    let sig = harness.link_key.signature(&route.host, route.link_generation);
    let xhtml = harness.visit(&route, &format!("/index.xhtml?sig={sig}"), &[]).await;
    assert_eq!(xhtml.says("content-type"), Some("application/xhtml+xml; charset=utf-8"));
    assert!(xhtml.text().contains(&format!("<a href=\"b?sig={sig}\"/><div xmlns")), "{}", xhtml.text());
    assert!(xhtml.text().ends_with("</div></body></html>"), "{}", xhtml.text());
    let html = harness.visit(&route, &format!("/?sig={sig}"), &[]).await;
    assert!(html.text().contains(&format!("<a href=\"b?sig={sig}\" />")), "{}", html.text());
}

#[tokio::test]
async fn absolute_links_to_the_site_itself_are_signed() {
    let harness = EdgeHarness::build().await;
    let within = ["http://127.0.0.1:8081/site/my-page-a1b2/a", "//my-page-a1b2.localhost:8081/a"];
    let out = ["http://127.0.0.1:8080/site/my-page-a1b2/a", "http://other-c3d4.localhost:8081/a"];
    let page = |sig: &str| {
        let within = within.map(|link| format!("<a href=\"{link}{sig}\">"));
        format!("{}{}", within.concat(), out.map(|link| format!("<a href=\"{link}\">")).concat())
    };
    let route = Route { visibility: Visibility::Private, ..harness.site(&[("index.html", &page(""))]).await };
    let sig = harness.link_key.signature(&route.host, route.link_generation);
    let seen = harness.visit(&route, &format!("/?sig={sig}"), &[]).await;
    assert_eq!(seen.text(), page(&format!("?sig={sig}")));
}

#[tokio::test]
async fn concurrent_requests_for_an_uncached_page_share_one_content() {
    let harness = EdgeHarness::build().await;
    let route = provisional(&harness, &[("index.html", &page())]).await;
    harness.know(&route).await;
    let target = format!("/site/{HOST}/");
    let visits =
        (0..50).map(|_| harness.knock(Method::GET, &target, &[("host", "x"), ("accept-encoding", "br")]));
    let seen = futures::future::join_all(visits).await;
    assert!(seen.iter().all(|one| one.status == 200 && one.body.as_ptr() == seen[0].body.as_ptr()));
    assert_eq!(harness.edge.inner.contents.kept_count(), 1);
}

#[tokio::test]
async fn only_served_documents_count_as_views() {
    let harness = EdgeHarness::build().await;
    let route = harness.site(&[("index.html", "<p>a"), ("404.html", "<p>b"), ("a.css", "c")]).await;
    let etag = harness.visit(&route, "/", &[]).await.says("etag").unwrap().to_owned();
    assert_eq!(harness.views(), 1);
    harness.visit(&route, "/", &[("if-none-match", &etag)]).await;
    assert_eq!(harness.views(), 1, "a 304 is a view");
    for (path, headers) in [
        ("/nowhere", vec![]),
        ("/a.css", vec![]),
        ("/", vec![("range", "bytes=0-0")]),
        ("/", vec![("if-match", "x")]),
    ] {
        harness.visit(&route, path, &headers).await;
        assert_eq!(harness.views(), 0, "{path} {headers:?}");
    }
    harness.knock(Method::HEAD, &format!("/site/{HOST}/"), &[("host", "x")]).await;
    assert_eq!(harness.views(), 0, "HEAD is no view");
}

#[tokio::test]
async fn the_sites_own_404_page_is_shown_whole_with_its_status() {
    let harness = EdgeHarness::build().await;
    let route = harness.site(&[("404.html", &page())]).await;
    let first = harness.visit(&route, "/nowhere", &[("accept-encoding", "br"), ("range", "bytes=0-1")]).await;
    assert_eq!((first.status, first.plain()), (404, page()));
    assert_eq!(first.says("cache-control"), Some("public, max-age=60"));
    assert_eq!(first.says("last-modified"), None);
    assert_eq!(first.says("etag"), None);
}

#[tokio::test]
async fn an_empty_file_and_one_of_no_known_kind_are_served() {
    let harness = EdgeHarness::build().await;
    let route = route(vec![harness.file("empty.txt", "").await, harness.file("LICENSE", "free").await]);
    let empty = harness.visit(&route, "/empty.txt", &[]).await;
    assert_eq!((empty.status, empty.says("content-length"), empty.body.len()), (200, Some("0"), 0));
    let license = harness.visit(&route, "/LICENSE", &[]).await;
    assert_eq!(license.says("content-type"), Some("application/octet-stream"));
    assert_eq!(license.says("content-security-policy"), None);
}
