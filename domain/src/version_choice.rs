//! A version as a request names it: by its number, or as the live one.

use std::str::FromStr;

/// A version of an artifact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VersionChoice {
    #[default]
    Live,
    /// Its `seq`, which may not exist.
    Numbered(u32),
}

/// The message follows the name of the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be the number of a version, or live")]
pub struct MalformedVersionChoice;

impl VersionChoice {
    pub const PATTERN: &'static str = "^(live|[1-9][0-9]{0,8})$";

    const NUMBER_LENGTH_MAX: usize = 9;
}

impl FromStr for VersionChoice {
    type Err = MalformedVersionChoice;

    fn from_str(text: &str) -> Result<Self, MalformedVersionChoice> {
        if text == "live" {
            return Ok(Self::Live);
        }
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
        if !is_number || text.len() > Self::NUMBER_LENGTH_MAX {
            return Err(MalformedVersionChoice);
        }
        text.parse().map(Self::Numbered).map_err(|_| MalformedVersionChoice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_is_a_number_or_live() {
        for (text, choice) in [
            ("live", VersionChoice::Live),
            ("1", VersionChoice::Numbered(1)),
            ("999999999", VersionChoice::Numbered(999_999_999)),
        ] {
            assert_eq!(text.parse(), Ok(choice), "{text}");
        }
        for text in ["", "0", "01", "-1", "+1", "1.0", " 1", "1000000000", "Live", "v1", "latest"] {
            assert_eq!(text.parse::<VersionChoice>(), Err(MalformedVersionChoice), "{text}");
        }
    }
}
