//! Multipart uploads: limits, malformed bodies and forms.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use poem::Server;
use poem::listener::{Acceptor, Listener, TcpListener};
use poem::test::TestClient;
use serde_json::{Value, json};

use super::*;
use crate::http::upload_budget::BodyBudget;
use crate::tests::samples;

const BOUNDARY: &str = "XX";

/// A part: its name, its filename if it has one, and its content.
type Part<'a> = (&'a str, Option<&'a str>, &'a [u8]);

fn form(parts: &[Part<'_>]) -> Vec<u8> {
    let mut body = Vec::new();
    for (name, filename, content) in parts {
        let filename = filename.map_or(String::new(), |filename| format!("; filename=\"{filename}\""));
        body.extend(
            format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"{filename}\r\n\r\n")
                .bytes(),
        );
        body.extend(*content);
        body.extend(b"\r\n");
    }
    body.extend(format!("--{BOUNDARY}--\r\n").bytes());
    body
}

async fn send_raw(body: impl Into<Body>) -> (u16, Value) {
    let kind = format!("multipart/form-data; boundary={BOUNDARY}");
    let response = TestClient::new(samples()).post("/v1/publish").content_type(kind).body(body).send().await;
    let status = response.0.status().as_u16();
    (status, response.0.into_body().into_json().await.unwrap())
}

