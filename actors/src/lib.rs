//! One ledger actor per account: the only writer of money and allowance.
//!
//! An actor holds order, not truth. It gathers the deeds that wait and has the store settle them in one
//! transaction; truth is the locked account row and the outcome written with each deed. So two processes with an
//! actor for the same account stay correct, and a deed that is handed in twice settles once.

mod ledger;
mod office;

pub use office::{LedgerError, LedgerTerms, Ledgers};

#[cfg(test)]
mod tests;
