//! Publishes in JSON, and what the forms of a body have in common.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use domain::FileSet;
use poem::Request;
use poem::http::Method;
use poem::test::TestClient;
use serde_json::{Value, json};

use super::*;
use crate::http::body;
use crate::http::permits::{PermitLimits, RequestPermits};
use crate::http::terms::PermitClass;
use crate::http::upload_budget::BodyBudget;
use crate::tests::samples;

const MOST: usize = FileSet::BYTES_MAX as usize;

async fn send_raw(body: impl Into<Vec<u8>>) -> (u16, Value) {
    let client = TestClient::new(samples());
    let response = client.post("/v1/publish").content_type("application/json").body(body.into()).send().await;
    let status = response.0.status().as_u16();
    (status, response.0.into_body().into_json().await.unwrap())
}

async fn send(body: Value) -> (u16, Value) {
    send_raw(body.to_string()).await
}

#[tokio::test]
async fn a_page_or_a_site_is_published_in_json() {
    let page = json!({ "slug": "my-page", "message": "Fix", "html": "<h1>\u{fc}</h1>" });
    assert_eq!(send(page).await, (200, json!(["my-page", "(Fix)", "index.html 11"])));
    let site = json!({ "slug": null, "message": "", "files": [
        { "path": "index.html", "content": "a \"quoted\" line\n" },
        { "path": "logo.png", "content": "AP\n8=\r\n", "encoding": "base64" },
        { "content": "", "path": "css/\u{fc}.css", "encoding": "utf8" },
    ]});
    let expected = json!(["-", "index.html 16", "logo.png 2", "css/\u{fc}.css 0"]);
    assert_eq!(send(site).await, (200, expected));
}

#[tokio::test]
async fn files_may_be_named_and_a_site_may_have_a_base_in_json() {
    let hash = format!("abcd{}", "0".repeat(60));
    let files = json!([
        { "path": "b.css", "sha256": hash, "size_bytes": 7, "content": null, "encoding": null },
        { "path": "a.css", "content": "x", "sha256": null, "size_bytes": 1 },
    ]);
    assert_eq!(send(json!({ "files": files })).await, (200, json!(["-", "b.css #abcd", "a.css 1"])));
    for (body, expected) in [
        (json!({ "base": "live" }), json!(["-", "Live - []"])),
        (json!({ "base": 3, "files": [] }), json!(["-", "Numbered(3) - []"])),
        (json!({ "base": 3.0, "delete": ["x"] }), json!(["-", "Numbered(3) - [\"x\"]"])),
        (json!({ "base": null, "delete": null, "html": "x" }), json!(["-", "index.html 1"])),
    ] {
        assert_eq!(send(body.clone()).await, (200, expected), "{body}");
    }
    let deleted = vec!["x"; 100_000];
    let (status, refused) = send(json!({ "base": "live", "delete": deleted })).await;
    assert!(status == 400 && refused["message"].as_str().unwrap().starts_with("delete: "), "{refused}");
}

#[tokio::test]
async fn a_field_that_breaks_a_rule_is_named() {
    let file = json!({ "path": "a", "content": "x" });
    for (body, code, message) in [
        (json!({}), "invalid_request", "html: is missing, and so is files"),
        (json!({ "html": "" }), "invalid_request", "html: is empty"),
        (json!({ "files": [] }), "invalid_request", "files: is empty"),
        (
            json!({ "html": "x", "files": null }),
            "invalid_body",
            "invalid request body: files: invalid type: null",
        ),
        (
            json!({ "html": null, "files": [file] }),
            "invalid_body",
            "invalid request body: html: invalid type: null",
        ),
        (json!({ "html": "x", "files": [file] }), "invalid_request", "html: cannot be sent together"),
        (json!({ "html": "x", "slug": "No Slug" }), "invalid_request", "slug: must match ^[a-z0-9-]{3,40}$"),
        (json!({ "html": "x", "message": "a\nb" }), "invalid_request", "message: must be 1 to 200"),
        (json!({ "files": [file, file] }), "invalid_request", "files: the file path \"a\" occurs twice"),
        (
            json!({ "files": [{ "path": "../x", "content": "" }] }),
            "invalid_request",
            "files: the file path \"../x\" contains an empty, . or .. part",
        ),
        (
            json!({ "files": [file, { "path": "b", "content": "<p>", "encoding": "base64" }] }),
            "invalid_request",
            "files[1].content: is not base64",
        ),
        (json!({ "html": 5 }), "invalid_body", "invalid request body: html: invalid type: integer `5`"),
        (json!({ "files": {} }), "invalid_body", "invalid request body: files: invalid type: map"),
        (
            json!({ "files": [{ "path": "a" }] }),
            "invalid_body",
            "invalid request body: files[0]: missing field",
        ),
        (
            json!({ "files": [{ "path": "a", "content": "", "encoding": "gzip" }] }),
            "invalid_body",
            "invalid request body: files[0].encoding: unknown variant `gzip`, expected one of",
        ),
        (
            json!({ "html": "x", "size": 1 }),
            "invalid_body",
            "invalid request body: size: unknown field `size`",
        ),
        (
            json!("<p>"),
            "invalid_body",
            "invalid request body: invalid type: string \"<p>\", expected an object",
        ),
    ] {
        let (status, refused) = send(body.clone()).await;
        assert_eq!((status, &refused["code"]), (400, &json!(code)), "{body}: {refused}");
        assert!(refused["message"].as_str().unwrap().starts_with(message), "{body}: {refused}");
    }
}

