//! What every path has in common, tested without a database: no request here reaches the service.

mod every_page;

use std::io;
use std::sync::{Arc, Mutex};

use domain::{Chance, Message, Slug};
use poem::endpoint::make_sync;
use poem::http::{Method, StatusCode};
use poem::test::{TestClient, TestResponse};
use poem::{Endpoint, Route};
use poem_openapi::param::{Path, Query};
use poem_openapi::payload::Json;
use poem_openapi::{OpenApi, OpenApiService};
use serde_json::{Value, json};
use service::FileSource;
use tracing_subscriber::fmt::MakeWriter;

use crate::detached::{BackgroundTasks, DetachedRequests};
use crate::documents::Facts;
use crate::http::client_ip::TrustedProxies;
use crate::http::json_body::JsonBody;
use crate::http::paths::Paths;
use crate::http::upload::{ArchiveField, NamedUpload, PublishBody};
use crate::routes::{assemble, is_page_path, methods};
use crate::{LoadTerms, wire};

/// The real routes inside the middleware.
fn api() -> TestClient<impl Endpoint> {
    let (routes, paths) = assemble(&Facts::sample());
    TestClient::new(DetachedRequests::new(
        routes,
        paths,
        Chance::seeded(1),
        TrustedProxies::default(),
        BackgroundTasks::default(),
        &LoadTerms::default(),
        Arc::default(),
    ))
}

