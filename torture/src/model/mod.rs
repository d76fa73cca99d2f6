//! What clients know: what they asked for and what they were told. Nothing in here may look at the program.

pub mod account;
pub mod allowance;
pub mod files;
pub mod site;
pub mod state;
pub mod team;

use std::sync::atomic::{AtomicU64, Ordering};

/// A moment in the order in which clients ask and are answered.
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

/// A sum of money in millionths of a dollar, as the ledger counts.
pub type Micro = i64;

/// What a publish beyond the allowance costs, and a month off public.
pub const PUBLISH_MICRO: Micro = 5_000;
pub const HIDDEN_MICRO: Micro = 500_000;

/// A number of dollars from the wire.
pub fn micro(usd: f64) -> Micro {
    (usd * 1e6).round() as Micro
}
