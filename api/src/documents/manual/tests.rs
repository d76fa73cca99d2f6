//! The pages of the documentation, complete, with working links, and small.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde_json::Value;

use super::*;
use crate::routes::openapi_document;

const BASE_URL: &str = "http://127.0.0.1:8080";
/// How large a page may be when it is compressed.
const COMPRESSED_BYTES_MAX: usize = 100 * 1024;
/// Pages outside of the documentation to which it links.
const OTHER_PATHS: [&str; 5] =
    ["/dashboard", "/llms.txt", "/openapi.json", "/openapi-3.1.json", "/docs/search"];

fn manual() -> Manual {
    Manual::of(&Facts::sample(), &openapi_document(BASE_URL))
}

fn pages(manual: &Manual) -> BTreeMap<&str, String> {
    let text = |page: &Bytes| String::from_utf8(page.to_vec()).unwrap();
    manual.pages.iter().map(|(path, page)| (path.as_str(), text(page))).collect()
}

/// The values of an attribute.
fn values<'a>(page: &'a str, attribute: &str) -> Vec<&'a str> {
    let start = format!(" {attribute}=\"");
    page.split(&start).skip(1).map(|rest| rest.split('"').next().unwrap()).collect()
}

/// What the documentation adds to the frame of all pages.
fn content(page: &str) -> &str {
    page.split("<div class=\"docs\">").nth(1).unwrap().split("</main>").next().unwrap()
}

/// The article of a page, without what all pages have.
fn article(page: &str) -> &str {
    page.split("<article>").nth(1).unwrap().split("</article>").next().unwrap()
}

/// Pages in each of their states, for the tests of all pages.
pub fn samples() -> Vec<(String, String)> {
    let manual = manual();
    let search = |query| {
        let frame = Frame { navigation: &manual.navigation, path: "/docs/search", query };
        SearchPage { frame, found: search::find(&manual.entries, query) }.render().unwrap()
    };
    let mut samples = vec![
        ("docs-search".to_owned(), search("invite")),
        ("docs-search-empty".to_owned(), search("")),
        ("docs-search-none".to_owned(), search("no <such> thing")),
    ];
    let shown = [
        ("/docs", "docs"),
        ("/docs/quickstart", "docs-quickstart"),
        ("/docs/payments", "docs-payments"),
        ("/docs/reference", "docs-reference"),
        ("/docs/reference/tokens", "docs-reference-tokens"),
        ("/docs/errors", "docs-errors"),
        ("/skill", "docs-skill"),
    ];
    let pages = pages(&manual);
    samples.extend(shown.map(|(path, name)| (name.to_owned(), pages[path].clone())));
    samples
}

#[test]
fn every_operation_has_one_section_with_its_command_and_errors() {
    let (manual, document) = (manual(), openapi_document(BASE_URL));
    let document: Value = serde_json::from_str(&document).unwrap();
    let pages = pages(&manual);
    let reference: Vec<_> = pages.iter().filter(|(path, _)| path.starts_with("/docs/reference/")).collect();
    assert!(reference.len() > 7, "{}", reference.len());
    let mut operations = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, described) in item.as_object().unwrap() {
            operations += 1;
            let (id, name) = (
                described["operationId"].as_str().unwrap(),
                format!("<b>{}</b> {path}<", method.to_uppercase()),
            );
            let start = format!("<section class=\"operation\" id=\"{id}\">");
            let sections: Vec<_> = reference.iter().filter(|(_, page)| page.contains(&start)).collect();
            let [(page_path, page)] = sections[..] else { panic!("{id} is on {} pages", sections.len()) };
            assert_eq!(page.matches(&start).count(), 1, "{id}");
            let is_for_operators = described["tags"][0] == "Operator";
            assert_eq!(**page_path == "/docs/reference/operator", is_for_operators, "{id} on {page_path}");
            let section = page.split(&start).nth(1).unwrap().split("</section>").next().unwrap();
            assert!(section.contains(&name) && section.contains("<code>curl "), "{id}: {section}");
            for parameter in described["parameters"].as_array().into_iter().flatten() {
                let listed = format!("<dt><code>{}</code>", parameter["name"].as_str().unwrap());
                assert!(section.contains(&listed), "{listed} of {id}");
            }
            for status in described["responses"].as_object().unwrap().keys() {
                assert!(section.contains(&format!("<strong>{status}</strong>")), "{status} of {id}");
            }
        }
    }
    assert!(operations > 60, "{operations}");
}

