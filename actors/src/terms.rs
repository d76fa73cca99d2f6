//! The settings of every ledger, and the errors of a settlement.

use std::time::Duration;

use domain::{Chance, Clock, Tariff};
use store::Outage;

/// What every ledger goes by.
#[derive(Clone, Debug)]
pub struct LedgerTerms {
    pub tariff: Tariff,
    pub chance: Chance,
    pub clock: Clock,
    /// An actor that nobody asks leaves after this long.
    pub idle_after: Duration,
}

impl LedgerTerms {
    pub const IDLE_AFTER: Duration = Duration::from_secs(60);
}

/// Why a deed was not settled. In every case it is safe to hand the same deed in again.
#[derive(Clone, Debug, thiserror::Error)]
pub enum LedgerError {
    #[error("the database is out: {error}")]
    Outage { of: Outage, error: String },
    #[error("a deed could not be settled: {0}")]
    Bug(String),
    #[error("the ledger did not answer in time; the deed may have been settled")]
    Unknown,
}
