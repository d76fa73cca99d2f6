//! The suspension of an account by an operator, and the check whether an account can be changed.

use std::str::FromStr;

use crate::{MalformedReason, Refusal, RulingNote, Time};

/// An operator's suspension of an account. A suspended account is read-only, and its pages are not served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suspension {
    pub at: Time,
    pub reason: SuspensionReason,
}

/// Why an account is suspended. The account's people and agents can read it, so it is limited in length and
/// never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuspensionReason(String);

impl SuspensionReason {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for SuspensionReason {
    type Err = MalformedReason;

    fn from_str(text: &str) -> Result<Self, MalformedReason> {
        let text = text.trim();
        if text.is_empty() {
            return Err(MalformedReason::Empty);
        }
        text.parse::<RulingNote>().map(|bounded| Self(bounded.as_str().to_owned()))
    }
}

/// Spec 3.1: from `expires_at` on, writes fail and pages return 410. Without that time, nothing expires.
pub fn has_expired(expires_at: Option<Time>, now: Time) -> bool {
    expires_at.is_some_and(|expires_at| now >= expires_at)
}

/// Refuses a write to an account that is suspended or, by spec 5.7, has expired.
pub fn must_take_writes(
    suspension: Option<&Suspension>,
    expires_at: Option<Time>,
    now: Time,
) -> Result<(), Refusal> {
    if suspension.is_some() {
        return Err(Refusal::AccountSuspended);
    }
    if has_expired(expires_at, now) { Err(Refusal::AccountExpired) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suspended_account_refuses_writes_even_when_it_has_expired_too() {
        let now = Time::from_millis(1_000);
        let suspension = Suspension { at: now, reason: "Phishing".parse().unwrap() };
        assert_eq!(must_take_writes(None, None, now), Ok(()));
        assert_eq!(must_take_writes(None, Some(now), now), Err(Refusal::AccountExpired));
        for expires_at in [None, Some(now)] {
            assert_eq!(must_take_writes(Some(&suspension), expires_at, now), Err(Refusal::AccountSuspended));
        }
    }

    #[test]
    fn suspension_reason_is_trimmed_and_has_length_limits() {
        let read = str::parse::<SuspensionReason>;
        assert_eq!(read("  Phishing.\nSee the mail. ").unwrap().as_str(), "Phishing.\nSee the mail.");
        assert_eq!(read(" \n"), Err(MalformedReason::Empty));
        assert_eq!(read("a\0b"), Err(MalformedReason::Control));
        assert_eq!(read(&"x".repeat(RulingNote::LENGTH_MAX + 1)), Err(MalformedReason::TooLong));
    }
}
