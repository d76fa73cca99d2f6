//! Labels for the sources of decisions.

use domain::ModeratedBy;
pub use service::{RULES, rule_description};

/// The source of a status, after "set by".
pub fn source_label(source: ModeratedBy) -> &'static str {
    match source {
        ModeratedBy::Nobody => "nobody yet",
        ModeratedBy::Scan => "the scan",
        ModeratedBy::Report => "a report",
        ModeratedBy::Moderator => "a moderator",
    }
}
