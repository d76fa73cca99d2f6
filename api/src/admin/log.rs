//! Decisions as rows of a table: beside a page, and in the log of all.

use domain::{ModeratedBy, ModerationStatus};
use service::DecisionShown;

use super::words::{rule_in_words, source_in_words};
use crate::html::figures::Moment;

pub struct DecisionRow {
    pub at: Moment,
    pub host: String,
    pub path: String,
    pub seq: u32,
    pub status: ModerationStatus,
    /// A scan only says what it found: where a moderator's word holds, nothing comes of it.
    pub is_found: bool,
    /// Whose word it is.
    pub source: &'static str,
    /// A moderator's name. It may look like anything, so it never stands without the source.
    pub name: Option<String>,
    pub note: Option<String>,
    /// The rules that a scan found broken, each once.
    pub rules: Vec<String>,
}

impl From<DecisionShown> for DecisionRow {
    fn from(decision: DecisionShown) -> Self {
        let kept = decision.kept;
        let mut rules: Vec<String> = Vec::new();
        for rule in decision.findings.iter().map(|finding| rule_in_words(&finding.rule)) {
            if !rules.contains(&rule) {
                rules.push(rule);
            }
        }
        Self {
            at: Moment(kept.at),
            path: format!("{}/{}", super::QUEUE, kept.host),
            host: kept.host.to_string(),
            seq: kept.seq,
            status: kept.status,
            is_found: kept.source == ModeratedBy::Scan,
            source: source_in_words(kept.source),
            name: kept.decided_by,
            note: kept.note,
            rules,
        }
    }
}
