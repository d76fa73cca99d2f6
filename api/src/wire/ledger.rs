//! Ledger entries in responses.

use poem_openapi::Object;

use super::{Timestamp, Usd};

/// A movement of the account's credit.
#[derive(Debug, Object)]
pub struct LedgerEntry {
    /// The number of the entry within the account. Entries are numbered from 1 in the order in which they
    /// were written.
    pub id: String,
    pub created_at: Timestamp,
    /// The amount in micro-dollars; 1,000,000 are 1 USD. Negative for a charge.
    pub delta_micro: i64,
    pub delta_usd: Usd,
    /// What the money was for, such as `publish:<version id>` or `topup-dev:<id>`. Unique within the account.
    pub reason: String,
    /// The balance after this entry.
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
