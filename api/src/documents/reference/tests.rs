//! The generated reference.

use std::collections::HashSet;

use askama::Template;
use serde_json::json;

use super::*;
use crate::routes::openapi_document;

fn reference() -> String {
    Reference::of(&openapi_document("http://127.0.0.1:8080")).render().unwrap()
}

fn document() -> Value {
    serde_json::from_str(&openapi_document("http://127.0.0.1:8080")).unwrap()
}

/// The part of the reference under a heading of the third level.
fn part<'a>(reference: &'a str, heading: &str) -> &'a str {
    let start = reference.find(&format!("\n### {heading}\n")).unwrap_or_else(|| panic!("no {heading}"));
    let rest = &reference[start + 5..];
    &rest[..rest.find("\n##").unwrap_or(rest.len())]
}

#[test]
fn every_endpoint_is_documented_with_parameters_and_responses() {
    let (reference, document) = (reference(), document());
    for (path, item) in document["paths"].as_object().unwrap() {
        let for_agents = item.as_object().unwrap().iter().filter(|(_, it)| it["tags"][0] != OPERATOR);
        for (method, described) in for_agents {
            let name = format!("{} {path}", method.to_uppercase());
            let part = part(&reference, &name);
            for parameter in described["parameters"].as_array().into_iter().flatten() {
                let listed = format!(
                    "- `{}` ({}",
                    parameter["name"].as_str().unwrap(),
                    parameter["in"].as_str().unwrap()
                );
                assert!(part.contains(&listed), "{listed} of {name}:\n{part}");
            }
            for status in described["responses"].as_object().unwrap().keys() {
                let is_documented = part.contains(&format!("**{status}**"))
                    || part.lines().any(|line| line.starts_with("Refusals: ") && line.contains(status));
                assert!(is_documented, "{status} of {name}:\n{part}");
            }
            assert!(part.contains("\ncurl "), "no call of {name}:\n{part}");
        }
    }
}

#[test]
fn reference_has_no_routes_of_the_operator() {
    let reference = Reference::of(&crate::routes::openapi_document("https://handbill.example"));
    let names: Vec<_> = reference.sections.iter().map(|section| section.name.as_str()).collect();
    assert!(names.len() > 5 && !names.contains(&"Operator"), "{names:?}");
    let operations = reference.sections.iter().flat_map(|section| &section.operations);
    for operation in operations {
        assert!(!operation.name.contains(" /internal/"), "{}", operation.name);
    }
    assert!(reference.errors.iter().all(|error| !error.hint.contains("/internal/")));
    let shapes: Vec<_> = reference.shapes.iter().map(|shape| shape.name.as_str()).collect();
    assert!(shapes.contains(&"PublishResult") && !shapes.contains(&"QueueShown"), "{shapes:?}");
    assert!(!reference.credentials.iter().any(|(name, _)| name == "operator"));
}

#[test]
fn internal_links_point_to_unique_headings() {
    let reference = reference();
    let headings: Vec<_> = reference
        .lines()
        .filter_map(|line| line.strip_prefix("## ").or_else(|| line.strip_prefix("### ")))
        .map(anchor)
        .collect();
    let different: HashSet<_> = headings.iter().collect();
    assert_eq!(different.len(), headings.len(), "a heading occurs twice");
    for link in reference.split("](#").skip(1) {
        let target = link.split(')').next().unwrap().to_owned();
        assert!(different.contains(&target), "no heading for #{target}");
    }
}

#[test]
fn fields_are_documented_with_types_and_limits() {
    let reference = reference();
    let invites = part(&reference, "POST /v1/account/invites");
    assert!(invites.contains("- `max_uses` (optional, integer, 1 to 100): How many"), "{invites}");
    assert!(invites.contains("- `role` (optional, `member` or `admin`): "), "{invites}");
    let publish = part(&reference, "POST /v1/publish");
    assert!(publish.contains("- `files` (optional, list of file, 1 to 50 items): "), "{publish}");
    assert!(publish.contains("- `slug` (optional, string, `^[a-z0-9-]{3,40}$`): "), "{publish}");
    assert!(publish.contains("**201** [PublishResult](#shape-publishresult): "), "{publish}");
    assert!(publish.contains(" · 402 `payment_required` · "), "{publish}");
    assert!(publish.contains(" · 409 `idempotency_conflict` `content_missing` · "), "{publish}");
    let log_in = part(&reference, "POST /auth/login");
    assert!(log_in.contains(" · 401 `invalid_credentials` · "), "{log_in}");
    let standing = part(&reference, "Shape AccountStanding");
    assert!(standing.contains("- `expires_at` (timestamp or null): "), "{standing}");
    assert!(standing.contains("- `free_publishes_left` (integer)\n"), "{standing}");
}

#[test]
fn every_error_code_is_documented_with_its_hint() {
    let reference = reference();
    let of_operators = |entry: &errors::Entry| entry.hint.contains("/internal/");
    for entry in errors::entries().into_iter().filter(|entry| !of_operators(entry)) {
        let listed = format!("- **{}** `{}`: {}", entry.status, entry.code, entry.meaning);
        assert!(reference.contains(&listed) && reference.contains(&entry.hint), "{listed}");
    }
}

#[test]
fn a_tag_without_endpoints_makes_no_section() {
    let document = json!({ "tags": [{ "name": "Empty" }], "paths": {} });
    assert!(sections(&document, TokenSource::File).is_empty());
}

/// `HANDBILL_TEST_UPDATE=1 cargo test -p api` rewrites the file.
#[test]
fn committed_endpoint_reference_matches_the_served_one() {
    crate::documents::tests::assert_committed("skills/handbill/reference.md", &reference());
}
