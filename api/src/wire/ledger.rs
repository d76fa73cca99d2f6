//! Movements of credit as callers see them.

use poem_openapi::Object;

use super::{Timestamp, Usd};

/// A movement of the account's credit.
#[derive(Debug, Object)]
pub struct LedgerEntry {
    /// The number of the entry on the account. Entries are numbered from 1 in the order in which they were written.
    pub id: String,
    pub created_at: Timestamp,
    /// Micro-dollars; 1 USD is 1,000,000. Negative for a charge.
    pub delta_micro: i64,
    pub delta_usd: Usd,
    /// What the money moved for, such as `publish:<version id>` or `topup-dev:<id>`. It occurs once per account.
    pub reason: String,
    /// The balance after the entry.
    pub balance_usd: Usd,
}

impl From<domain::LedgerEntry> for LedgerEntry {
    fn from(entry: domain::LedgerEntry) -> Self {
        Self {
            id: entry.seq.to_string(),
            created_at: entry.created_at.into(),
            delta_micro: entry.delta.get(),
            delta_usd: entry.delta.into(),
            reason: entry.reason,
            balance_usd: entry.balance_after.into(),
        }
    }
}
