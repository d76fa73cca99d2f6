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

mod document;
mod page;
mod rules;
mod script;
mod site;
mod style;
mod words;

use domain::ModerationStatus;
use serde::Serialize;

pub use document::decoded;

use site::Site;

/// Kept with every verdict. It rises when the rules change, so that older verdicts can be told and renewed.
pub const SCANNER_VERSION: &str = "6";

/// Evidence that a verdict keeps: enough to judge by, whatever the page's size.
const FINDINGS_MAX: usize = 20;

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

/// Judges a version. The worst of its pages decides; the worst findings come first.
pub fn scan(files: &[ScannedFile<'_>]) -> Verdict {
    let site = Site::read(files);
    let mut findings: Vec<Finding> = Vec::new();
    for page in site.pages() {
        for found in rules::findings(&page) {
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
    let status = findings.first().map_or(ModerationStatus::Pass, |worst| worst.rule.status());
    Verdict { status, findings }
}

fn keep_the_worst(findings: &mut Vec<Finding>) {
    // The sort is stable, so findings of one weight keep the order of the files.
    findings.sort_by_key(|finding| finding.rule.status() != ModerationStatus::Blocked);
    findings.truncate(FINDINGS_MAX);
}

#[cfg(test)]
mod corpus;
#[cfg(test)]
mod tests;