async fn send(parts: &[Part<'_>]) -> (u16, Value) {
    send_raw(form(parts)).await
}

/// The message of a 400 `invalid_request`.
async fn fault(parts: &[Part<'_>]) -> String {
    let (status, body) = send(parts).await;
    assert_eq!((status, &body["code"]), (400, &json!("invalid_request")), "{body}");
    body["message"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_message_is_one_short_line() {
    let long = "\u{10348}".repeat(1000);
    for (bad, expected) in [
        (b"two\nlines".as_slice(), "message: must be 1 to 200 characters, none of them a control character"),
        (&[b'x'; 201], "message: must be 1 to 200 characters, none of them a control character"),
        (long.as_bytes(), "message: must be 1 to 200 characters, none of them a control character"),
        (b"\xff", "message: is not in UTF-8"),
    ] {
        assert_eq!(fault(&[("message", None, bad), ("html", None, b"<p>")]).await, expected);
    }
    let twice = [("message", None, b"a".as_slice()), ("message", None, b"b"), ("html", None, b"<p>")];
    assert_eq!(fault(&twice).await, "message: occurs twice");
    assert_eq!(send(&[("message", None, b""), ("html", None, b"<p>")]).await.0, 200);
}

#[tokio::test]
async fn a_page_is_stored_as_index_html() {
    let sent = send(&[("slug", None, b"my-page"), ("html", None, b"<h1>Hello</h1>")]).await;
    assert_eq!(sent, (200, json!(["my-page", "index.html 14"])));
    let sent = send(&[("html", Some("page.html"), b"<p>")]).await;
    assert_eq!(sent, (200, json!(["-", "index.html 3"])), "a file sent as html is a page too");
    assert_eq!(fault(&[("html", None, b"")]).await, "html: is empty");
}

/// The whole body may arrive right after the parser has found that nothing is there yet.
#[tokio::test]
async fn form_that_arrives_whole_between_two_polls_is_not_truncated() {
    let mut polls = 0;
    let whole = Bytes::from(form(&[("html", None, b"<p>")]));
    let late = stream::poll_fn(move |context| {
        polls += 1;
        match polls {
            1 => {
                context.waker().wake_by_ref();
                Poll::Pending
            }
            2 => Poll::Ready(Some(std::io::Result::Ok(whole.clone()))),
            _ => Poll::Ready(None),
        }
    });
    let (status, body) = send_raw(Body::from_bytes_stream(late)).await;
    assert_eq!(status, 200, "{body}");
}

#[tokio::test]
async fn part_file_names_become_site_paths() {
    let parts: [Part<'_>; 3] =
        [("files", Some("index.html"), b"hi"), ("files", Some("css/app.css"), b"x"), ("slug", None, b"a-b")];
    assert_eq!(send(&parts).await, (200, json!(["a-b", "index.html 2", "css/app.css 1"])));
    assert_eq!(send(&[("files", Some("empty.txt"), b"")]).await, (200, json!(["-", "empty.txt 0"])));
}

#[tokio::test]
async fn invalid_form_error_names_the_field() {
    let page: Part<'_> = ("html", None, b"x");
    let file: Part<'_> = ("files", Some("a"), b"x");
    assert!(fault(&[]).await.starts_with("html: is missing, and so is files"));
    assert!(fault(&[("slug", None, b"abc")]).await.starts_with("html: is missing"));
    assert!(fault(&[page, file]).await.starts_with("html: cannot be sent together"));
    assert!(fault(&[file, page]).await.starts_with("html: cannot be sent together"));
    assert!(fault(&[page, page]).await.starts_with("html: occurs twice"));
    assert!(
        fault(&[("slug", None, b"abc"), ("slug", None, b"abd"), page])
            .await
            .starts_with("slug: occurs twice")
    );
    assert!(fault(&[page, ("file", Some("a"), b"x")]).await.starts_with("file: is not a field"));
    assert!(fault(&[("files", None, b"x")]).await.starts_with("files: a part has no filename"));
    assert!(fault(&[("files", Some(""), b"x")]).await.starts_with("files: a part has no filename"));
}

#[tokio::test]
async fn files_may_be_named_and_a_site_may_have_a_base() {
    let hash = format!("abcd{}", "0".repeat(60));
    let manifest = format!(r#"{{"b.css":"{hash}","\u0061.css":"{hash}"}}"#);
    let manifest: Part<'_> = ("manifest", None, manifest.as_bytes());
    let page: Part<'_> = ("files", Some("aa.html"), b"<p>");
    let sorted = json!(["-", "a.css #abcd", "aa.html 3", "b.css #abcd"]);
    assert_eq!(send(&[manifest, page]).await, (200, sorted.clone()));
    assert_eq!(send(&[page, manifest]).await, (200, sorted));
    let based: [Part<'_>; 3] = [("base", None, b"3"), ("delete", None, b"x"), ("delete", None, b"y/z")];
    assert_eq!(send(&based).await, (200, json!(["-", "Numbered(3) - [\"x\", \"y/z\"]"])));
    let html: [Part<'_>; 2] = [("base", None, b"live"), ("html", None, b"<p>")];
    assert_eq!(send(&html).await, (200, json!(["-", "Live - []", "index.html 3"])));
    let long = vec![b' '; 300_000];
    assert!(fault(&[("manifest", None, &long)]).await.starts_with("manifest: is longer than"));
    assert!(fault(&[("base", None, &long)]).await.starts_with("base: is longer than"));
    assert!(fault(&[("manifest", None, b"\xff")]).await.starts_with("manifest: is not in UTF-8"));
    let deleted = [("delete", None, &b"x"[..]); 60];
    assert!(fault(&[&based[..1], &deleted[..]].concat()).await.starts_with("delete: has more than 50"));
}

#[tokio::test]
async fn invalid_utf_8_is_reported_and_not_treated_as_missing() {
    assert_eq!(
        fault(&[("html", None, b"caf\xe9")]).await,
        "html: is not in UTF-8; send such a page as files"
    );
    for (disposition, expected) in [
        (&b"name=\"files\"; filename=\"caf\xe9.html\""[..], "files: a part's filename is not in UTF-8"),
        (b"name=\"\xff\"", "body: has a part whose name is not in UTF-8"),
        (b"filename=\"a.html\"", "body: has a part without a name"),
        (b"name=\"files\"; filename=\"a\x01.html\"", "files: a part's header cannot be read"),
    ] {
        let head = [b"--XX\r\nContent-Disposition: form-data; ", disposition].concat();
        let (status, body) = send_raw([&head, &b"\r\n\r\nx\r\n--XX--\r\n"[..]].concat()).await;
        assert_eq!((status, &body["code"]), (400, &json!("invalid_request")));
        assert!(body["message"].as_str().unwrap().starts_with(expected), "{body}");
    }
}

#[tokio::test]
async fn malformed_slug_error_shows_the_pattern() {
    for bad in [&b""[..], b"ab", b"Big", b"a b c", &[b'a'; 41], &[b'a'; 100_000], &[0xff, 0xfe, 0xfd]] {
        let fault = fault(&[("slug", None, bad), ("html", None, b"x")]).await;
        assert_eq!(fault, "slug: must match ^[a-z0-9-]{3,40}$");
    }
}

#[tokio::test]
async fn a_malformed_path_is_named_with_its_fault() {
    for (path, expected) in [
        ("../x", r#"files: the file path "../x" contains an empty, . or .. part"#),
        (
            "/etc/passwd",
            r#"files: the file path "/etc/passwd" begins with a slash; paths are relative to the site"#,
        ),
        ("a//b", r#"files: the file path "a//b" contains an empty, . or .. part"#),
    ] {
        assert_eq!(fault(&[("files", Some(path), b"x")]).await, expected);
    }
    assert!(fault(&[("files", Some("a\\b"), b"x")]).await.contains("backslash"));
    let twice = fault(&[("files", Some("a"), b"x"), ("files", Some("a"), b"y")]).await;
    assert_eq!(twice, r#"files: the file path "a" occurs twice"#);
    let clash = fault(&[("files", Some("a"), b"x"), ("files", Some("a/b"), b"y")]).await;
    assert_eq!(clash, r#"files: "a" is both a file and a folder"#);
}

#[tokio::test]
async fn invalid_multipart_body_error_names_body_or_field() {
    let mut cut = form(&[("html", None, b"hello")]);
    cut.truncate(cut.len() - 10);
    for (bad, field) in [
        (b"nonsense".to_vec(), "body: "),
        (Vec::new(), "body: "),
        (b"--XX\r\nno headers".to_vec(), "body: "),
        (cut, "html: "),
    ] {
        let (status, body) = send_raw(bad).await;
        assert_eq!((status, &body["code"]), (400, &json!("invalid_request")));
        assert!(body["message"].as_str().unwrap().starts_with(field), "{body}");
    }
}

#[tokio::test]
async fn upload_limit_is_ten_megabytes_and_fifty_files() {
    let most = vec![b'x'; FileSet::BYTES_MAX as usize];
    assert_eq!(send(&[("html", None, &most)]).await.0, 200);
    let half = &most[..most.len() / 2];
    assert_eq!(send(&[("files", Some("a"), half), ("files", Some("b"), half)]).await.0, 200);
    let (status, body) = send(&[("files", Some("a"), &most), ("files", Some("b"), b"x")]).await;
    assert_eq!((status, &body["code"]), (413, &json!("too_large")));

    let names: Vec<_> = (0..51).map(|number| format!("{number}.txt")).collect();
    let files: Vec<Part<'_>> = names.iter().map(|name| ("files", Some(name.as_str()), &b"x"[..])).collect();
    assert_eq!(send(&files[..50]).await.0, 200);
    assert_eq!(send(&files).await.0, 413);
}

#[tokio::test]
async fn multipart_preamble_counts_towards_the_body_limit() {
    let mut preamble = vec![b'-'; body::UPLOAD_BYTES_MAX as usize + 1];
    preamble.extend(form(&[("html", None, b"x")]));
    let (status, body) = send_raw(preamble).await;
    assert_eq!((status, &body["code"]), (413, &json!("too_large")));
}

/// Sends a whole body of 20 MB before it reads the response, as simple clients do.
fn send_everything_then_listen(port: u16, framing: &str) -> String {
    let mut connection = TcpStream::connect(("127.0.0.1", port)).unwrap();
    connection.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let head = format!(
        "POST /v1/publish HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=XX\r\n{framing}\r\n\r\n"
    );
    connection.write_all(head.as_bytes()).unwrap();
    let chunk = [b'x'; 65_536];
    for _ in 0..320 {
        if framing.starts_with("Transfer") {
            connection.write_all(b"10000\r\n").unwrap();
        }
        connection.write_all(&chunk).unwrap();
        if framing.starts_with("Transfer") {
            connection.write_all(b"\r\n").unwrap();
        }
    }
    let mut response = [0; 4096];
    let length = connection.read(&mut response).unwrap();
    String::from_utf8_lossy(&response[..length]).into_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn client_that_sends_everything_before_reading_still_gets_the_413() {
    let acceptor = TcpListener::bind("127.0.0.1:0").into_acceptor().await.unwrap();
    let port = acceptor.local_addr()[0].as_socket_addr().unwrap().port();
    let server = tokio::spawn(Server::new_with_acceptor(acceptor).run(samples()));
    for framing in ["Content-Length: 20971520", "Transfer-Encoding: chunked"] {
        let response =
            tokio::task::spawn_blocking(move || send_everything_then_listen(port, framing)).await.unwrap();
        assert!(response.starts_with("HTTP/1.1 413"), "{framing}: {response}");
    }
    server.abort();
}

#[tokio::test(start_paused = true)]
async fn multipart_preamble_counts_towards_the_body_budget() {
    const PREAMBLE_BYTES: usize = 100 * 1024;
    let memory = BodyBudget::new(PREAMBLE_BYTES);
    let preamble = Body::from_bytes(vec![b'-'; PREAMBLE_BYTES].into());
    let kind = format!("multipart/form-data; boundary={BOUNDARY}");
    let request = Request::builder().content_type(&kind).extension(memory).body(preamble);
    let (request, mut body) = request.split();
    let upload = <Upload as ParsePayload>::from_request(&request, &mut body).await.unwrap();
    assert_eq!(
        upload.read().await.err().unwrap().code(),
        "overloaded",
        "one address can have half of the budget"
    );
}
