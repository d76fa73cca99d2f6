//! Decisions as rows of a table, for a page and for the audit log.

use domain::{ModeratedBy, ModerationStatus};
use service::DecisionShown;

use super::labels::{rule_description, source_label};
use crate::html::figures::Moment;

pub struct DecisionRow {
    pub at: Moment,
    pub host: String,
    pub path: String,
    pub seq: u32,
    pub status: ModerationStatus,
    /// A scan's finding has no effect on a version that a moderator has decided on.
    pub is_found: bool,
    /// Who decided: a moderator, a scan or a report.
    pub source: &'static str,
    /// A moderator's name. It is free text, so it is always shown with the source.
    pub name: Option<String>,
    pub note: Option<String>,
    /// The rules that a scan found violated, without duplicates.
    pub rules: Vec<String>,
}

impl From<DecisionShown> for DecisionRow {
    fn from(decision: DecisionShown) -> Self {
        let kept = decision.kept;
        let mut rules: Vec<String> = Vec::new();
        for rule in decision.findings.iter().map(|finding| rule_description(&finding.rule)) {
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
            source: source_label(kept.source),
            name: kept.decided_by,
            note: kept.note,
            rules,
        }
    }
}
