//! The settings of every ledger, and the errors of a settlement.

use std::time::Duration;

use domain::{Chance, Clock, Tariff};
use store::Outage;

/// The settings of every ledger.
#[derive(Clone, Debug)]
pub struct LedgerTerms {
    pub tariff: Tariff,
    pub chance: Chance,
    pub clock: Clock,
    /// An actor stops after this long without operations.
    pub idle_after: Duration,
}

impl LedgerTerms {
    pub const IDLE_AFTER: Duration = Duration::from_secs(60);
}

/// Why an operation was not settled. It is always safe to send the same operation again.
#[derive(Clone, Debug, thiserror::Error)]
pub enum LedgerError {
    #[error("the database is unavailable: {error}")]
    Outage { of: Outage, error: String },
    #[error("an operation could not be settled: {0}")]
    Bug(String),
    #[error("the ledger did not reply in time; the operation may have been settled")]
    Unknown,
}
