//! The moderation verdict: files in, verdict and evidence out (spec 3.3).
//!
//! A page is read with a real HTML parser, as browsers read it. What it asks for is told by its fields and the words
//! that stand with them; the rules look at fields and words, never at markup. So it goes in three steps that widen
//! apart from each other: `parse` (bytes to tree), `page` (tree to fields and visible words), `rules` (to findings).
//!
//! It does no I/O and gives the same answer every time. What it reads is hostile: it must never recurse along the
//! page's depth, and its time must stay within the page's size.

mod page;
mod parse;
mod rules;
mod tree;
mod words;

use domain::{ModerationStatus, SitePath, content_type_of};
use serde::Serialize;

use page::Page;

/// Kept with every verdict. It rises when the rules change, so that older verdicts can be told and renewed.
pub const SCANNER_VERSION: &str = "1";

/// Evidence that a verdict keeps: enough to judge by, whatever the page's size.
const FINDINGS_MAX: usize = 20;

/// Without one of these a file has no field, so it asks for nothing.
const FIELD_MARKS: [&[u8]; 3] = [b"<input", b"<textarea", b"contenteditable"];

/// A file of the version that is judged.
#[derive(Clone, Copy, Debug)]
pub struct ScannedFile<'a> {
    pub path: &'a str,
    pub bytes: &'a [u8],
}

/// What the scan says, with its evidence in the form that the database keeps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// Pass, review or blocked; never pending.
    pub status: ModerationStatus,
    pub findings: Vec<Finding>,
}

/// One reason for the verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub rule: Rule,
    pub file: String,
    /// The field that asks, such as `textarea[name=phrase]`.
    pub field: String,
    /// The words that gave it away.
    pub words: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    SeedPhrase,
    PrivateKey,
    CardWithCvv,
    PasswordNearLure,
}

impl Rule {
    /// Spec 3.3: what a finding of this rule makes of the version.
    pub fn status(self) -> ModerationStatus {
        match self {
            Rule::SeedPhrase | Rule::PrivateKey | Rule::CardWithCvv => ModerationStatus::Blocked,
            Rule::PasswordNearLure => ModerationStatus::Review,
        }
    }
}

/// Judges a version. The worst of its files decides; the worst findings come first.
pub fn scan(files: &[ScannedFile<'_>]) -> Verdict {
    let mut findings: Vec<Finding> = files.iter().flat_map(findings_in).collect();
    // The sort is stable, so findings of one weight keep the order of the files.
    findings.sort_by_key(|finding| finding.rule.status() != ModerationStatus::Blocked);
    findings.truncate(FINDINGS_MAX);
    let status = findings.first().map_or(ModerationStatus::Pass, |worst| worst.rule.status());
    Verdict { status, findings }
}

fn findings_in(file: &ScannedFile<'_>) -> Vec<Finding> {
    let text = parse::decode(file.bytes);
    if !may_ask(file.path, &text) {
        return Vec::new();
    }
    let page = Page::read(&parse::parse(&text));
    rules::findings(&page)
        .take(FINDINGS_MAX)
        .map(|(rule, field, words)| Finding { rule, file: file.path.to_owned(), field, words })
        .collect()
}

/// Whether the file can show a field to a visitor. That is told by its content: a page may bear any name.
fn may_ask(path: &str, text: &str) -> bool {
    let begins_as_markup = text.trim_ascii_start().starts_with('<');
    (begins_as_markup || !is_code(path))
        && FIELD_MARKS.iter().any(|mark| contains_ignoring_case(text.as_bytes(), mark))
}

/// Scripts and styles often hold markup in strings. A browser that is told what they are shows none of it.
fn is_code(path: &str) -> bool {
    let Ok(path) = path.parse::<SitePath>() else { return false };
    let content_type = content_type_of(&path);
    ["text/javascript", "application/javascript", "text/css", "application/json"]
        .iter()
        .any(|code| content_type.starts_with(code))
}

fn contains_ignoring_case(bytes: &[u8], mark: &[u8]) -> bool {
    bytes.windows(mark.len()).any(|window| window.eq_ignore_ascii_case(mark))
}

#[cfg(test)]
mod tests;
