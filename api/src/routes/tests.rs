//! The table agrees with the OpenAPI document and with the routes.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::*;
use crate::http::terms::BodyLimit;

fn document() -> Value {
    serde_json::from_str(&openapi_document("http://127.0.0.1:8080")).unwrap()
}

/// The operations of the document, as `method pattern` with every parameter as `:`.
fn operations(document: &Value) -> Vec<(String, &Value)> {
    let paths = document["paths"].as_object().unwrap().iter();
    let all = paths.flat_map(|(path, item)| {
        item.as_object().unwrap().iter().map(move |(method, described)| (shape(method, path), described))
    });
    all.collect()
}

fn shape(method: &str, path: &str) -> String {
    let is_parameter = |segment: &str| segment.starts_with([':', '{']);
    let segments = path.split('/').map(|segment| if is_parameter(segment) { ":" } else { segment });
    format!("{method} {}", segments.collect::<Vec<_>>().join("/"))
}

fn request(method: &str, path: &str) -> Request {
    let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
    Request::builder().method(method).uri(path.parse().unwrap()).finish()
}

#[test]
fn route_table_has_exactly_the_documented_rest_operations() {
    let document = document();
    let described: BTreeSet<String> = operations(&document).into_iter().map(|(name, _)| name).collect();
    let listed: Vec<String> = all().map(|line| shape(line.method, line.pattern)).collect();
    assert_eq!(listed.iter().collect::<BTreeSet<_>>().len(), listed.len(), "each stands there once");
    for name in &described {
        assert!(listed.contains(name), "{name} is not in the table");
    }
    for line in REST {
        assert!(described.contains(&shape(line.method, line.pattern)), "{} {}", line.method, line.pattern);
    }
}

#[test]
fn documented_credentials_match_the_route_table() {
    let document = document();
    for (name, described) in operations(&document) {
        let line = all().find(|line| shape(line.method, line.pattern) == name).unwrap();
        let expected = match line.terms.audience {
            Audience::Anyone => json!([]),
            Audience::Token => json!([{"token": []}]),
            Audience::Account => json!([{"token": []}, {"session": []}]),
            Audience::Person => json!([{"session": []}]),
            Audience::PersonOrBody => json!([{"session": []}, {}]),
            Audience::Operator => json!([{"operator": []}]),
            staff => panic!("{name} is in the document, and for {staff:?}"),
        };
        assert_eq!(described.get("security").cloned().unwrap_or_else(|| json!([])), expected, "{name}");
    }
}

#[test]
fn only_routes_with_multipart_bodies_have_the_large_body_limit() {
    let document = document();
    for (name, described) in operations(&document) {
        let line = all().find(|line| shape(line.method, line.pattern) == name).unwrap();
        let content = &described["requestBody"]["content"];
        let takes_files =
            ["multipart/form-data", "application/octet-stream"].iter().any(|kind| content[kind].is_object());
        let is_long = matches!(line.terms.body, BodyLimit::Form | BodyLimit::Publish | BodyLimit::Upload);
        assert_eq!(is_long, takes_files, "{name}");
    }
}

#[test]
fn every_route_is_found_by_its_path_and_each_pattern_has_one_audience() {
    for line in all() {
        let path = line.pattern.replace([':', '*'], "x-");
        assert_eq!(terms_of(&request(line.method, &path)), line.terms, "{} {path}", line.method);
    }
    for (pattern, lines) in by_pattern(ADMIN.iter()) {
        let audience = lines[0].terms.audience;
        assert!(lines.iter().all(|line| line.terms.audience == audience), "{pattern}");
    }
    let patterns: Vec<&str> = by_pattern(all()).into_iter().map(|(pattern, _)| pattern).collect();
    let pages = patterns.iter().filter(|pattern| is_page_path(pattern)).collect::<Vec<_>>();
    assert_eq!(
        pages.iter().collect::<BTreeSet<_>>().len(),
        pages.len(),
        "the lines of a page stand together"
    );
}

#[test]
fn route_terms_are_found_by_method_and_path() {
    let terms = |method, path| terms_of(&request(method, path));
    for path in ["/auth/login", "/auth/register", "/signin", "/claim/abc", "/you/password", "/admin/signin"] {
        assert_eq!(terms("post", path).permit, PermitClass::SignIn, "{path}");
        assert_eq!(terms("get", path).permit, PermitClass::Request, "{path}");
    }
    assert_eq!(terms("head", "/v1/status").permit, PermitClass::Free);
    assert_eq!(terms("post", "/mcp").area, Area::Mcp);
    for page in ["/", "/claim/abc", "/dashboard", "/dashboard/a/b/nothing", "/admin/x", "/you/password"] {
        assert_eq!(terms("get", page).area, Area::Page, "{page}");
    }
    for call in ["/v1/account", "/auth/me", "/claims", "/openapi.json"] {
        assert_eq!(terms("get", call).area, Area::Api, "{call}");
    }
}