/// A few routes that need no caller, inside the same middleware.
pub fn samples() -> DetachedRequests<impl Endpoint> {
    let service = OpenApiService::new(Samples, "samples", "1");
    let paths = Paths::listed_in(&service.spec());
    let routes = Route::new()
        .at("/panic", make_sync(|_| -> &'static str { panic!("on purpose") }))
        .at(
            "/broken",
            make_sync(|_| {
                Err::<String, _>(poem::Error::from_string("disk on fire", StatusCode::BAD_GATEWAY))
            }),
        )
        .nest("/", service);
    let (chance, proxies, load) = (Chance::seeded(1), TrustedProxies::default(), LoadTerms::default());
    DetachedRequests::new(routes, paths, chance, proxies, BackgroundTasks::default(), &load, Arc::default())
}

struct Samples;

#[OpenApi]
impl Samples {
    #[oai(path = "/things/:number", method = "post")]
    async fn thing(
        &self,
        number: Path<u32>,
        flag: Query<Option<bool>>,
        body: JsonBody<wire::Activate>,
    ) -> Json<String> {
        Json(format!("{} {:?} {}", *number, *flag, body.version))
    }

    #[oai(path = "/v1/publish", method = "post")]
    async fn upload(
        &self,
        slug: ArchiveField<Slug>,
        message: ArchiveField<Message>,
        body: PublishBody,
    ) -> crate::http::api_result::ApiResult<Json<Vec<String>>, Uploads> {
        let uploaded = body.read(NamedUpload { slug: slug.0, message: message.0 }).await?;
        let slug = uploaded.slug.map_or("-".to_owned(), |slug| slug.to_string());
        let message = uploaded.message.map(|message| format!("({message})"));
        let base = uploaded.site.base.as_ref().map(|base| format!("{:?} - {:?}", base.version, base.deleted));
        let files = uploaded.site.files.iter().map(|file| match &file.source {
            FileSource::Sent(bytes) => format!("{} {}", file.path, bytes.len()),
            FileSource::Stored(content) => format!("{} #{:.4}", file.path, content.hash.to_string()),
        });
        Ok(Json(std::iter::once(slug).chain(message).chain(base).chain(files).collect()))
    }
}

crate::http::api_result::refusals! {
    Uploads: InvalidRequest, TooLarge;
}

async fn body_of(response: TestResponse) -> Value {
    response.0.into_body().into_json().await.unwrap()
}

async fn refused(response: TestResponse, status: u16) -> Value {
    response.assert_status(StatusCode::from_u16(status).unwrap());
    response.assert_header("x-content-type-options", "nosniff");
    let body = body_of(response).await;
    for field in ["code", "message", "hint"] {
        assert!(body[field].as_str().is_some_and(|text| !text.is_empty()), "{field} of {body}");
    }
    body
}

#[tokio::test]
async fn unknown_path_gets_the_standard_not_found_error() {
    for path in ["/v1", "/v1/nothing", "/v1/artifacts/a/b/c"] {
        let body = refused(api().get(path).send().await, 404).await;
        assert_eq!(body["code"], "not_found", "{path}");
        assert!(body["message"].as_str().unwrap().contains("endpoint"));
    }
}

#[tokio::test]
async fn wrong_method_gets_405_with_the_allowed_methods() {
    for (path, allow) in [
        ("/v1/artifacts/my-page", "DELETE, GET, HEAD, PATCH"),
        ("/v1/artifacts/my-page/activate", "POST"),
        ("/v1/signup", "POST"),
        ("/v1/status", "GET, HEAD"),
        ("/openapi.json", "GET, HEAD"),
        ("/skill", "GET, HEAD"),
        ("/skill/reference.md", "GET, HEAD"),
        ("/skill/reference/contents.md", "GET, HEAD"),
        ("/openapi-3.1.json", "GET, HEAD"),
        ("/llms.txt", "GET, HEAD"),
        ("/mcp", "POST"),
        ("/claim/abc", "GET, HEAD, POST"),
    ] {
        let response = api().request(Method::PUT, path).send().await;
        response.assert_header("allow", allow);
        assert_eq!(refused(response, 405).await["code"], "method_not_allowed", "{path}");
    }
}

#[tokio::test]
async fn pages_answer_wrong_methods_with_an_allow_header() {
    // Without the operator's secret those pages return 404, and these tests have no service to check it.
    let api = api();
    let pages = methods().into_iter().filter(|(pattern, _)| is_page_path(pattern));
    for (pattern, methods) in pages.filter(|(pattern, _)| !pattern.starts_with("/admin")) {
        let mut methods: Vec<String> = methods.iter().map(|method| method.to_uppercase()).collect();
        methods.sort();
        let segments =
            pattern.split('/').map(|segment| if segment.starts_with(':') { "abc" } else { segment });
        let path = segments.collect::<Vec<_>>().join("/");
        let response = api.request(Method::DELETE, &path).send().await;
        let allow = response.0.header("allow").unwrap_or_default().replace("GET, HEAD", "GET");
        assert_eq!(allow, methods.join(", "), "{path}");
        assert_eq!(refused(response, 405).await["code"], "method_not_allowed", "{path}");
        for method in [Method::GET, Method::POST, Method::PUT, Method::PATCH] {
            let status = api.request(method.clone(), &path).send().await.0.status();
            let is_allowed = methods.iter().any(|own| own == method.as_str());
            assert_eq!(status == StatusCode::METHOD_NOT_ALLOWED, !is_allowed, "{method} {path}");
        }
    }
}

#[tokio::test]
async fn status_responds_to_get_and_head() {
    let response = api().get("/v1/status").send().await;
    response.assert_status_is_ok();
    response.assert_header("cache-control", "no-store");
    let alive = json!({"status": "ok", "version": env!("CARGO_PKG_VERSION"), "dev_mode": false});
    assert_eq!(body_of(response).await, alive);
    let response = api().head("/v1/status").send().await;
    response.assert_status_is_ok();
    response.assert_text("").await;
}

#[tokio::test]
async fn body_that_fails_parsing_or_validation_gets_invalid_body() {
    for bad in ["", "{", "[]", "{}", r#"{"version":0}"#, r#"{"version":"1"}"#, r#"{"version":-1}"#] {
        let response = TestClient::new(samples())
            .post("/things/1")
            .content_type("application/json")
            .body(bad)
            .send()
            .await;
        assert_eq!(refused(response, 400).await["code"], "invalid_body", "{bad}");
    }
}

#[tokio::test]
async fn malformed_parameter_error_uses_the_documented_name() {
    let samples = TestClient::new(samples());
    for (path, name) in [("/things/abc", "number: "), ("/things/1?flag=maybe", "flag: ")] {
        let response = samples.post(path).body_json(&json!({"version": 1})).send().await;
        let body = refused(response, 400).await;
        assert_eq!(body["code"], "invalid_request");
        assert!(body["message"].as_str().unwrap().starts_with(name), "{body}");
    }
    assert_eq!(refused(samples.get("/%d0").send().await, 400).await["code"], "invalid_request");
}

#[tokio::test]
async fn wrong_content_type_error_names_the_expected_one() {
    for (path, expected) in [("/things/1", "application/json"), ("/v1/publish", "multipart/form-data")] {
        for request in [
            TestClient::new(samples()).post(path).content_type("text/plain").body("x"),
            TestClient::new(samples()).post(path).body("x"),
        ] {
            let body = refused(request.send().await, 415).await;
            assert_eq!(body["code"], "unsupported_media_type");
            assert!(body["message"].as_str().unwrap().contains(expected), "{body}");
        }
    }
}

#[tokio::test]
async fn a_json_body_is_bounded() {
    let long = format!(r#"{{"version":1,"x":"{}"}}"#, "x".repeat(70_000));
    let response =
        TestClient::new(samples()).post("/things/1").content_type("application/json").body(long).send().await;
    assert_eq!(refused(response, 413).await["code"], "too_large");
}

#[tokio::test]
async fn panics_and_internal_errors_reveal_no_details() {
    for path in ["/panic", "/broken"] {
        let body = refused(TestClient::new(samples()).get(path).send().await, 500).await;
        assert_eq!(body["code"], "internal_error");
        assert!(!body.to_string().contains("purpose") && !body.to_string().contains("fire"), "{body}");
    }
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Log;

    fn make_writer(&'a self) -> Log {
        self.clone()
    }
}

#[tokio::test]
async fn each_request_logs_one_line_with_its_route_pattern_and_no_values() {
    let log = Log::default();
    // The subscriber is global, because what a thread-local one sees depends on which thread logged first.
    // Other tests may write to it too, so the lines are found by the ids of their requests.
    tracing_subscriber::fmt().with_ansi(false).with_writer(log.clone()).init();
    let (routes, paths) = assemble(&Facts::sample());
    let api = TestClient::new(DetachedRequests::new(
        routes,
        paths,
        Chance::from_system(),
        TrustedProxies::default(),
        BackgroundTasks::default(),
        &LoadTerms::default(),
        Arc::default(),
    ));
    let listed =
        api.put("/v1/artifacts/secret-slug?sig=s3cret").header("authorization", "Basic s3cret").send().await;
    let unlisted = api.get("/unlisted-s3cret").send().await;
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    let line_of = |response: &TestResponse| {
        let id = response.0.header("x-request-id").unwrap();
        let lines: Vec<_> = log.lines().filter(|line| line.contains(id)).collect();
        assert_eq!(lines.len(), 1, "{log}");
        lines[0]
    };
    for part in ["/v1/artifacts/{slug}", "http.method=PUT", "http.status=405", "duration_ms="] {
        assert!(line_of(&listed).contains(part), "{part} in {log}");
    }
    assert!(line_of(&unlisted).contains("http.status=404"), "{log}");
    assert!(!log.contains("s3cret") && !log.contains("secret-slug"), "{log}");
}
