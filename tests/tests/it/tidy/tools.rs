//! The rules of cargo-deny and clippy are enabled, and their exceptions have a reason.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::edges::manifests_in;
use super::workspace;

/// The frameworks that only their wrapper crates may use.
const WRAPPED: [&str; 12] = [
    "apalis",
    "apalis-core",
    "apalis-postgres",
    "apalis-sqlite",
    "object_store",
    "poem",
    "poem-openapi",
    "ractor",
    "redis",
    "rmcp",
    "sea-orm",
    "sea-orm-migration",
];

/// The functions that only one place may call.
const HOMED: [&str; 4] =
    ["std::time::SystemTime::now", "jiff::Timestamp::now", "rand::rng", "reqwest::Client::new"];

fn read(path: &Path) -> toml::Table {
    fs::read_to_string(path).unwrap().parse().unwrap()
}

#[test]
fn every_exception_from_an_advisory_has_a_date_and_a_reason() {
    let deny = read(&workspace().join("deny.toml"));
    for exception in deny["advisories"]["ignore"].as_array().unwrap() {
        let reason = exception["reason"].as_str().unwrap();
        let (date, reason) = reason.split_once(": ").expect("a date and a colon");
        let is_date = date.len() == 10 && date.split('-').all(|part| part.parse::<u16>().is_ok());
        assert!(is_date && !reason.is_empty(), "{exception}");
    }
}

#[test]
fn frameworks_are_used_only_by_their_designated_crates() {
    let deny = read(&workspace().join("deny.toml"));
    assert_eq!(misplaced(&deny, &manifests_in(workspace())), Vec::<String>::new());
}

#[test]
fn framework_without_a_usage_restriction_is_found() {
    let all: Vec<_> = WRAPPED[1..]
        .iter()
        .map(|name| format!("{{ crate = \"{name}\", wrappers = [\"store\", \"third-party\"] }}"))
        .collect();
    let deny = format!("bans.deny = [{}]", all.join(",")).parse().unwrap();
    let uses = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    let manifests =
        BTreeMap::from([("store".to_owned(), uses(&WRAPPED[..11])), ("api".to_owned(), uses(&["poem"]))]);
    assert_eq!(
        misplaced(&deny, &manifests),
        ["apalis has no wrappers", "api is no wrapper of poem", "store does not need sea-orm-migration"]
    );
}

/// Frameworks without wrappers in deny.toml, crates of ours that use one without being a wrapper, and
/// wrappers that do not use it. A wrapper from outside of the workspace belongs to a library.
fn misplaced(deny: &toml::Table, manifests: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    let mut wrong = Vec::new();
    for framework in WRAPPED {
        let entries = deny["bans"]["deny"].as_array().unwrap();
        let entry = entries.iter().find(|entry| entry["crate"].as_str() == Some(framework));
        let Some(wrappers) = entry.and_then(|entry| entry.get("wrappers")?.as_array()) else {
            wrong.push(format!("{framework} has no wrappers"));
            continue;
        };
        for (package, needs) in manifests {
            let may = wrappers.iter().any(|wrapper| wrapper.as_str() == Some(package.as_str()));
            match (may, needs.contains(framework)) {
                (false, true) => wrong.push(format!("{package} is no wrapper of {framework}")),
                (true, false) => wrong.push(format!("{package} does not need {framework}")),
                _ => {}
            }
        }
    }
    wrong
}

#[test]
fn clippy_checks_lengths_and_disallowed_items() {
    let (clippy, manifest) = (read(&workspace().join("clippy.toml")), read(&workspace().join("Cargo.toml")));
    assert_eq!(unchecked(&clippy, &manifest), Vec::<&str>::new());
}

#[test]
fn missing_clippy_rule_is_found() {
    let clippy =
        "too-many-lines-threshold = 100\ndisallowed-methods = [{ path = \"rand::rng\" }]".parse().unwrap();
    let manifest = "workspace.lints.clippy.too_many_lines = \"allow\"".parse().unwrap();
    assert_eq!(
        unchecked(&clippy, &manifest),
        [
            "too-many-lines-threshold",
            "too_many_lines",
            "std::time::SystemTime::now",
            "jiff::Timestamp::now",
            "reqwest::Client::new",
        ]
    );
}

fn unchecked(clippy: &toml::Table, manifest: &toml::Table) -> Vec<&'static str> {
    let mut missing = Vec::new();
    if clippy.get("too-many-lines-threshold").and_then(toml::Value::as_integer) != Some(60) {
        missing.push("too-many-lines-threshold");
    }
    if manifest["workspace"]["lints"]["clippy"].get("too_many_lines").and_then(toml::Value::as_str)
        != Some("warn")
    {
        missing.push("too_many_lines");
    }
    let disallowed = clippy["disallowed-methods"].as_array().unwrap();
    let is_missing = |path: &&str| {
        !disallowed.iter().any(|method| method.get("path").and_then(toml::Value::as_str) == Some(path))
    };
    missing.extend(HOMED.iter().filter(|path| is_missing(path)));
    missing
}
