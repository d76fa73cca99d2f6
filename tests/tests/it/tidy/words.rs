//! Texts use standard English words, and lines are narrow enough to read.
//!
//! Many texts are still to be rewritten, so that each crate or folder has a maximum count. Lower it when the
//! test prints that the count fell. Never raise it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::{files_in, has_extension, name_of, top_folder, workspace, write};

/// Words and phrases to avoid in texts for people, each with the standard word.
const AVOIDED: &[(&str, &str)] = &[
    ("mend", "fix"),
    ("mends", "fixes"),
    ("mended", "fixed"),
    ("told", "reported, sent, returned, logged"),
    ("door", "listener, entry point, HTTP API, edge, worker"),
    ("doors", "listeners, entry points"),
    ("desk", "dashboard"),
    ("desks", "dashboards"),
    ("deed", "operation"),
    ("deeds", "operations"),
    ("house", "system, test harness"),
    ("shelf", "directory"),
    ("shelves", "directories"),
    ("seat", "slot"),
    ("seats", "slots"),
    ("hall", "queue"),
    ("rail", "payment method"),
    ("rails", "payment methods"),
    ("anew", "again"),
    ("whoever", "the client, the caller"),
    ("had once more", "repeated"),
    ("says that it lives", "sends a heartbeat"),
    ("who comes", "a new connection, a new client"),
    ("who waits", "the waiting request"),
    ("who asks", "the caller"),
    ("who has", "the person with"),
    ("carry out", "execute"),
    ("carried out", "executed"),
    ("off the public", "unlisted and private"),
    ("is none", "is not one"),
    ("but for", "except"),
    ("of a stranger", "untrusted"),
];

const CODE_WIDTH_MAX: usize = 110;
const DOCUMENT_WIDTH_MAX: usize = 125;

/// The maximum count of avoided words, by crate or folder.
const WORDS_MAX: &[(&str, usize)] = &[
    (".", 10),
    ("api", 15),
    ("bench", 10),
    ("card", 20),
    ("client", 5),
    ("docs", 15),
    ("domain", 5),
    ("edge", 5),
    ("scanner", 20),
    ("service", 5),
    ("store", 5),
    ("telemetry", 5),
    ("tests", 20),
    ("torture", 10),
];

/// The maximum count of wide lines, by crate or folder: comments, texts and macros, which rustfmt does not
/// wrap.
const WIDE_LINES_MAX: &[(&str, usize)] = &[
    ("actors", 10),
    ("admission", 5),
    ("api", 95),
    ("bench", 10),
    ("bus", 5),
    ("card", 5),
    ("cli", 40),
    ("client", 15),
    ("config", 10),
    ("docs", 20),
    ("domain", 30),
    ("edge", 15),
    ("migration", 5),
    ("scanner", 125),
    ("service", 25),
    ("store", 155),
    ("telemetry", 5),
    ("tests", 330),
    ("torture", 10),
    ("workers", 110),
];

#[test]
fn texts_use_standard_words() {
    assert_below("avoided words", &counts_in(workspace(), avoided), WORDS_MAX);
}

#[test]
fn lines_are_narrow() {
    let text = fs::read_to_string(workspace().join("rustfmt.toml")).unwrap();
    let width = text.parse::<toml::Table>().unwrap()["max_width"].as_integer().unwrap();
    assert_eq!(width, i64::try_from(CODE_WIDTH_MAX).unwrap());
    assert_below("wide lines", &counts_in(workspace(), wide_lines), WIDE_LINES_MAX);
}

#[test]
fn avoided_words_and_wide_lines_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| write(folder.path(), path, text);
    let code = "// A deed is none.\nfn told(door: Desk) -> Room<'a> {\n    let (quote, x) = ('\"', r#\"the \"house\"\"#); /* anew */\n    \"told\\\" mend\"\n}\n";
    write("one/src/lib.rs", code);
    write("one/templates/page.html", "<p>Whoever comes, who\nasks</p>");
    write("one/src/wide.rs", &format!("// {}\n// {}\n", "é".repeat(107), "x".repeat(108)));
    write("docs/A.md", &format!("Mended.\n| {} |\n{}\n", "x ".repeat(90), "x ".repeat(90)));
    write("scanner/corpus/page.html", "told");
    assert_eq!(words_of(code), "A deed is none.|the \"house\"|anew|told\\\" mend");
    let counts =
        |rule| counts_in(folder.path(), rule).into_iter().map(|(folder, lines)| (folder, lines.len()));
    assert_eq!(counts(avoided).collect::<Vec<_>>(), [("docs".to_owned(), 1), ("one".to_owned(), 8)]);
    assert_eq!(counts(wide_lines).collect::<Vec<_>>(), [("docs".to_owned(), 1), ("one".to_owned(), 1)]);
}

#[test]
#[should_panic(expected = "one: 2 avoided words, and 1 are allowed")]
fn count_above_the_limit_of_a_crate_fails() {
    let lines = |count| vec!["a line".to_owned(); count];
    let counts = BTreeMap::from([("one".to_owned(), lines(2)), ("two".to_owned(), lines(1))]);
    assert_below("avoided words", &counts, &[("one", 1), ("two", 3)]);
}

type Counts = BTreeMap<String, Vec<String>>;

