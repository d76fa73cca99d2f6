//! One ledger actor per account: the only writer of money and allowance.
//!
//! An actor holds order, not truth. It gathers the deeds that wait and has them settled in one transaction, together with
//! those of other accounts where some wait; truth is the locked account row and the outcome written with each deed. So two
//! processes with an actor for the same account stay correct, and a deed that is handed in twice settles once.

mod commits;
mod ledger;
mod office;
mod terms;

pub use office::Ledgers;
pub use terms::{LedgerError, LedgerTerms};

#[cfg(test)]
mod tests;
