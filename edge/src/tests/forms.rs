//! What is shown: encodings, dress, conditions, ranges, views.

use std::time::Duration;

use domain::{Route, Visibility};

use super::house::{HOST, House, Method, NOW, route};
use crate::form::HELD_BYTES_MAX;

fn page() -> String {
    format!("<!doctype html><html><body>{}</body></html>", "<p>again and again</p>".repeat(200))
}

async fn provisional(house: &House, files: &[(&str, &str)]) -> Route {
    Route { expires_at: Some(NOW.plus(Duration::from_secs(1800))), ..house.site(files).await }
}

#[tokio::test]
async fn a_page_comes_in_the_encoding_asked_for_with_headers_to_match() {
    let house = House::build().await;
    let route = house.site(&[("index.html", &page())]).await;
    let mut etags = Vec::new();
    for (accept, encoding) in
        [("identity", None), ("br", Some("br")), ("gzip, zstd", Some("zstd")), ("gzip", Some("gzip"))]
    {
        let seen = house.visit(&route, "/", &[("accept-encoding", accept)]).await;
        assert_eq!((seen.status, seen.says("content-encoding")), (200, encoding));
        assert_eq!(seen.plain(), page());
        assert_eq!(seen.says("content-length"), Some(seen.body.len().to_string().as_str()));
        assert_eq!(seen.says("content-type"), Some("text/html; charset=utf-8"));
        assert_eq!(seen.says("cache-control"), Some("public, max-age=60"));
        assert_eq!(seen.says("vary"), Some("Accept-Encoding"));
        assert_eq!(seen.says("x-content-type-options"), Some("nosniff"));
        assert_eq!(seen.says("last-modified"), Some("Fri, 15 Jan 2027 08:00:00 GMT"));
        assert!(seen.says("content-security-policy").unwrap().contains("https://fonts.example"));
        assert_eq!(seen.says("x-robots-tag"), None);
        etags.push(seen.says("etag").unwrap().to_owned());
    }
    etags.sort();
    etags.dedup();
    assert_eq!(etags.len(), 4);
}

#[tokio::test]
async fn a_provisional_page_wears_the_badge_until_it_is_claimed() {
    let house = House::build().await;
    let page = page();
    let before =
        provisional(&house, &[("index.html", &page), ("a.css", "body{}"), ("small.html", "<p>x")]).await;
    let mut etags = Vec::new();
    for accept in ["identity", "br", "zstd", "gzip"] {
        let seen = house.visit(&before, "/", &[("accept-encoding", accept)]).await;
        let plain = seen.plain();
        let (badge_at, body_ends_at) = (plain.find("is hosted on").unwrap(), plain.find("</body>").unwrap());
        assert!(badge_at < body_ends_at, "{accept}");
        assert_eq!(seen.says("content-encoding").unwrap_or("identity"), accept);
        etags.push(seen.says("etag").unwrap().to_owned());
    }
    assert_eq!(house.visit(&before, "/a.css", &[]).await.text(), "body{}");
    assert!(house.visit(&before, "/small", &[]).await.text().starts_with("<p>x<div"));

    let after = Route { expires_at: None, ..before };
    let seen = house.visit(&after, "/", &[("if-none-match", etags.join(", ").as_str())]).await;
    assert_eq!((seen.status, seen.text()), (200, page.as_str()));
}

#[tokio::test]
async fn what_the_visitor_holds_is_not_sent_again() {
    let house = House::build().await;
    for route in
        [house.site(&[("index.html", &page())]).await, provisional(&house, &[("index.html", &page())]).await]
    {
        let first = house.visit(&route, "/", &[("accept-encoding", "gzip")]).await;
        let etag = first.says("etag").unwrap();
        let again = house.visit(&route, "/", &[("accept-encoding", "gzip"), ("if-none-match", etag)]).await;
        assert_eq!((again.status, again.body.len()), (304, 0));
        for name in ["etag", "cache-control", "vary", "last-modified"] {
            assert_eq!(again.says(name), first.says(name), "{name}");
        }
        assert_eq!(again.says("content-length"), None);
        let other_form =
            house.visit(&route, "/", &[("accept-encoding", "br"), ("if-none-match", etag)]).await;
        assert_eq!(other_form.status, 200, "another encoding is another representation");
        let since = [("if-modified-since", first.says("last-modified").unwrap())];
        assert_eq!(house.visit(&route, "/", &since).await.status, 304);
        assert_eq!(house.visit(&route, "/", &[("if-match", "\"x\"")]).await.status, 412);
    }
}

