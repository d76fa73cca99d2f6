//! One ledger actor per account: the only writer of money and allowance.
//!
//! An actor only provides order. It collects waiting operations and settles them in one transaction,
//! together with those of other accounts. The truth is the locked account row, and the outcome that is stored
//! with each operation. So two processes with an actor for the same account stay correct, and an operation
//! that is sent twice settles once.

mod commits;
mod ledger;
mod ledgers;
mod terms;

pub use ledgers::Ledgers;
pub use terms::{LedgerError, LedgerTerms};

#[cfg(test)]
mod tests;
