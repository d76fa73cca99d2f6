//! The crates depend on each other exactly as the table of docs/ARCHITECTURE.md says.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::{files_in, workspace, write};

type Edges = BTreeMap<String, BTreeSet<String>>;

#[test]
fn crates_depend_on_each_other_as_the_architecture_says() {
    let text = fs::read_to_string(workspace().join("docs/ARCHITECTURE.md")).unwrap();
    assert_eq!(
        differences(&edges_of_table(&text), &edges_of(&manifests_in(workspace()))),
        Vec::<String>::new()
    );
}

#[test]
fn undocumented_crate_dependency_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = |name: &str, text: &str| {
        let text = format!("[package]\nname = \"{name}\"\n[dependencies]\n{text}");
        write(folder.path(), &format!("{name}/Cargo.toml"), &text);
    };
    manifest(
        "api",
        "service.workspace = true\nstore.workspace = true\nserde = \"1\"\n[dev-dependencies]\nlate.path = \"../late\"",
    );
    manifest("service", "");
    manifest("store", "");
    manifest("late", "");
    let table = "| crate | depends on |\n| --- | --- |\n| `api` | `service` |\n| `service` | `store` |\n| `store` | — |\n\n| `no` | `table` |";
    assert_eq!(
        differences(&edges_of_table(table), &edges_of(&manifests_in(folder.path()))),
        [
            "api depends on store, which the table does not say",
            "late is not in the table",
            "service does not depend on store, as the table says",
        ]
    );
}

/// The dependencies of each package by their names in the manifest, without those of tests.
pub fn manifests_in(root: &Path) -> Edges {
    let manifests = files_in(root).into_iter().filter(|file| file.ends_with("Cargo.toml"));
    let tables = manifests.map(|file| fs::read_to_string(file).unwrap().parse::<toml::Table>().unwrap());
    let package = |table: toml::Table| {
        let name = table.get("package")?.get("name")?.as_str()?.to_owned();
        let needs = table.get("dependencies").and_then(toml::Value::as_table);
        Some((name, needs.into_iter().flat_map(toml::Table::keys).cloned().collect()))
    };
    tables.filter_map(package).collect()
}

/// The edges between crates of the workspace.
fn edges_of(manifests: &Edges) -> Edges {
    let ours = |needs: &BTreeSet<String>| {
        needs.iter().filter(|need| manifests.contains_key(*need)).cloned().collect()
    };
    manifests.iter().map(|(name, needs)| (name.clone(), ours(needs))).collect()
}

/// The rows of the first table that begins with `| crate | depends on |`: names in backticks.
fn edges_of_table(text: &str) -> Edges {
    let rows = text.lines().skip_while(|line| !line.starts_with("| crate | depends on |")).skip(2);
    let names = |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
    let row = |line: &str| {
        let (package, needs) = line.trim_matches('|').split_once('|')?;
        Some((names(package).pop()?, names(needs).into_iter().collect()))
    };
    rows.take_while(|line| line.starts_with('|')).filter_map(row).collect()
}

fn differences(said: &Edges, real: &Edges) -> Vec<String> {
    let mut wrong = Vec::new();
    for (package, needs) in real {
        let Some(said) = said.get(package) else {
            wrong.push(format!("{package} is not in the table"));
            continue;
        };
        let unsaid = needs.difference(said);
        wrong.extend(unsaid.map(|need| format!("{package} depends on {need}, which the table does not say")));
        let absent = said.difference(needs);
        wrong.extend(absent.map(|need| format!("{package} does not depend on {need}, as the table says")));
    }
    let gone = said.keys().filter(|package| !real.contains_key(*package));
    wrong.extend(gone.map(|package| format!("{package} is in the table and is no crate")));
    wrong
}
