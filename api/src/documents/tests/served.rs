//! The documents as the API serves them.

use domain::Tariff;
use domain::link::{Addresses, UrlStyle};
use poem::Endpoint;
use poem::http::StatusCode;
use poem::test::TestClient;
use serde_json::Value;

use crate::documents::Facts;
use crate::documents::discovery::LINKS;
use crate::routes::assemble;

fn served() -> TestClient<impl Endpoint> {
    TestClient::new(assemble(&Facts::sample()).0)
}

#[tokio::test]
async fn documents_are_served_and_load_no_external_resources() {
    let response = served().get("/openapi.json").send().await;
    response.assert_header("content-type", "application/json; charset=utf-8");
    let openapi: Value = response.0.into_body().into_json().await.unwrap();
    assert_eq!(openapi["openapi"], "3.0.0");
    for (path, says) in [("/docs", "<title>Documentation · Handbill</title>"), ("/docs/errors", "slug_taken")]
    {
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
async fn pages_of_the_documentation_may_be_cached_and_run_only_our_script() {
    for path in ["/docs", "/docs/quickstart", "/docs/reference", "/docs/reference/artifacts", "/docs/errors"]
    {
        let response = served().get(path).send().await;
        response.assert_status_is_ok();
        response.assert_header("cache-control", "public, max-age=300");
        let policy = response.0.header("content-security-policy").unwrap();
        assert!(
            policy.starts_with("default-src 'none'; ") && policy.ends_with("connect-src 'self'"),
            "{policy}"
        );
    }
    for path in ["/docs/nothing", "/docs/reference/nothing"] {
        served().get(path).send().await.assert_status(StatusCode::NOT_FOUND);
    }
}

#[tokio::test]
async fn the_search_answers_without_scripts_and_gives_its_index_to_them() {
    let found = served().get("/docs/search").query("q", &"claim link").send().await;
    found.assert_header("cache-control", "no-store");
    let page = found.0.into_body().into_string().await.unwrap();
    assert!(page.contains("href=\"/docs/reference/account#create_claim_link\""), "{page}");
    for (query, says) in [("<script>", "&#60;script&#62;"), ("", "Type what you are looking for")] {
        let page = served().get("/docs/search").query("q", &query).send().await;
        page.assert_status_is_ok();
        let page = page.0.into_body().into_string().await.unwrap();
        assert!(page.contains(says) && !page.contains("<script>"), "{page}");
    }
    let index = served().get("/docs/search.json").send().await;
    index.assert_header("cache-control", "public, max-age=300");
    let index: Value = index.0.into_body().into_json().await.unwrap();
    assert!(index.as_array().unwrap().len() > 100, "{index}");
}

#[tokio::test]
async fn the_skill_is_a_page_for_browsers_and_markdown_for_everybody_else() {
    let skill = async |accept: &str| {
        let response = served().get("/skill").header("accept", accept).send().await;
        response.assert_status_is_ok();
        response.assert_header("vary", "Accept");
        let kind = response.0.header("content-type").unwrap().to_owned();
        (kind, response.0.into_body().into_string().await.unwrap())
    };
    let (kind, page) = skill("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8").await;
    assert_eq!(kind, "text/html; charset=utf-8");
    assert!(page.contains("<h1>Skill for agents</h1>") && !page.contains("name: handbill"), "{page}");
    for accept in ["*/*", "text/markdown, text/html, */*", "text/plain"] {
        let (kind, text) = skill(accept).await;
        assert_eq!(kind, "text/markdown; charset=utf-8", "{accept}");
        assert!(text.starts_with("---\nname: handbill\n"), "{accept}");
    }
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

#[tokio::test]
async fn examples_and_documents_for_programs_have_the_addresses_of_the_server() {
    let addresses = Addresses {
        base_url: "https://api.example".into(),
        serve_url: "https://pages.example".into(),
        edge_domain: "pages.example".into(),
        url_style: UrlStyle::Host,
    };
    let client = TestClient::new(assemble(&Facts::of(&addresses, &Tariff::default())).0);
    let get = async |path: &str| {
        let response = client.get(path).send().await;
        response.assert_status_is_ok();
        response.0
    };
    for path in ["/openapi.json", "/openapi-3.1.json", "/skill/reference.md", "/docs/reference/artifacts"] {
        let document = get(path).await.into_body().into_string().await.unwrap();
        for foreign in ["127.0.0.1:8081", "127.0.0.1:8080/"] {
            assert!(!document.contains(foreign), "{foreign} in {path}");
        }
        assert!(document.contains("https://my-page-a1b2.pages.example/"), "{path}");
        assert!(document.contains("https://my-page-a1b2-0z9y8x7w.pages.example/"), "{path}");
    }
    for (path, content_type, names) in [
        ("/server.json", "application/json; charset=utf-8", "https://api.example/mcp"),
        (
            "/.well-known/agent-skills/index.json",
            "application/json; charset=utf-8",
            "https://api.example/skill",
        ),
        ("/.well-known/api-catalog", LINKS, "https://api.example/openapi.json"),
    ] {
        let response = get(path).await;
        assert_eq!(response.content_type(), Some(content_type), "{path}");
        let document: Value = response.into_body().into_json().await.unwrap();
        assert!(document.to_string().contains(names), "{path}: {document}");
    }
}
