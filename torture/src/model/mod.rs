//! The clients' knowledge: their requests and the responses. Nothing in here may read from the program.

pub mod account;
pub mod addresses;
pub mod allowance;
pub mod files;
pub mod site;
pub mod state;
pub mod team;

use std::sync::atomic::{AtomicU64, Ordering};

/// A position in the order of requests and responses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(u64);

impl Moment {
    pub fn now() -> Self {
        static LATEST: AtomicU64 = AtomicU64::new(1);
        Self(LATEST.fetch_add(1, Ordering::SeqCst))
    }

    #[cfg(test)]
    pub fn at(number: u64) -> Self {
        Self(number)
    }
}

/// An amount of money in millionths of a dollar, as in the ledger.
pub type Micro = i64;

/// The prices of a publish beyond the allowance, and of a month of unlisted or private visibility.
pub const PUBLISH_MICRO: Micro = 5_000;
pub const HIDDEN_MICRO: Micro = 500_000;

/// Converts an amount in dollars from a response.
pub fn micro(usd: f64) -> Micro {
    (usd * 1e6).round() as Micro
}
