//! The moderation verdict: files in, verdict and evidence out (spec 3.3).
//!
//! A page is read as a browser shows it to a visitor, and judged by what it asks for. That goes in steps that widen
//! apart from each other, each a module:
//!
//! - `document`: bytes to text to tree, with real parsers; `style`: what of the tree is seen;
//!   `script`: what scripts would write into it, told without running them;
//! - `page`: a tree to its fields, their labels, and the texts around them, in the order in which people read;
//! - `site`: files to pages: a page has its frames, its scripts and what those fetch, but not the page next door;
//! - `words`: what a text means: whether it asks for a thing, names it, or talks about it;
//! - `rules`: the three rules of the specification, over fields and texts, never over markup.
//!
//! It does no I/O and gives the same answer every time. What it reads is hostile: it must never recurse along the
//! input, and its time must stay within the input's size.

mod budget;
mod document;
mod page;
mod rules;
mod script;
mod site;
mod style;
mod words;

use std::cmp::Reverse;
use std::sync::atomic::AtomicBool;

use serde::Serialize;
use thiserror::Error;

pub use document::decoded;

use budget::Budget;
use site::Site;

/// Kept with every verdict. It rises when the rules change, so that older verdicts can be told and renewed.
pub const SCANNER_VERSION: &str = "7";

/// Evidence that a verdict keeps: enough to judge by, whatever the page's size.
const FINDINGS_MAX: usize = 20;

/// Steps that a scan may take: more than any page for people needs, and within seconds on any machine.
pub const STEPS_MAX: u64 = 250_000_000;

/// A file of the version that is judged.
#[derive(Clone, Copy, Debug)]
pub struct ScannedFile<'a> {
    pub path: &'a str,
    pub bytes: &'a [u8],
    /// The content type that the file is served with. It decides how browsers read the file, and so how the scanner does.
    pub content_type: &'a str,
}

/// What a scan is held to, besides the files.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    /// Whether the account is provisional. Its pages are held to stricter rules.
    pub is_provisional: bool,
    /// A scan that needs more steps ends with a finding of `Rule::TooComplex`.
    pub steps_max: u64,
    /// When set, the scan stops at its next step.
    pub is_cancelled: &'a AtomicBool,
}

impl Default for Terms<'_> {
    /// A claimed account, the usual budget, never cancelled.
    fn default() -> Self {
        static NEVER: AtomicBool = AtomicBool::new(false);
        Self { is_provisional: false, steps_max: STEPS_MAX, is_cancelled: &NEVER }
    }
}

/// The scan was cancelled: there is no verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the scan was cancelled")]
pub struct Cancelled;

/// What a scan concludes, from the mildest to the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Pass,
    Review,
    Blocked,
}

impl Status {
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Pass => "pass",
            Status::Review => "review",
            Status::Blocked => "blocked",
        }
    }
}

/// What the scan says, with its evidence in the form that the database keeps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    pub status: Status,
    pub findings: Vec<Finding>,
}

/// One reason for the verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub rule: Rule,
    pub file: String,
    /// The field that asks, such as `textarea[name=phrase]`. Empty where the rule is about the whole file.
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
    /// The version needs more work than a scan may do, so part of it was not read.
    TooComplex,
    /// A file that is served as text contains NUL bytes. Browsers drop them, and other readers do not.
    NulBytes,
    /// Of a provisional account: the page does nothing but lead to another site.
    RedirectsAway,
    /// Of a provisional account: the page shows what only its script knows, once it runs.
    HiddenContent,
}

impl Rule {
    /// What a finding of this rule makes of the version: spec 3.3, and review for what cannot be judged.
    pub fn status(self) -> Status {
        match self {
            Rule::SeedPhrase | Rule::PrivateKey | Rule::CardWithCvv => Status::Blocked,
            Rule::PasswordNearLure
            | Rule::TooComplex
            | Rule::NulBytes
            | Rule::RedirectsAway
            | Rule::HiddenContent => Status::Review,
        }
    }
}

/// Judges a version. The worst of its pages decides; the worst findings come first.
pub fn scan(files: &[ScannedFile<'_>], terms: &Terms<'_>) -> Result<Verdict, Cancelled> {
    let budget = Budget::new(terms.steps_max, terms.is_cancelled);
    let site = Site::read(files, &budget);
    let mut findings: Vec<Finding> = Vec::new();
    let judge = if terms.is_provisional { rules::provisional_findings } else { rules::findings };
    for page in site.pages() {
        for found in judge(&page, &budget) {
            let finding = Finding {
                rule: found.rule,
                file: files[found.file].path.to_owned(),
                field: found.field,
                words: found.words,
            };
            // A frame is found again with each page that shows it.
            if !findings.contains(&finding) {
                findings.push(finding);
            }
        }
        keep_the_worst(&mut findings);
    }
    findings.extend(site.unclear_files().map(|file| Finding::of_file(Rule::NulBytes, files[file].path)));
    if budget.is_exhausted() {
        let path = files.first().map_or("", |file| file.path);
        findings.push(Finding::of_file(Rule::TooComplex, path));
    }
    keep_the_worst(&mut findings);
    if budget.is_cancelled() {
        return Err(Cancelled);
    }
    let status = findings.first().map_or(Status::Pass, |worst| worst.rule.status());
    Ok(Verdict { status, findings })
}

impl Finding {
    /// A finding about a whole file.
    fn of_file(rule: Rule, path: &str) -> Self {
        Self { rule, file: path.to_owned(), field: String::new(), words: Vec::new() }
    }
}

fn keep_the_worst(findings: &mut Vec<Finding>) {
    // The sort is stable, so findings of one weight keep the order of the files.
    findings.sort_by_key(|finding| Reverse(finding.rule.status()));
    findings.truncate(FINDINGS_MAX);
}

#[cfg(test)]
mod tests;