/// A count that fell is only printed, so that several people can fix texts at the same time.
#[track_caller]
#[expect(clippy::print_stdout, reason = "a hint that must not fail the test")]
fn assert_below(rule: &str, counts: &Counts, maxima: &[(&str, usize)]) {
    let max_of = |folder: &str| maxima.iter().find(|(name, _)| *name == folder).map_or(0, |(_, max)| *max);
    let mut over = Vec::new();
    for (folder, found) in counts {
        if found.len() > max_of(folder) {
            let max = max_of(folder);
            over.push(format!(
                "{folder}: {} {rule}, and {max} are allowed\n{}",
                found.len(),
                found.join("\n")
            ));
        }
    }
    for (folder, max) in maxima {
        let count = counts.get(*folder).map_or(0, Vec::len);
        if count + 20 <= *max {
            println!("{rule}: lower {folder} from {max} to {count}");
        }
    }
    assert!(over.is_empty(), "{}", over.join("\n"));
}

/// The findings of a rule in the texts of each crate or folder. It skips the scanner's corpus, which consists
/// of other people's pages, and snapshots and documents that are generated from checked texts.
fn counts_in(root: &Path, rule: fn(&Path, &str) -> Vec<String>) -> Counts {
    let mut counts = Counts::new();
    for file in files_in(root) {
        let name = name_of(root, &file);
        let is_made =
            ["corpus/", "snapshots/", "docs/skills/", "node_modules/"].iter().any(|part| name.contains(part));
        let is_text =
            ["rs", "html", "md", "toml", "txt"].iter().any(|extension| has_extension(&file, extension));
        // This file lists the words.
        if is_made || !is_text || name.ends_with("it/tidy/words.rs") {
            continue;
        }
        let Ok(text) = fs::read_to_string(&file) else { continue };
        let found = rule(&file, &text);
        if !found.is_empty() {
            let named = found.iter().map(|found| format!("{name}: {found}"));
            counts.entry(top_folder(&name).to_owned()).or_default().extend(named);
        }
    }
    counts
}

fn wide_lines(file: &Path, text: &str) -> Vec<String> {
    let max = match file.extension().and_then(|extension| extension.to_str()) {
        Some("rs") => CODE_WIDTH_MAX,
        Some("md") => DOCUMENT_WIDTH_MAX,
        _ => return Vec::new(),
    };
    // A table's row and an address cannot be wrapped.
    let may_be_wide =
        |line: &str| max == DOCUMENT_WIDTH_MAX && (line.starts_with('|') || line.contains("://"));
    let wide = text.lines().enumerate().filter(|(_, line)| line.chars().count() > max && !may_be_wide(line));
    wide.map(|(at, _)| format!("line {}", at + 1)).collect()
}

fn avoided(file: &Path, text: &str) -> Vec<String> {
    let text = if has_extension(file, "rs") { words_of(text) } else { text.to_owned() };
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    let text = text.to_lowercase();
    let words: Vec<_> = text.split(|character| !is_part(character)).filter(|word| !word.is_empty()).collect();
    let mut found = Vec::new();
    for (phrase, standard) in AVOIDED {
        let phrase: Vec<_> = phrase.split(' ').collect();
        let times = words.windows(phrase.len()).filter(|words| *words == phrase).count();
        found.extend((0..times).map(|_| format!("{:?}, write: {standard}", phrase.join(" "))));
    }
    found
}

/// The comments and string literals of Rust source, without its code.
fn words_of(code: &str) -> String {
    let mut texts = Vec::new();
    let mut rest = code;
    while let Some(at) = rest.find(['/', '"', '\'', '#']) {
        let raw = rest[..at].ends_with('r');
        rest = &rest[at..];
        let (text, after) = if let Some(comment) = rest.strip_prefix("//") {
            comment.split_once('\n').unwrap_or((comment, ""))
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.split_once("*/").unwrap_or((comment, ""))
        } else if raw && let Some((text, after)) = raw_string(rest) {
            (text, after)
        } else if let Some(text) = rest.strip_prefix('"') {
            text.split_at(end_of_string(text))
        } else {
            rest = &rest[length_of_character(rest)..];
            continue;
        };
        texts.push(text.trim_matches(['/', '!', ' ']));
        rest = after.strip_prefix('"').unwrap_or(after);
    }
    texts.join("|")
}

/// Splits the rest after the `r` of a raw string into its text and what follows.
fn raw_string(rest: &str) -> Option<(&str, &str)> {
    let hashes = rest.len() - rest.trim_start_matches('#').len();
    let end = format!("\"{}", &rest[..hashes]);
    rest[hashes..].strip_prefix('"')?.split_once(&end)
}

fn end_of_string(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.find(|character| {
        let is_end = character == '"' && !is_escaped;
        is_escaped = character == '\\' && !is_escaped;
        is_end
    });
    end.unwrap_or(text.len())
}

/// The length of a character literal such as `'"'`, or of the quote of a lifetime.
fn length_of_character(rest: &str) -> usize {
    let mut characters = rest.char_indices().skip(1);
    let is_quote = rest.starts_with('\'');
    match (characters.next(), characters.next(), characters.next()) {
        (Some((_, '\\')), Some(_), Some((end, '\''))) if is_quote => end + 1,
        (Some((_, character)), Some((end, '\'')), _) if is_quote && character != '\\' => end + 1,
        _ => 1,
    }
}