#[tokio::test]
async fn an_array_is_no_object() {
    for (body, message) in [
        (json!([null, null, null, "<p>"]), "invalid type: sequence, expected an object"),
        (json!({ "files": [["a", "<p>", "utf8"]] }), "files[0]: invalid type: sequence, expected an object"),
    ] {
        let (status, refused) = send(body).await;
        let message = format!("invalid request body: {message}");
        assert_eq!((status, &refused["code"]), (400, &json!("invalid_body")), "{refused}");
        assert!(refused["message"].as_str().unwrap().starts_with(&message), "{refused}");
    }
}

#[tokio::test]
async fn a_body_that_is_no_json_is_refused_by_its_position() {
    for (body, message) in [
        (&b""[..], "invalid request body: it is not valid JSON: it ends too early"),
        (b"{\"html\": \"cut", "invalid request body: it is not valid JSON: it ends too early"),
        (b"{\"html\": \"x\"} y", "invalid request body: it is not valid JSON: trailing characters"),
        (b"{\"html\": \"\xff\"}", "invalid request body: it is not valid JSON: html: invalid unicode"),
        (b"<h1>Hello</h1>", "invalid request body: it is not valid JSON: expected value"),
    ] {
        let (status, refused) = send_raw(body).await;
        assert_eq!((status, &refused["code"]), (400, &json!("invalid_body")), "{refused}");
        assert!(refused["message"].as_str().unwrap().starts_with(message), "{refused}");
    }
    let long = json!({ "files": "x".repeat(100_000) });
    assert!(send(long).await.1["message"].as_str().unwrap().len() < 400, "a fault quotes only a part");
}

#[tokio::test]
async fn ten_megabytes_fit_however_they_are_written_and_more_does_not() {
    let base64 = |bytes: usize| {
        let content = STANDARD.encode(vec![0xff; bytes]);
        json!({ "files": [{ "path": "a", "content": content, "encoding": "base64" }] })
    };
    assert_eq!(send(base64(MOST)).await, (200, json!(["-", format!("a {MOST}")])));
    let escaped = |count: usize| format!("{{\"html\": \"{}\"}}", "\\u0061".repeat(count));
    assert_eq!(send_raw(escaped(MOST)).await, (200, json!(["-", format!("index.html {MOST}")])));
    let two = |second: &str| {
        let first = json!({ "path": "a", "content": "x".repeat(MOST) });
        json!({ "files": [first, { "path": "b", "content": second }] })
    };
    assert_eq!(send(two("")).await.0, 200);
    for larger in [base64(MOST + 1), json!({ "html": "x".repeat(MOST + 1) }), two("x")] {
        let (status, refused) = send(larger).await;
        assert_eq!((status, &refused["code"]), (413, &json!("too_large")));
        assert!(refused["message"].as_str().unwrap().contains("10 MB"), "{refused}");
    }
    let spaces = vec![b' '; usize::try_from(body::PUBLISH_JSON_BYTES_MAX).unwrap() + 1];
    assert_eq!(send_raw(spaces).await.0, 413);
}

/// The body and its content are counted, and the permit is not held while the body is read.
#[tokio::test]
async fn a_body_takes_memory_and_no_permit() {
    let site = json!({ "html": "x".repeat(100_000) }).to_string().into_bytes();
    for (kind, budget, expected) in [
        ("application/json", 500_000, None),
        ("application/json", 300_000, Some("overloaded")),
        ("application/zip", 150_000, Some("overloaded")),
        ("application/zip", 300_000, Some("invalid_request")),
    ] {
        let permits = RequestPermits::new(PermitLimits { requests_max: 1, ..PermitLimits::default() });
        let permit = permits.take(PermitClass::Request).await.unwrap();
        let request = Request::builder().method(Method::POST).content_type(kind);
        let request = request.extension(BodyBudget::new(budget)).extension(permit.clone());
        let (request, mut body) = request.body(site.clone()).split();
        let read = PublishBody::of(&request, &mut body).unwrap().read(NamedUpload::default()).await;
        assert_eq!(read.err().map(|refusal| refusal.code()), expected, "{kind} {budget}");
        assert!(!permit.release(), "it was released");
    }
}

#[tokio::test]
async fn fifty_files_fit_and_a_longer_list_takes_no_memory() {
    let files = |count: usize| {
        let files: Vec<_> = (0..count).map(|n| json!({ "path": n.to_string(), "content": "" })).collect();
        json!({ "files": files })
    };
    assert_eq!(send(files(50)).await.0, 200);
    assert_eq!(send(files(51)).await.0, 413);
    assert_eq!(send(files(100_000)).await.0, 413);
}
