//! The name that an owner gives an account. The handle stays its identifier.

use std::fmt;
use std::str::FromStr;

use crate::handle::is_handle;
use crate::invisible::is_invisible;

/// The name of an account: one line, shown beside the handle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountName(String);

impl AccountName {
    pub const LENGTH_MAX: usize = 60;
    /// One line that does not consist of spaces.
    pub const PATTERN: &'static str =
        r"^[^\x00-\x1F\x7F-\x9F]*[^\s\x00-\x1F\x7F-\x9F][^\x00-\x1F\x7F-\x9F]*$";

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be 1 to {} characters on one line, and must not look like a handle", AccountName::LENGTH_MAX)]
pub struct MalformedAccountName;

impl FromStr for AccountName {
    type Err = MalformedAccountName;

    fn from_str(text: &str) -> Result<Self, MalformedAccountName> {
        if text.chars().any(char::is_control) {
            return Err(MalformedAccountName);
        }
        let shown: String = text.chars().filter(|letter| !is_invisible(*letter)).collect();
        let name = shown.trim();
        let fits = name.chars().count() <= Self::LENGTH_MAX;
        // Where a name is shown, the handle is not. Joiners alone show nothing.
        let is_seen = name.chars().any(|letter| !matches!(letter, '\u{200c}' | '\u{200d}'));
        if fits && is_seen && !is_handle(name) {
            Ok(Self(name.to_owned()))
        } else {
            Err(MalformedAccountName)
        }
    }
}

impl fmt::Display for AccountName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn account_name_is_one_short_line() {
        let longest = "ü".repeat(AccountName::LENGTH_MAX);
        for (given, kept) in [
            ("Design team", "Design team"),
            ("  Möbel & Co. ", "Möbel & Co."),
            ("a\u{202e}b", "ab"),
            (&longest, &longest),
        ] {
            assert_eq!(given.parse::<AccountName>().unwrap().as_str(), kept);
        }
        for bad in [
            "",
            "  ",
            &format!("{longest}x"),
            "two\nlines",
            "a\u{1b}[0m",
            "\u{202e}",
            "\u{200b}",
            "\u{200d}",
            "acct_1a2b3c",
        ] {
            assert_eq!(bad.parse::<AccountName>(), Err(MalformedAccountName), "{bad:?}");
        }
    }
}
