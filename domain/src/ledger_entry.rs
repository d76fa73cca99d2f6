//! A movement of an account's balance, as people see it. The balance is the sum of all of them.

use crate::{Micro, Time};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerEntry {
    /// Its number on the account, from 1.
    pub seq: i64,
    pub delta: Micro,
    /// What moved it: see [`Reason`](crate::Reason).
    pub reason: String,
    pub balance_after: Micro,
    pub created_at: Time,
}
