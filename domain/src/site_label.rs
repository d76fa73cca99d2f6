//! The name in a site's address: that of its host, or of one version of it.
//!
//! A host ends with a dash and 4 characters, and a version's name with a dash and 8 more, so the length of
//! the last part tells them apart whatever the slug is.

use std::fmt;
use std::str::FromStr;

use crate::Host;
use crate::slug::MalformedName;

/// The last part of a version's name, which only the service can compute: 8 base36 characters.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct VersionTag([u8; VersionTag::LENGTH]);

/// `<host>`, or `<host>-<tag>` for one version.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SiteLabel {
    pub host: Host,
    /// `None`: whichever version is live.
    pub version: Option<VersionTag>,
}

const BASE36: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";

impl VersionTag {
    const LENGTH: usize = 8;

    /// The last base36 digits of a keyed hash, which are about 41 bits.
    pub(crate) fn of_hash(mut hash: u64) -> Self {
        Self(std::array::from_fn(|_| {
            let digit = BASE36[(hash % 36) as usize];
            hash /= 36;
            digit
        }))
    }

    fn as_str(&self) -> &str {
        str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl SiteLabel {
    /// The longest label, which is shorter than the 63 characters that DNS allows.
    pub const LENGTH_MAX: usize = Host::LENGTH_MAX + 1 + VersionTag::LENGTH;
}

impl From<Host> for SiteLabel {
    fn from(host: Host) -> Self {
        Self { host, version: None }
    }
}

impl FromStr for VersionTag {
    type Err = MalformedName;

    fn from_str(text: &str) -> Result<Self, MalformedName> {
        let tag: [u8; Self::LENGTH] = text.as_bytes().try_into().map_err(|_| MalformedName)?;
        tag.iter().all(|byte| BASE36.contains(byte)).then_some(Self(tag)).ok_or(MalformedName)
    }
}

impl FromStr for SiteLabel {
    type Err = MalformedName;

    fn from_str(text: &str) -> Result<Self, MalformedName> {
        let version = text.rsplit_once('-').and_then(|(host, tag)| {
            let version = Some(tag.parse().ok()?);
            Some(Self { host: host.parse().ok()?, version })
        });
        version.map_or_else(|| Ok(text.parse::<Host>()?.into()), Ok)
    }
}

impl fmt::Display for VersionTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for VersionTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("VersionTag(…)")
    }
}

impl fmt::Display for SiteLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.version {
            None => write!(f, "{}", self.host),
            Some(tag) => write!(f, "{}-{tag}", self.host),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Chance, Slug};

    fn label(text: &str) -> SiteLabel {
        text.parse().unwrap()
    }

    #[test]
    fn length_of_the_last_part_tells_versions_from_hosts() {
        assert_eq!(label("my-page-a1b2"), SiteLabel::from("my-page-a1b2".parse::<Host>().unwrap()));
        let version = label("my-page-a1b2-0z9y8x7w");
        assert_eq!(version.host.as_str(), "my-page-a1b2");
        assert_eq!(version.version.unwrap().to_string(), "0z9y8x7w");
        assert_eq!(version.to_string(), "my-page-a1b2-0z9y8x7w");
    }

    #[test]
    fn host_of_any_slug_is_never_taken_for_a_version() {
        let chance = Chance::seeded(1);
        for slug in ["abc", "---", "page-a1b2c3d4", "a1b2-a1b2c3d4", "-a1b2c3d4-", "a1b2c3d4"] {
            let slug: Slug = slug.parse().unwrap();
            for _ in 0..100 {
                let host = Host::generate(&slug, &chance);
                assert_eq!(label(host.as_str()), host.clone().into());
                assert_eq!(label(&format!("{host}-a1b2c3d4")).host, host);
            }
        }
    }

    #[test]
    fn label_of_a_version_of_the_longest_slug_fits_into_dns() {
        let slug: Slug = "a".repeat(40).parse().unwrap();
        let host = Host::generate(&slug, &Chance::seeded(1));
        let label = SiteLabel { host, version: Some(VersionTag::of_hash(u64::MAX)) };
        assert_eq!(label.to_string().len(), SiteLabel::LENGTH_MAX);
        assert_eq!(SiteLabel::LENGTH_MAX, 54);
        assert_eq!(label.to_string().parse(), Ok(label));
    }

    #[test]
    fn malformed_tags_are_not_versions() {
        for text in ["my-page-a1b2-A1B2C3D4", "my-page-a1b2-a1b2c3d4e", "my_page-a1b2-a1b2c3d4", ""] {
            assert!(text.parse::<SiteLabel>().map_or(true, |label| label.version.is_none()), "{text}");
        }
    }
}
