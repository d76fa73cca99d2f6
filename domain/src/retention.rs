//! How many versions of an artifact are kept, or for how many days. Older ones are deleted by the cleanup.

use serde::{Deserialize, Serialize};

/// The rule of an artifact or an account. Without any setting, every version is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retention {
    /// The newest versions that are kept.
    pub versions_kept: Option<u32>,
    /// Versions that were published within this many days are kept.
    pub versions_days: Option<u32>,
}

/// A change of the settings. `None` leaves a setting unchanged, `Some(None)` turns it off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RetentionChange {
    pub versions_kept: Option<Option<u32>>,
    pub versions_days: Option<Option<u32>>,
}

impl Retention {
    /// The limit of either setting.
    pub const MOST: u32 = 10_000;

    /// Whether every version is kept.
    pub fn is_off(&self) -> bool {
        *self == Self::default()
    }

    /// The rule that applies to an artifact with this rule of its own. The two are never mixed.
    pub fn or(self, of_account: Self) -> Self {
        if self.is_off() { of_account } else { self }
    }
}

impl RetentionChange {
    pub fn is_empty(self) -> bool {
        self == Self::default()
    }

    pub fn of(self, before: Retention) -> Retention {
        Retention {
            versions_kept: self.versions_kept.unwrap_or(before.versions_kept),
            versions_days: self.versions_days.unwrap_or(before.versions_days),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn artifact_with_a_rule_of_its_own_ignores_that_of_the_account() {
        let of_account = Retention { versions_kept: Some(5), versions_days: Some(7) };
        let own = Retention { versions_kept: Some(2), versions_days: None };
        assert_eq!(own.or(of_account), own);
        assert_eq!(Retention::default().or(of_account), of_account);
    }

    #[test]
    fn change_sets_turns_off_or_keeps_each_setting() {
        let before = Retention { versions_kept: Some(5), versions_days: Some(7) };
        let change = RetentionChange { versions_kept: Some(None), versions_days: None };
        assert_eq!(change.of(before), Retention { versions_kept: None, versions_days: Some(7) });
        let change = RetentionChange { versions_kept: None, versions_days: Some(Some(1)) };
        assert_eq!(change.of(before), Retention { versions_kept: Some(5), versions_days: Some(1) });
    }
}
