//! Every module has a comment about its purpose, and files, functions and lines are short.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::{assert_listed, files_in, has_extension, name_of, top_folder, workspace, write};

const FILE_LINES_MAX: usize = 400;
const FUNCTION_LINES_MAX: usize = 60;

/// Files that exceed the limit.
const LONG_FILES: &[&str] = &[
    "api/src/pages/dashboard/tests.rs",
    "bus/src/tests.rs",
    "scanner/src/tests/asking.rs",
    "scanner/src/words/tests/english.rs",
    "sitecheck/src/tests.rs",
    "store/src/tests.rs",
    "tests/tests/it/day_two/backups.rs",
    "tests/tests/it/edge_paths.rs",
    "tests/tests/it/queue_board.rs",
    "tests/tests/it/suspension.rs",
    "workers/src/tests/board.rs",
];

/// Functions that exceed the limit, by their crate: tables of cases, and matches with an arm for each kind.
/// Clippy's `too_many_lines` reports most of them too, but not the functions inside a macro.
const LONG_FUNCTIONS: &[&str] = &[
    "api: credit_pages",
    "api: next_step",
    "api: queues",
    "api: team_pages",
    "api: token_pages",
    "domain: example",
    "domain: hint",
    "domain: meaning",
    "domain: message",
    "scanner: strings_with_tags_are_markup_in_any_notation",
    "scanner: brands_and_urgency_are_lures",
    "scanner: hints_classify_fields",
    "scanner: hostile_scripts_take_time_linear_in_their_length",
    "scanner: identifiers_name_the_requested_secret",
    "scanner: messages_and_buttons_are_no_secrets",
    "scanner: requests_are_detected_with_their_subject",
    "scanner: talk_about_a_secret_is_no_request",
    "scanner: elements_built_by_libraries_are_scanned_as_rendered",
    "scanner: similar_sounding_words_are_no_lures",
    "tests: invalid_argument_is_named_and_nothing_is_changed",
    "tests: preview_is_sandboxed_and_uncounted_and_only_for_operators",
    "tests: claim_invite_and_leave_work_from_the_command_line",
    "tests: bad_json",
    "tests: rules",
];

#[test]
fn every_module_says_what_it_is_for() {
    assert_listed("begin these files with `//!`", &found_in(workspace(), unexplained), &[]);
}

#[test]
fn no_file_is_too_long() {
    assert_listed("split these files", &found_in(workspace(), long_file), LONG_FILES);
}

#[test]
fn no_function_is_too_long() {
    assert_listed("split these functions", &found_in(workspace(), long_functions), LONG_FUNCTIONS);
}

#[test]
fn missing_module_doc_and_overlong_code_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| write(folder.path(), path, text);
    let function = |name: &str, lines: usize| {
        format!(
            "    pub(crate) async fn {name}() {{\n        // why\n\n{}    }}\n",
            "        x();\n".repeat(lines)
        )
    };
    let methods = function("short", 60) + &function("long", 61);
    write("one/Cargo.toml", "[package]\nname = \"one\"");
    write(
        "one/src/lib.rs",
        &format!(
            "//! What it is for.\nmod a;\nmod b;\nimpl A {{\n    fn line() {{}}\n    fn no_body();\n{methods}}}\n"
        ),
    );
    write("one/src/a.rs", &("//! Lines.\n".to_owned() + &"\n".repeat(400)));
    write("one/src/b.rs", "/// Of what follows.\nstruct B;\n");
    let found = |rule| found_in(folder.path(), rule).into_iter().collect::<Vec<_>>();
    assert_eq!(found(unexplained), ["one/src/b.rs"]);
    assert_eq!(found(long_file), ["one/src/a.rs"]);
    assert_eq!(found(long_functions), ["one: long"]);
}

/// The findings of a rule in the source files below a folder.
fn found_in(root: &Path, rule: fn(&str, &str) -> Vec<String>) -> BTreeSet<String> {
    let files = files_in(root).into_iter().filter(|file| has_extension(file, "rs"));
    files.flat_map(|file| rule(&name_of(root, &file), &fs::read_to_string(&file).unwrap())).collect()
}

fn unexplained(name: &str, text: &str) -> Vec<String> {
    if text.starts_with("//! ") { Vec::new() } else { vec![name.to_owned()] }
}

fn long_file(name: &str, text: &str) -> Vec<String> {
    if text.lines().count() > FILE_LINES_MAX { vec![name.to_owned()] } else { Vec::new() }
}

/// Lines of code between a function's first line and the brace that closes it, which rustfmt puts below the
/// first line's start. Empty lines and comments do not count, as for clippy.
fn long_functions(name: &str, text: &str) -> Vec<String> {
    let lines: Vec<_> = text.lines().collect();
    let mut long = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let (Some(function), indent) = (function_of(line), line.len() - line.trim_start().len()) else {
            continue;
        };
        let end = format!("{}}}", " ".repeat(indent));
        let body =
            lines[at + 1..].iter().take_while(|line| !line.starts_with(&end) && !is_next_item(line, indent));
        let code = body.filter(|line| !line.trim().is_empty() && !line.trim().starts_with("//"));
        if code.count() > FUNCTION_LINES_MAX {
            long.push(format!("{}: {function}", top_folder(name)));
        }
    }
    long
}

/// A function without a body ends before the next item at its own indentation.
fn is_next_item(line: &str, indent: usize) -> bool {
    line.len() - line.trim_start().len() == indent && line.trim_start().contains("fn ")
}

/// The name of the function that begins on this line.
fn function_of(line: &str) -> Option<&str> {
    let (before, after) = line.split_once("fn ")?;
    let is_prefix = before.split_whitespace().all(|word| {
        word.starts_with("pub")
            || word.ends_with(')')
            || ["const", "async", "unsafe", "extern"].contains(&word)
    });
    let name = after.split(['(', '<']).next()?;
    (is_prefix && !line.ends_with(';') && !line.ends_with('}')).then_some(name)
}
