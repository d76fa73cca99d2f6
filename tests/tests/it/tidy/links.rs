//! Links between documents, and paths of documents in code and settings, lead to existing files and headings.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::{assert_listed, files_in, has_extension, name_of, workspace, write};

/// Files whose comments and messages name documents.
const NAMING: [&str; 7] = ["rs", "py", "yaml", "toml", "env", "sql", "conf"];

#[test]
fn links_of_documents_lead_to_files_and_headings() {
    assert_listed("correct these links", &broken_links(workspace()), &[]);
}

#[test]
fn documents_named_in_code_exist() {
    assert_listed("correct these paths", &broken_mentions(workspace()), &[]);
}

#[test]
fn broken_links_and_mentions_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| write(folder.path(), path, text);
    let links =
        "[a](docs/B.md#how-to-run-it-now) [b](#top-1) [c](docs/B.md#code) [d](docs/C.md)\n[e](https://x.org)";
    write("A.md", &format!("# Top\n## Top\n{links}\n[f](#top-2)"));
    write("docs/B.md", "# How to: run `it`, now\n```sh\n# code\n[g](nowhere)\n```\n");
    write("src/lib.rs", "// See docs/B.md, and docs/Gone.md.");
    assert_eq!(
        broken_links(folder.path()).into_iter().collect::<Vec<_>>(),
        ["A.md: #top-2", "A.md: docs/B.md#code", "A.md: docs/C.md"]
    );
    assert_eq!(broken_mentions(folder.path()).into_iter().collect::<Vec<_>>(), ["src/lib.rs: docs/Gone.md"]);
}

fn broken_links(root: &Path) -> BTreeSet<String> {
    let documents = files_in(root).into_iter().filter(|file| has_extension(file, "md"));
    // Templates, and what is generated from them: their links are routes of a server.
    let is_served = |name: &str| name.starts_with("docs/skills/") || name.starts_with("api/templates/");
    let documents = documents.filter(|file| !is_served(&name_of(root, file)));
    documents.flat_map(|file| broken_links_of(root, &file)).collect()
}

fn broken_links_of(root: &Path, file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap();
    let prose = prose(&text);
    let links =
        prose.iter().flat_map(|line| line.split("](").skip(1)).filter_map(|rest| rest.split(')').next());
    let broken = links.filter(|link| !link.contains("://") && !leads_somewhere(file, link));
    broken.map(|link| format!("{}: {link}", name_of(root, file))).collect()
}

fn leads_somewhere(file: &Path, link: &str) -> bool {
    let (path, heading) = link.split_once('#').map_or((link, None), |(path, heading)| (path, Some(heading)));
    let target = if path.is_empty() { file.to_owned() } else { file.with_file_name(path) };
    match heading {
        None => target.exists(),
        Some(heading) => fs::read_to_string(target).is_ok_and(|text| anchors(&text).contains(heading)),
    }
}

/// The lines outside of code blocks.
fn prose(text: &str) -> Vec<&str> {
    let mut is_code = false;
    let outside = |line: &&str| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    };
    text.lines().filter(outside).collect()
}

/// The anchors that GitHub gives to headings: lower case, without punctuation, and with a number if one
/// repeats.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    for heading in prose(text).into_iter().filter(|line| line.starts_with('#')) {
        let kept = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = kept.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
        let anchor = kept.collect::<String>().replace(' ', "-");
        let numbered = (1..).map(|number| format!("{anchor}-{number}"));
        let free = std::iter::once(anchor.clone()).chain(numbered).find(|name| !anchors.contains(name));
        anchors.extend(free);
    }
    anchors
}

fn broken_mentions(root: &Path) -> BTreeSet<String> {
    let mut broken = BTreeSet::new();
    for file in files_in(root) {
        let name = name_of(root, &file);
        // The tests of these rules name documents that do not exist.
        if !NAMING.iter().any(|extension| has_extension(&file, extension)) || name.contains("it/tidy/") {
            continue;
        }
        let Ok(text) = fs::read_to_string(&file) else { continue };
        let gone = documents_in(&text).into_iter().filter(|path| !is_document(root, path));
        broken.extend(gone.map(|path| format!("{name}: {path}")));
    }
    broken
}

/// A document, or a template of a guide.
fn is_document(root: &Path, path: &str) -> bool {
    root.join(path).exists() || root.join("api/templates").join(path).exists()
}

/// Paths such as `docs/operations/scale.md`.
fn documents_in(text: &str) -> Vec<&str> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || "/-_.".contains(letter);
    let words = text.split(|letter: char| !is_part(letter)).map(|word| word.trim_end_matches('.'));
    words.filter(|word| word.starts_with("docs/") && word.ends_with(".md")).collect()
}
