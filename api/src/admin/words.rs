//! What scans and moderators have said, in words for people.

use domain::ModeratedBy;

/// A rule of the scanner. One that is not known yet is told by its name.
pub fn rule_in_words(rule: &str) -> String {
    match rule {
        "seed_phrase" => "asks for a seed phrase".to_owned(),
        "private_key" => "asks for a private key".to_owned(),
        "card_with_cvv" => "asks for a card number and its CVV".to_owned(),
        "password_near_lure" => "asks for a password beside a lure".to_owned(),
        other => other.replace('_', " "),
    }
}

/// Whose word a status is, after "set by".
pub fn source_in_words(source: ModeratedBy) -> &'static str {
    match source {
        ModeratedBy::Nobody => "nobody yet",
        ModeratedBy::Scan => "the scan",
        ModeratedBy::Report => "a report",
        ModeratedBy::Moderator => "a moderator",
    }
}
