//! A change of an account's balance, as people see it. The balance is the sum of all entries.

use crate::{Micro, Time};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerEntry {
    /// The entry's number within the account, from 1.
    pub seq: i64,
    pub delta: Micro,
    /// Why the balance changed: see [`Reason`](crate::Reason).
    pub reason: String,
    pub balance_after: Micro,
    pub created_at: Time,
}
