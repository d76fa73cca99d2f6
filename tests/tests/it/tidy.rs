//! Rules about the source that a program can check.
//!
//! An exception is named in a list with its rule. An entry that is no longer needed fails as well, so that
//! the lists only shrink.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

mod circles;
mod edges;
mod lengths;
mod links;
mod modules;
mod tools;
mod words;

fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// All files below a folder, without build output and hidden files.
fn files_in(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    take_files(folder, &mut files);
    files.sort();
    files
}

fn take_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name();
        let is_skipped =
            name == "target" || name == "node_modules" || name.to_string_lossy().starts_with('.');
        match entry.file_type().unwrap() {
            kind if kind.is_dir() && !is_skipped => take_files(&entry.path(), files),
            kind if kind.is_file() => files.push(entry.path()),
            _ => {}
        }
    }
}

fn has_extension(file: &Path, wanted: &str) -> bool {
    file.extension().is_some_and(|extension| extension == wanted)
}

/// A path as in messages and lists: relative to the workspace.
fn name_of(root: &Path, file: &Path) -> String {
    file.strip_prefix(root).unwrap().to_string_lossy().into_owned()
}

/// The crate or folder of the workspace that contains a file, or `.` for a file at the top.
fn top_folder(name: &str) -> &str {
    name.split_once('/').map_or(".", |(folder, _)| folder)
}

/// The rule's findings equal the list: no new finding, and no entry that is no longer needed.
#[track_caller]
fn assert_listed(rule: &str, found: &BTreeSet<String>, listed: &[&str]) {
    let listed: BTreeSet<String> = listed.iter().map(|&entry| entry.to_owned()).collect();
    let new: Vec<_> = found.difference(&listed).collect();
    assert!(new.is_empty(), "{rule}: {new:#?}");
    let stale: Vec<_> = listed.difference(found).collect();
    assert!(stale.is_empty(), "{rule}: remove these from the list of exceptions: {stale:#?}");
}

#[test]
#[should_panic(expected = "too long: [\n    \"b\"")]
fn unlisted_violation_fails() {
    assert_listed("too long", &["a", "b"].map(str::to_owned).into(), &["a"]);
}

#[test]
#[should_panic(expected = "remove these")]
fn an_exception_that_is_not_needed_any_more_fails() {
    assert_listed("too long", &["a"].map(str::to_owned).into(), &["a", "b"]);
}

/// Writes a sample below a folder.
fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}