#[tokio::test]
async fn parts_are_parts_of_the_form_that_was_chosen() {
    let house = House::build().await;
    let large: String = (0..HELD_BYTES_MAX / 4).map(|number| format!("{:04x}", number % 65_536)).collect();
    let route = house.site(&[("small.txt", "0123456789"), ("large.bin", &large)]).await;
    for (path, content) in [("/small.txt", "0123456789"), ("/large.bin", large.as_str())] {
        let size = content.len();
        let one = house.visit(&route, path, &[("range", "bytes=2-5")]).await;
        assert_eq!((one.status, one.text()), (206, &content[2..6]));
        assert_eq!(one.says("content-range"), Some(format!("bytes 2-5/{size}").as_str()));
        assert_eq!((one.says("content-length"), one.says("accept-ranges")), (Some("4"), Some("bytes")));

        let two = house.visit(&route, path, &[("range", "bytes=0-1,-2")]).await;
        assert_eq!(two.status, 206);
        let kind = two.says("content-type").unwrap();
        let boundary = kind.strip_prefix("multipart/byteranges; boundary=").unwrap();
        assert_eq!(two.says("content-length"), Some(two.body.len().to_string().as_str()));
        let parts: Vec<_> = two.text().split(&format!("\r\n--{boundary}")).collect();
        assert_eq!((parts.len(), parts[0], parts[3]), (4, "", "--\r\n"));
        assert!(parts[1].contains(&format!("\r\nContent-Range: bytes 0-1/{size}\r\n\r\n")), "{}", parts[1]);
        assert!(parts[1].ends_with(&content[..2]) && parts[2].ends_with(&content[size - 2..]));

        let beyond = house.visit(&route, path, &[("range", format!("bytes={size}-").as_str())]).await;
        assert_eq!(beyond.status, 416);
        assert_eq!(beyond.says("content-range"), Some(format!("bytes */{size}").as_str()));
        let stale = house.visit(&route, path, &[("range", "bytes=0-1"), ("if-range", "\"old\"")]).await;
        assert_eq!((stale.status, stale.body.len()), (200, size));
        let etag = stale.says("etag").unwrap();
        let fresh = house.visit(&route, path, &[("range", "bytes=0-1"), ("if-range", etag)]).await;
        assert_eq!(fresh.status, 206);
    }
    let encoded_site = house.site(&[("index.html", &page())]).await;
    let whole = house.visit(&encoded_site, "/", &[("accept-encoding", "gzip")]).await;
    let part = house.visit(&encoded_site, "/", &[("accept-encoding", "gzip"), ("range", "bytes=-8")]).await;
    assert_eq!(part.body, whole.body[whole.body.len() - 8..]);
    let parts = [("accept-encoding", "gzip"), ("range", "bytes=0-1,-2")];
    assert_eq!(house.visit(&encoded_site, "/", &parts).await.body, whole.body);
}

#[tokio::test]
async fn a_large_page_is_dressed_on_its_way() {
    let house = House::build().await;
    let filler = "<p>filler</p>".repeat(HELD_BYTES_MAX as usize / 12);
    let large = format!("<body><a href=b.html>{filler}</body>");
    let route = provisional(&house, &[("index.html", &large)]).await;
    let route = Route { visibility: Visibility::Private, ..route };
    let sig = house.signing.signature(&route.host);
    let seen = house.visit(&route, &format!("/?sig={sig}"), &[("accept-encoding", "br")]).await;
    assert_eq!((seen.status, seen.says("content-length"), seen.says("content-encoding")), (200, None, None));
    let text = seen.text();
    assert!(
        text.starts_with(&format!("<body><a href=\"b.html?sig={sig}\">")) && text.ends_with("</div></body>")
    );
    assert_eq!(house.edge.inner.contents.held_count(), 0, "it is not kept");
    let etag = seen.says("etag").unwrap();
    assert_eq!(house.visit(&route, &format!("/?sig={sig}"), &[("if-none-match", etag)]).await.status, 304);
}

#[tokio::test]
async fn many_who_want_a_cold_page_share_one_content() {
    let house = House::build().await;
    let route = provisional(&house, &[("index.html", &page())]).await;
    house.know(&route).await;
    let target = format!("/site/{HOST}/");
    let visits =
        (0..50).map(|_| house.knock(Method::GET, &target, &[("host", "x"), ("accept-encoding", "br")]));
    let seen = futures::future::join_all(visits).await;
    assert!(seen.iter().all(|one| one.status == 200 && one.body.as_ptr() == seen[0].body.as_ptr()));
    assert_eq!(house.edge.inner.contents.held_count(), 1);
}

#[tokio::test]
async fn views_are_documents_that_were_got() {
    let house = House::build().await;
    let route = house.site(&[("index.html", "<p>a"), ("404.html", "<p>b"), ("a.css", "c")]).await;
    let etag = house.visit(&route, "/", &[]).await.says("etag").unwrap().to_owned();
    assert_eq!(house.views(), 1);
    house.visit(&route, "/", &[("if-none-match", &etag)]).await;
    assert_eq!(house.views(), 1, "a 304 is a view");
    for (path, headers) in [
        ("/nowhere", vec![]),
        ("/a.css", vec![]),
        ("/", vec![("range", "bytes=0-0")]),
        ("/", vec![("if-match", "x")]),
    ] {
        house.visit(&route, path, &headers).await;
        assert_eq!(house.views(), 0, "{path} {headers:?}");
    }
    house.knock(Method::HEAD, &format!("/site/{HOST}/"), &[("host", "x")]).await;
    assert_eq!(house.views(), 0, "HEAD is no view");
}

#[tokio::test]
async fn the_sites_own_404_page_is_shown_whole_with_its_status() {
    let house = House::build().await;
    let route = house.site(&[("404.html", &page())]).await;
    let first = house.visit(&route, "/nowhere", &[("accept-encoding", "br"), ("range", "bytes=0-1")]).await;
    assert_eq!((first.status, first.plain()), (404, page()));
    assert_eq!(first.says("cache-control"), Some("public, max-age=60"));
    assert_eq!(first.says("last-modified"), None);
    assert_eq!(first.says("etag"), None);
}

#[tokio::test]
async fn an_empty_file_and_one_of_no_known_kind_are_served() {
    let house = House::build().await;
    let route = route(vec![house.file("empty.txt", "").await, house.file("LICENSE", "free").await]);
    let empty = house.visit(&route, "/empty.txt", &[]).await;
    assert_eq!((empty.status, empty.says("content-length"), empty.body.len()), (200, Some("0"), 0));
    let license = house.visit(&route, "/LICENSE", &[]).await;
    assert_eq!(license.says("content-type"), Some("application/octet-stream"));
    assert_eq!(license.says("content-security-policy"), None);
}
