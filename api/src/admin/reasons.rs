//! The standard reasons for a decision, so that moderators do not type them.

use domain::{MalformedReason, Refusal, RulingNote};

/// The reasons to choose from. The chosen one becomes the first line of the note.
pub const REASONS: [&str; 9] = [
    "Impersonates a company, bank or public service",
    "Asks for passwords, keys or card details",
    "Spreads malware or unwanted downloads",
    "Spam",
    "Copyright or trademark complaint",
    "Private information about a person",
    "Reviewed: no violation found",
    "False positive of the scan",
    "The reports are unfounded",
];

/// The note of a decision: the chosen reason and the typed text, either of which may be missing.
pub fn note_of(reason: &str, text: &str) -> Result<Option<RulingNote>, Refusal> {
    if !reason.is_empty() && !REASONS.contains(&reason) {
        return Err(Refusal::invalid("standard_reason", "is not in the list"));
    }
    let malformed = |fault: MalformedReason| Refusal::invalid("note", fault.to_string());
    RulingNote::written(&format!("{reason}\n{text}")).map_err(malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(reason: &str, text: &str) -> Option<String> {
        note_of(reason, text).unwrap().map(|note| note.as_str().to_owned())
    }

    #[test]
    fn a_note_is_the_chosen_reason_and_the_typed_text() {
        assert_eq!(note("", " "), None);
        assert_eq!(note("Spam", "").as_deref(), Some("Spam"));
        assert_eq!(note("", "Ticket 7").as_deref(), Some("Ticket 7"));
        assert_eq!(note("Spam", "Ticket 7").as_deref(), Some("Spam\nTicket 7"));
    }

    #[test]
    fn a_reason_that_is_not_offered_and_a_long_note_are_refused() {
        assert!(note_of("Because", "").is_err());
        assert!(note_of("Spam", &"x".repeat(RulingNote::LENGTH_MAX)).is_err());
    }
}
