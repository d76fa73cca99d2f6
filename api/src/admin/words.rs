//! What scans and moderators have said, in words for people.

use domain::ModeratedBy;
pub use service::{RULES, rule_in_words};

/// Whose word a status is, after "set by".
pub fn source_in_words(source: ModeratedBy) -> &'static str {
    match source {
        ModeratedBy::Nobody => "nobody yet",
        ModeratedBy::Scan => "the scan",
        ModeratedBy::Report => "a report",
        ModeratedBy::Moderator => "a moderator",
    }
}
