//! An account with its use of the current month.

use crate::tariff::BillingState;
use crate::{Account, AccountStatus, Month, StoredBytes};

/// An account's usage in one month.
#[derive(Clone, Copy, Debug, Default)]
pub struct MonthlyUse {
    /// Publishes that count against the claimed allowance.
    pub publishes: u64,
    pub views: u64,
}

/// An account with its usage this month, as in `GET /v1/account` and `GET /v1/usage`.
#[derive(Clone, Debug)]
pub struct AccountSummary {
    pub account: Account,
    pub month: Month,
    pub used: MonthlyUse,
    pub restricted_artifacts: u64,
    pub stored: StoredBytes,
}

impl AccountSummary {
    /// Spec 2.7: the publishes that count against the allowance.
    pub fn publishes_used(&self) -> u64 {
        match self.account.status {
            AccountStatus::Provisional => self.account.provisional_publishes,
            AccountStatus::Claimed => self.used.publishes,
        }
    }

    pub fn standing(&self) -> BillingState {
        BillingState {
            status: self.account.status,
            balance: self.account.balance,
            publishes_used: self.publishes_used(),
        }
    }
}
