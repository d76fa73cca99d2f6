//! The documents as the API serves them.

use poem::Endpoint;
use poem::http::StatusCode;
use poem::test::TestClient;
use serde_json::Value;

use super::BASE_URL;
use crate::documents::Facts;
use crate::routes::{assemble, openapi_document};

fn served() -> TestClient<impl Endpoint> {
    TestClient::new(assemble(&Facts::sample()).0)
}

#[tokio::test]
async fn documents_are_served_and_load_no_external_resources() {
    let response = served().get("/openapi.json").send().await;
    response.assert_header("content-type", "application/json; charset=utf-8");
    let openapi: Value = response.0.into_body().into_json().await.unwrap();
    assert_eq!(openapi["openapi"], "3.0.0");
    for (path, says) in [("/docs", "<title>Handbill API</title>"), ("/docs/errors", "slug_taken")] {
        let response = served().get(path).send().await;
        response.assert_status(StatusCode::OK);
        response.assert_header("content-type", "text/html; charset=utf-8");
        let page = response.0.into_body().into_string().await.unwrap();
        assert!(page.contains(says), "{path}");
        for foreign in
            ["<script src=\"http", "<link rel=\"stylesheet\" href=\"http", "@import", "<img src=\"http"]
        {
            assert!(!page.contains(foreign), "{foreign} in {path}");
        }
    }
}

#[tokio::test]
async fn docs_page_shows_the_whole_openapi_document_and_links_to_the_errors() {
    let docs = served().get("/docs").send().await.0.into_body().into_string().await.unwrap();
    assert!(docs.contains("href=\"/docs/errors\"") && docs.contains(&openapi_document(BASE_URL)));
}

#[tokio::test]
async fn agent_documents_are_served_as_text_for_get_and_head_only() {
    for (path, kind, says) in [
        ("/skill", "text/markdown; charset=utf-8", "---\nname: handbill\n"),
        ("/skill/reference.md", "text/markdown; charset=utf-8", "# Handbill API reference\n"),
        ("/llms.txt", "text/plain; charset=utf-8", "# Handbill\n\n> "),
    ] {
        let response = served().get(path).send().await;
        response.assert_status_is_ok();
        response.assert_header("content-type", kind);
        let text = response.0.into_body().into_string().await.unwrap();
        assert!(text.starts_with(says) && text.ends_with('\n'), "{path}: {text}");
        let head = served().head(path).send().await;
        head.assert_status_is_ok();
        head.assert_text("").await;
    }
}