#[test]
fn every_link_leads_to_a_page_and_an_anchor_that_exist() {
    let manual = manual();
    let pages = pages(&manual);
    let ids: BTreeMap<_, HashSet<_>> =
        pages.iter().map(|(path, page)| (*path, values(page, "id").into_iter().collect())).collect();
    for (from, page) in &pages {
        for link in values(content(page), "href") {
            let link = link.strip_prefix(BASE_URL).unwrap_or(link);
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let path = path.split('?').next().unwrap();
            let target = if path.is_empty() { *from } else { path };
            match ids.get(target) {
                Some(ids) => assert!(anchor.is_empty() || ids.contains(anchor), "{link} on {from}"),
                None => assert!(
                    OTHER_PATHS.contains(&target) || target.starts_with("/skill/reference/"),
                    "{link} on {from}"
                ),
            }
        }
    }
    for entry in &manual.entries {
        let (path, anchor) = entry.path.split_once('#').unwrap_or((&entry.path, ""));
        assert!(anchor.is_empty() || ids[path].contains(anchor), "{}", entry.path);
    }
}

#[test]
fn ids_are_unique_and_every_error_code_has_one() {
    let manual = manual();
    for (path, page) in pages(&manual) {
        let ids = values(&page, "id");
        let unique: BTreeSet<_> = ids.iter().collect();
        assert_eq!(unique.len(), ids.len(), "{path}");
        if path == errors_page::PATH {
            for entry in errors::entries() {
                assert!(ids.contains(&entry.code), "{}", entry.code);
                assert!(page.contains(&format!("<strong>{}</strong>", entry.status)), "{}", entry.code);
            }
            assert!(page.contains("&#60;token&#62;"), "{page}");
        }
    }
}

#[test]
fn pages_are_small_when_compressed() {
    let manual = manual();
    for (path, page) in pages(&manual) {
        let compressed = service::encode(domain::Encoding::Brotli, page.as_bytes()).unwrap();
        assert!(compressed.len() < COMPRESSED_BYTES_MAX, "{path}: {} bytes", compressed.len());
        assert!(page.len() > 2_000, "{path} is empty: {page}");
    }
    let index = service::encode(domain::Encoding::Brotli, &manual.index).unwrap();
    assert!(index.len() < COMPRESSED_BYTES_MAX / 4, "{} bytes", index.len());
}

#[test]
fn reference_begins_with_signing_up_publishing_and_claiming() {
    let manual = manual();
    let pages = pages(&manual);
    let overview = article(&pages["/docs/reference"]);
    let at = |text: &str| overview.find(text).unwrap_or_else(|| panic!("no {text}"));
    let start = [
        at("/docs/reference/account#sign_up"),
        at("/docs/reference/artifacts#publish"),
        at("/docs/reference/account#create_claim_link"),
        at("group-account"),
        at("group-operator"),
    ];
    assert!(start.is_sorted(), "{start:?}");
    assert!(!overview.contains("/internal/"), "the operator's routes are on their own page");
    let account = article(&pages["/docs/reference/account"]);
    let sections: Vec<_> = account.split("<section class=\"operation\" id=\"").skip(1).collect();
    assert!(sections[0].starts_with("sign_up\""), "{}", sections[0]);
}

#[test]
fn endpoints_guides_and_error_codes_are_found() {
    let manual = manual();
    let first = |query| search::find(&manual.entries, query).first().map(|entry| entry.path.as_str());
    assert_eq!(first("mint a token"), Some("/docs/reference/tokens#mint_token"));
    assert_eq!(first("slug_taken"), Some("/docs/errors#slug_taken"));
    assert_eq!(first("private sharing"), Some("/docs/private-sharing"));
    assert_eq!(first("appeal moderation"), Some("/docs/reference/artifacts#appeal_moderation"));
    assert_eq!(first("xyzzy"), None);
}
