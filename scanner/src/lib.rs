//! The automatic moderation check: takes the files of a version and returns a verdict with evidence (spec
//! 3.3).
//!
//! A page is read as a browser shows it to a visitor. The verdict depends on what the page asks for. Each
//! step is a module:
//!
//! - `document` parses bytes to a tree. `style` finds what is visible. `script` finds what scripts would
//!   write into the page, without running them.
//! - `page` reads a tree to fields, their labels, and the texts around them, in reading order.
//! - `site` combines files to pages. A page includes its frames, its scripts and what they fetch, but no page
//!   that it links to.
//! - `words` decides what a text means: whether it asks for a thing, names it or mentions it.
//! - `rules` applies the three rules of the specification to fields and texts, never to markup.
//!
//! The scanner does no I/O and is deterministic. Its input is hostile: it must never recurse along the input,
//! and its time must be bounded by the input's size.

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

/// Stored with every verdict. Increase it when the rules change, so that older verdicts can be found and
/// renewed.
pub const SCANNER_VERSION: &str = "8";

/// The number of findings in a verdict. It is enough for a moderator and bounds what is stored.
const FINDINGS_MAX: usize = 20;

/// The steps of one scan: more than any page for people needs, and a few seconds on any machine.
pub const STEPS_MAX: u64 = 250_000_000;

#[derive(Clone, Copy, Debug)]
pub struct ScannedFile<'a> {
    pub path: &'a str,
    pub bytes: &'a [u8],
    /// The content type that the file is served with, which decides how browsers and the scanner read it.
    pub content_type: &'a str,
}

/// The conditions of a scan.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    /// Whether the account is provisional. Stricter rules apply to its pages.
    pub is_provisional: bool,
    /// A scan that needs more steps gets a finding of `Rule::TooComplex`.
    pub steps_max: u64,
    /// The scan stops at its next step once this is set.
    pub is_cancelled: &'a AtomicBool,
}

impl Default for Terms<'_> {
    /// The conditions for a claimed account: the default budget, never cancelled.
    fn default() -> Self {
        static NEVER: AtomicBool = AtomicBool::new(false);
        Self { is_provisional: false, steps_max: STEPS_MAX, is_cancelled: &NEVER }
    }
}

/// The scan was cancelled and has no verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the scan was cancelled")]
pub struct Cancelled;

/// The result of a scan, from best to worst.
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

/// The result of a scan with its evidence, in the form that the database stores.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    pub status: Status,
    pub findings: Vec<Finding>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub rule: Rule,
    pub file: String,
    /// The field that asks, such as `textarea[name=phrase]`. Empty if the rule is about the whole file.
    pub field: String,
    /// The words that matched.
    pub words: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    SeedPhrase,
    PrivateKey,
    CardWithCvv,
    PasswordNearLure,
    /// The version needs more steps than a scan has, so that parts of it were not read.
    TooComplex,
    /// A file that is served as text contains NUL bytes. Browsers drop them, other readers do not.
    NulBytes,
    /// Provisional accounts only: the page does nothing except redirect to another site, or a redirect of the
    /// site leads to one.
    RedirectsAway,
    /// Provisional accounts only: the page renders content that only its script knows at run time.
    HiddenContent,
}

impl Rule {
    /// The status for a finding of this rule, as in spec 3.3. Content that cannot be read needs a review.
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

/// Scans a version. The worst finding decides the status, and findings are sorted from worst to best.
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
            // A frame is scanned with each page that shows it, and yields the same finding.
            if !findings.contains(&finding) {
                findings.push(finding);
            }
        }
        keep_the_worst(&mut findings);
    }
    findings.extend(site.unclear_files().map(|file| Finding::of_file(Rule::NulBytes, files[file].path)));
    if terms.is_provisional {
        let redirecting = site.redirecting_file();
        findings.extend(redirecting.map(|file| Finding::of_file(Rule::RedirectsAway, files[file].path)));
    }
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
    fn of_file(rule: Rule, path: &str) -> Self {
        Self { rule, file: path.to_owned(), field: String::new(), words: Vec::new() }
    }
}

fn keep_the_worst(findings: &mut Vec<Finding>) {
    // The sort is stable, so that findings of equal severity keep the order of the files.
    findings.sort_by_key(|finding| Reverse(finding.rule.status()));
    findings.truncate(FINDINGS_MAX);
}

#[cfg(test)]
mod tests;
