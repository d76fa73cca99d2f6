//! A person's username. A `Username` is always in its stored form, so that two spellings of a name cannot
//! become two users.

use std::fmt;
use std::str::FromStr;

use crate::Refusal;

/// A username: `^[a-z0-9][a-z0-9_-]{2,29}$`. Uppercase letters are converted to lowercase.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Username(String);

impl Username {
    pub const PATTERN: &'static str = "^[a-z0-9][a-z0-9_-]{2,29}$";
    const LENGTHS: std::ops::RangeInclusive<usize> = 3..=30;

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a username")]
pub struct MalformedUsername;

impl From<MalformedUsername> for Refusal {
    fn from(_: MalformedUsername) -> Self {
        Refusal::invalid(
            "username",
            format!("must match {}; uppercase letters are converted to lowercase", Username::PATTERN),
        )
    }
}

impl FromStr for Username {
    type Err = MalformedUsername;

    fn from_str(text: &str) -> Result<Self, MalformedUsername> {
        let name = text.to_ascii_lowercase();
        let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let is_well_formed = Self::LENGTHS.contains(&name.len())
            && name.bytes().all(|byte| is_plain(byte) || byte == b'_' || byte == b'-')
            && name.bytes().next().is_some_and(is_plain);
        is_well_formed.then_some(Self(name)).ok_or(MalformedUsername)
    }
}

impl fmt::Display for Username {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn username_is_stored_in_lowercase() {
        for (written, kept) in [("ada", "ada"), ("Ada_L-1815", "ada_l-1815"), ("0-0", "0-0")] {
            assert_eq!(written.parse::<Username>().unwrap().as_str(), kept);
        }
        assert!("a".repeat(30).parse::<Username>().is_ok());
    }

    #[test]
    fn malformed_username_error_names_the_field() {
        let long = "a".repeat(31);
        for malformed in
            ["", "ab", &long, "-ada", "_ada", "a da", "ada ", "ada.l", "ädä", "ada\n", "\u{212a}ate"]
        {
            assert_eq!(malformed.parse::<Username>(), Err(MalformedUsername), "{malformed:?}");
        }
        let refusal = Refusal::from(MalformedUsername);
        assert_eq!(refusal.code(), "invalid_request");
        assert!(refusal.message().starts_with("username: "), "{refusal}");
    }
}
