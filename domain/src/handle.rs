//! The handle of an account: `acct_` and random characters. It identifies the account, and people see it if
//! the account has no name.

use crate::Chance;

const PREFIX: &str = "acct_";
const LENGTH_MAX: usize = 64;
const RANDOM_LENGTH: usize = 12;

pub(crate) fn new_handle(chance: &Chance) -> String {
    format!("{PREFIX}{}", chance.base36(RANDOM_LENGTH))
}

/// Whether a text could be the handle of an account.
pub fn is_handle(text: &str) -> bool {
    text.strip_prefix(PREFIX).is_some_and(|random| {
        (1..=LENGTH_MAX).contains(&random.len()) && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}
