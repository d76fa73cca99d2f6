//! Names of files, one a line, as the files of one publish. An accepted name stays inside its site, has one
//! interpretation, and finds its own file.

use std::path::{Component, Path};

use domain::{AtPath, BlobHash, FileSet, Manifest, ManifestFile, SitePath, content_type_of};

pub fn judge(input: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(input) else { return false };
    let mut set = FileSet::default();
    let mut taken: Vec<SitePath> = Vec::new();
    for line in text.split('\n') {
        let Some(path) = judge_path(line) else { continue };
        let clashes = taken.iter().any(|other| is_in_the_way(other, &path));
        let is_full = taken.len() == FileSet::FILES_MAX;
        assert_eq!(set.add(&path).is_err(), clashes || is_full, "{path:?} beside {taken:?}");
        if !clashes && !is_full {
            taken.push(path);
        }
    }
    judge_site(&taken);
    !taken.is_empty()
}

fn judge_path(text: &str) -> Option<SitePath> {
    let path = text.parse::<SitePath>();
    assert_eq!(path.is_ok(), is_plain(text), "{text:?}: {path:?}");
    let path = path.ok()?;
    assert_eq!(path.as_str(), text);
    assert_eq!(path.as_str().parse::<SitePath>(), Ok(path.clone()));
    let json = serde_json::to_string(&path).unwrap();
    assert_eq!(serde_json::from_str::<SitePath>(&json).unwrap(), path);
    let below = Path::new("/site").join(path.as_str());
    assert!(below.components().skip(2).all(|part| matches!(part, Component::Normal(_))), "{text:?}");
    assert_eq!(below.components().count(), 2 + text.split('/').count(), "{text:?} is read in two ways");
    for folder in path.folders() {
        assert!(text[folder.len()..].starts_with('/') && is_plain(folder), "{folder:?} of {text:?}");
    }
    let content_type = content_type_of(&path);
    assert!(content_type.contains('/') && content_type.bytes().all(|byte| (b' '..0x7f).contains(&byte)));
    Some(path)
}

/// A second implementation of the rule.
fn is_plain(text: &str) -> bool {
    let is_part = |part: &str| !matches!(part.trim_matches(char::is_whitespace), "" | "." | "..");
    let is_letter =
        |letter: char| letter != '\\' && letter >= ' ' && !('\u{7f}'..='\u{9f}').contains(&letter);
    text.len() <= 512 && text.split('/').all(is_part) && text.chars().all(is_letter)
}

fn is_in_the_way(one: &SitePath, other: &SitePath) -> bool {
    let is_below = |inner: &SitePath, outer: &SitePath| inner.as_str().starts_with(&format!("{outer}/"));
    one == other || is_below(one, other) || is_below(other, one)
}

/// Every file of a site is found by its own name, and by no name that leads elsewhere.
fn judge_site(paths: &[SitePath]) {
    let manifest = Manifest::new(paths.iter().map(file).collect());
    let json = serde_json::to_string(&manifest).unwrap();
    assert_eq!(serde_json::from_str::<Manifest>(&json).unwrap(), manifest);
    for path in paths {
        let name = path.as_str();
        if matches!(name, "_redirects" | "_headers") {
            assert!(!matches!(manifest.at(name), Some(AtPath::File(file)) if file.path == *path));
            continue;
        }
        let Some(AtPath::File(found)) = manifest.at(name) else { panic!("{name:?} is not found") };
        assert_eq!(found.path, *path);
        for other in [format!("/{name}"), format!("{name}/"), format!("../{name}"), format!("./{name}")] {
            if let Some(AtPath::File(found)) = manifest.at(&other) {
                assert_eq!(found.path.as_str(), format!("{other}index.html"), "{other:?}");
            }
        }
    }
}

fn file(path: &SitePath) -> ManifestFile {
    ManifestFile {
        path: path.clone(),
        hash: BlobHash::of(path.as_str().as_bytes()),
        size_bytes: 1,
        content_type: content_type_of(path),
        variants: vec![],
        bundled: None,
    }
}
