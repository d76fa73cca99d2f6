//! Decisions as rows of a table: beside a page, and in the log of all.

use domain::ModerationStatus;
use service::DecisionShown;

use super::words::{rule_in_words, source_in_words};
use crate::pages::figures::Moment;

pub struct DecisionRow {
    pub at: Moment,
    pub host: String,
    pub path: String,
    pub seq: u32,
    pub status: ModerationStatus,
    /// A moderator by name, else what it was.
    pub who: String,
    pub note: Option<String>,
    /// The rules that a scan found broken, each once.
    pub rules: Vec<String>,
}

impl From<DecisionShown> for DecisionRow {
    fn from(decision: DecisionShown) -> Self {
        let kept = decision.kept;
        let mut rules: Vec<String> =
            decision.findings.iter().map(|finding| rule_in_words(&finding.rule)).collect();
        rules.dedup();
        Self {
            at: Moment(kept.at),
            path: format!("{}/{}", super::QUEUE, kept.host),
            host: kept.host.to_string(),
            seq: kept.seq,
            status: kept.status,
            who: kept.decided_by.unwrap_or_else(|| source_in_words(kept.source).to_owned()),
            note: kept.note,
            rules,
        }
    }
}
