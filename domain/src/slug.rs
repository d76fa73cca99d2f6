//! The two names of an artifact: its slug within the account, and its host within the installation. A host is
//! random and may be taken; the database ensures that it is unique.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Chance;

/// The name of an artifact within its account: `^[a-z0-9-]{3,40}$`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Slug(String);

impl Slug {
    pub const PATTERN: &'static str = "^[a-z0-9-]{3,40}$";

    /// A slug for a publish without one.
    pub fn generate(chance: &Chance) -> Self {
        Self(format!("page-{}", chance.base36(8)))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The name of an artifact in the installation: `<slug>-<4 base36 characters>`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Host(String);

impl Host {
    pub const PATTERN: &'static str = "^[a-z0-9-]{8,45}$";
    pub const LENGTH_MAX: usize = 45;

    pub fn generate(slug: &Slug, chance: &Chance) -> Self {
        Self(format!("{slug}-{}", chance.base36(4)))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it can be a label of a DNS name. Resolvers refuse a dash at either end, and browsers decode
    /// names that begin with `xn--` as Unicode.
    pub fn is_dns_label(&self) -> bool {
        !self.0.starts_with('-') && !self.0.ends_with('-') && !self.0.starts_with("xn--")
    }
}

/// A slug or a host. Their forms overlap, so only existing artifacts can tell which one it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArtifactName(String);

impl ArtifactName {
    pub const PATTERN: &'static str = "^[a-z0-9-]{3,45}$";

    pub fn as_host(&self) -> Option<Host> {
        self.0.parse().ok()
    }

    pub fn as_slug(&self) -> Option<Slug> {
        self.0.parse().ok()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("malformed name")]
pub struct MalformedName;

fn is_name(text: &str, lengths: std::ops::RangeInclusive<usize>) -> bool {
    lengths.contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
}

impl FromStr for Slug {
    type Err = MalformedName;

    fn from_str(text: &str) -> Result<Self, MalformedName> {
        is_name(text, 3..=40).then(|| Self(text.to_owned())).ok_or(MalformedName)
    }
}

impl FromStr for Host {
    type Err = MalformedName;

    fn from_str(text: &str) -> Result<Self, MalformedName> {
        is_name(text, 8..=Self::LENGTH_MAX).then(|| Self(text.to_owned())).ok_or(MalformedName)
    }
}

impl FromStr for ArtifactName {
    type Err = MalformedName;

    fn from_str(text: &str) -> Result<Self, MalformedName> {
        is_name(text, 3..=Host::LENGTH_MAX).then(|| Self(text.to_owned())).ok_or(MalformedName)
    }
}

macro_rules! text_conversions {
    ($($name:ident),+) => {$(
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> String {
                name.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = MalformedName;

            fn try_from(text: String) -> Result<Self, MalformedName> {
                text.parse()
            }
        }
    )+};
}

text_conversions!(Slug, Host);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_has_three_to_forty_lowercase_letters_digits_or_dashes() {
        let longest = "a".repeat(40);
        for good in ["abc", "a-1", "---", longest.as_str()] {
            assert!(good.parse::<Slug>().is_ok(), "{good}");
        }
        let too_long = "a".repeat(41);
        for bad in ["ab", too_long.as_str(), "Abc", "a_b", "a b", "añb", ""] {
            assert!(bad.parse::<Slug>().is_err(), "{bad}");
        }
    }

    #[test]
    fn artifact_name_can_be_a_slug_or_a_host_or_both() {
        let name = |text: &str| text.parse::<ArtifactName>().unwrap();
        assert!(name("abc").as_slug().is_some() && name("abc").as_host().is_none());
        assert!(name("my-page-a1b2").as_slug().is_some() && name("my-page-a1b2").as_host().is_some());
        let longest = "a".repeat(Host::LENGTH_MAX);
        assert!(name(&longest).as_slug().is_none() && name(&longest).as_host().is_some());
        for bad in ["ab", "My-Page", &"a".repeat(Host::LENGTH_MAX + 1)] {
            assert!(bad.parse::<ArtifactName>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_host_is_the_slug_and_four_base36_characters() {
        let slug: Slug = "my-page".parse().unwrap();
        let host = Host::generate(&slug, &Chance::seeded(1));
        let tail = host.as_str().strip_prefix("my-page-").unwrap();
        assert_eq!(tail.len(), 4);
        assert!(host.as_str().parse::<Host>().is_ok());
    }
}
