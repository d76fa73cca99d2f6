//! Who may say what of a page: the scan, people who report it, a moderator. The rule that a later word never launders
//! an earlier one is kept where the words are written, in `store`.

use std::str::FromStr;

use crate::ModerationStatus;

/// Whose word a version's status is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModeratedBy {
    /// Nobody has looked yet.
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

/// A moderator's word on a page (spec 4.10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ruling {
    Pass,
    Block,
}

impl Ruling {
    pub fn status(self) -> ModerationStatus {
        match self {
            Ruling::Pass => ModerationStatus::Pass,
            Ruling::Block => ModerationStatus::Blocked,
        }
    }
}

/// Why somebody reports a page, in their own words. It is shown to moderators, so it is bounded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportReason(String);

impl ReportReason {
    pub const LENGTH_MAX: usize = 2_000;
    pub const PATTERN: &'static str = r"^[^\x00-\x08\x0B\x0C\x0E-\x1F\x7F-\x9F]*$";

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What is wrong with a reason, in words that follow "reason: ".
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MalformedReason {
    #[error("is longer than {} characters", ReportReason::LENGTH_MAX)]
    TooLong,
    #[error("has a control character")]
    Control,
}

impl FromStr for ReportReason {
    type Err = MalformedReason;

    fn from_str(text: &str) -> Result<Self, MalformedReason> {
        if text.chars().count() > Self::LENGTH_MAX {
            return Err(MalformedReason::TooLong);
        }
        // People write lines; whatever else is invisible comes from no keyboard.
        if text.chars().any(|one| one.is_control() && !matches!(one, '\n' | '\r' | '\t')) {
            return Err(MalformedReason::Control);
        }
        Ok(Self(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_bounded_text() {
        let longest = "ü".repeat(ReportReason::LENGTH_MAX);
        for good in ["", "It asks for my bank's password.\r\n\tReally.", longest.as_str()] {
            assert!(good.parse::<ReportReason>().is_ok(), "{good}");
        }
        assert_eq!(format!("{longest}x").parse::<ReportReason>(), Err(MalformedReason::TooLong));
        for bad in ["\0", "a\u{1b}[0m", "a\u{85}b"] {
            assert_eq!(bad.parse::<ReportReason>(), Err(MalformedReason::Control), "{bad:?}");
        }
    }
}
