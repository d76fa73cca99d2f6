//! The sources of a moderation status: the scan, reports, a moderator. `store` enforces that a later source
//! cannot clear an earlier one.

use std::str::FromStr;

use crate::operator::OperatorName;
use crate::{ModerationStatus, UserId};

/// The source of a version's status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModeratedBy {
    /// Nothing has been decided yet.
    Nobody,
    Scan,
    Report,
    /// Holds until the next version, whatever a scan finds.
    Moderator,
}

impl ModeratedBy {
    pub const ALL: [ModeratedBy; 4] =
        [ModeratedBy::Nobody, ModeratedBy::Scan, ModeratedBy::Report, ModeratedBy::Moderator];

    pub fn as_str(self) -> &'static str {
        match self {
            ModeratedBy::Nobody => "nobody",
            ModeratedBy::Scan => "scan",
            ModeratedBy::Report => "report",
            ModeratedBy::Moderator => "moderator",
        }
    }
}

/// A moderator's decision on a page (spec 4.10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModerationDecision {
    Pass,
    Block,
}

impl ModerationDecision {
    pub fn status(self) -> ModerationStatus {
        match self {
            ModerationDecision::Pass => ModerationStatus::Pass,
            ModerationDecision::Block => ModerationStatus::Blocked,
        }
    }
}

/// Who made a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Moderator {
    /// A person with a session, in dev mode.
    Person(UserId),
    /// A member of the operator's staff.
    Operator(OperatorName),
}

/// Why a page was reported, in the reporter's words. Moderators see it, so its length is limited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportReason(String);

/// The kind of abuse that a report is about. It has no default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReportCategory {
    Phishing,
    Malware,
    Copyright,
    Privacy,
    Spam,
    Other,
}

impl ReportCategory {
    pub const ALL: [ReportCategory; 6] = [
        ReportCategory::Phishing,
        ReportCategory::Malware,
        ReportCategory::Copyright,
        ReportCategory::Privacy,
        ReportCategory::Spam,
        ReportCategory::Other,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            ReportCategory::Phishing => "phishing",
            ReportCategory::Malware => "malware",
            ReportCategory::Copyright => "copyright",
            ReportCategory::Privacy => "privacy",
            ReportCategory::Spam => "spam",
            ReportCategory::Other => "other",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|category| category.as_str() == name)
    }
}

/// Why the owner of a page wants a moderator to review it again. It is never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppealMessage(String);

/// A moderator's note on a decision, for other moderators.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RulingNote(String);

/// What is wrong with such a text. The message follows the field's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MalformedReason {
    #[error("is longer than {LENGTH_MAX} characters")]
    TooLong,
    #[error("contains a control character")]
    Control,
    #[error("is empty")]
    Empty,
}

const LENGTH_MAX: usize = 2_000;
const PATTERN: &str = r"^[^\x00-\x08\x0B\x0C\x0E-\x1F\x7F-\x9F]*$";

impl AppealMessage {
    /// Trims the message.
    pub fn written(text: &str) -> Result<Self, MalformedReason> {
        let text = text.trim();
        if text.is_empty() { Err(MalformedReason::Empty) } else { text.parse() }
    }
}

impl RulingNote {
    /// A note of only white space counts as none.
    pub fn written(text: &str) -> Result<Option<Self>, MalformedReason> {
        let text = text.trim();
        if text.is_empty() { Ok(None) } else { text.parse().map(Some) }
    }
}

macro_rules! texts_by_people {
    ($($name:ident),+) => {$(
        impl $name {
            pub const LENGTH_MAX: usize = LENGTH_MAX;
            pub const PATTERN: &'static str = PATTERN;

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = MalformedReason;

            fn from_str(text: &str) -> Result<Self, MalformedReason> {
                if text.chars().count() > LENGTH_MAX {
                    return Err(MalformedReason::TooLong);
                }
                // Line breaks and tabs are allowed. Keyboards do not produce other control characters.
                if text.chars().any(|one| one.is_control() && !matches!(one, '\n' | '\r' | '\t')) {
                    return Err(MalformedReason::Control);
                }
                Ok(Self(text.to_owned()))
            }
        }
    )+};
}
texts_by_people!(ReportReason, RulingNote, AppealMessage);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn report_reason_has_a_length_limit_and_no_control_characters() {
        let longest = "ü".repeat(ReportReason::LENGTH_MAX);
        for good in ["", "It asks for my bank's password.\r\n\tReally.", longest.as_str()] {
            assert!(good.parse::<ReportReason>().is_ok(), "{good}");
        }
        assert_eq!(format!("{longest}x").parse::<ReportReason>(), Err(MalformedReason::TooLong));
        for bad in ["\0", "a\u{1b}[0m", "a\u{85}b"] {
            assert_eq!(bad.parse::<ReportReason>(), Err(MalformedReason::Control), "{bad:?}");
        }
    }

    #[test]
    fn appeal_message_must_not_be_empty() {
        assert_eq!(AppealMessage::written(" It is a drill.\n").unwrap().as_str(), "It is a drill.");
        assert_eq!(AppealMessage::written(" \n"), Err(MalformedReason::Empty));
        assert_eq!(AppealMessage::written("\0"), Err(MalformedReason::Control));
    }

    #[test]
    fn every_category_is_found_by_its_name() {
        for category in ReportCategory::ALL {
            assert_eq!(ReportCategory::parse(category.as_str()), Some(category));
        }
        assert_eq!(ReportCategory::parse("Phishing"), None);
    }

    #[test]
    fn blank_notes_become_none() {
        assert_eq!(RulingNote::written(" \n"), Ok(None));
        assert_eq!(RulingNote::written(" A drill. ").unwrap().unwrap().as_str(), "A drill.");
        assert!(RulingNote::written("\0").is_err());
    }
}
