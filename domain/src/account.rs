//! An account in its two states, and the only check for expiry. Expiry must never be stored as a flag: it
//! depends on a time and the clock.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::handle::new_handle;
use crate::{
    AccountId, AccountName, Chance, Day, Micro, Refusal, Retention, Suspension, Time, must_take_writes,
};

/// An account's state. "Expired" is not a state: it follows from `expires_at` and the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AccountStatus {
    Provisional,
    Claimed,
}

impl AccountStatus {
    pub fn as_str(self) -> &'static str {
        match self {
            AccountStatus::Provisional => "provisional",
            AccountStatus::Claimed => "claimed",
        }
    }
}

/// An account. Its claim code is a credential and is never printed by `Debug`.
#[derive(Clone)]
pub struct Account {
    pub id: AccountId,
    pub handle: String,
    pub name: Option<AccountName>,
    pub status: AccountStatus,
    pub expires_at: Option<Time>,
    pub claim_code: String,
    pub balance: Micro,
    pub allow_agent_join: bool,
    /// All publishes while provisional, which count against the allowance.
    pub provisional_publishes: u64,
    pub storage_bytes: u64,
    pub created_at: Time,
    pub suspension: Option<Suspension>,
    /// The rule for artifacts without one of their own.
    pub retention: Retention,
}

impl Account {
    const CLAIM_CODE_LENGTH: usize = 32;

    /// What people see it as: its name, or else its handle.
    pub fn label(&self) -> &str {
        self.name.as_ref().map_or(&self.handle, AccountName::as_str)
    }

    /// A new account after a signup (spec 3.1).
    pub fn provisional(now: Time, lifetime: Duration, chance: &Chance) -> Self {
        Self {
            id: AccountId::new(now, chance),
            handle: new_handle(chance),
            name: None,
            status: AccountStatus::Provisional,
            expires_at: Some(now.plus(lifetime)),
            claim_code: Self::claim_code(chance),
            balance: Micro::ZERO,
            allow_agent_join: true,
            provisional_publishes: 0,
            storage_bytes: 0,
            created_at: now,
            suspension: None,
            retention: Retention::default(),
        }
    }

    /// Refuses a write while the account is suspended or has expired.
    pub fn must_take_writes(&self, now: Time) -> Result<(), Refusal> {
        must_take_writes(self.suspension.as_ref(), self.expires_at, now)
    }

    /// A new claim code, too long to guess.
    pub fn claim_code(chance: &Chance) -> String {
        chance.alphanumeric(Self::CLAIM_CODE_LENGTH)
    }

    /// Whether a text has the format of a claim code. Anything else cannot be one.
    pub fn is_claim_code(text: &str) -> bool {
        text.len() == Self::CLAIM_CODE_LENGTH && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
    }
}

impl fmt::Debug for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, handle, status, expires_at, balance, .. } = self;
        f.debug_struct("Account")
            .field("id", id)
            .field("handle", handle)
            .field("status", status)
            .field("expires_at", expires_at)
            .field("balance", balance)
            .finish_non_exhaustive()
    }
}

/// An account's usage on one day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DayUse {
    pub day: Day,
    pub publishes: u64,
    pub views: u64,
}

/// The bytes that an account stores, and those of the accounts that its owner claimed earlier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoredBytes {
    pub own: u64,
    /// The free storage is per owner. The accounts use it in the order in which they were claimed.
    pub claimed_earlier: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claim_code_is_not_shown_in_debug_output() {
        let account = Account::provisional(Time::from_millis(0), Duration::ZERO, &Chance::seeded(1));
        let shown = format!("{account:?}");
        assert!(shown.contains(&account.handle) && !shown.contains(&account.claim_code), "{shown}");
    }
}
