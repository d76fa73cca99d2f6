//! Refresh tokens, and the codes that people type. Neither is ever stored or logged, only their hashes.

use std::fmt;
use std::str::FromStr;

use subtle::ConstantTimeEq;

use crate::{Chance, hash_secret};

/// A refresh token: `svc_rt_`, the part that all refresh tokens of a grant share, and the part that changes
/// with each use. With the shared part, a token that was used before is recognized without storing it.
#[derive(Clone, PartialEq, Eq)]
pub struct RefreshToken {
    family: String,
    generation: String,
}

impl RefreshToken {
    pub const PREFIX: &'static str = "svc_rt_";
    /// The length of a whole refresh token in bytes.
    pub const LENGTH: usize = Self::PREFIX.len() + 2 * Self::PART_LENGTH;
    const PART_LENGTH: usize = 32;

    /// The first refresh token of a grant.
    pub fn generate(chance: &Chance) -> Self {
        let part = || chance.alphanumeric(Self::PART_LENGTH);
        Self { family: part(), generation: part() }
    }

    /// The next refresh token of the same grant.
    #[must_use]
    pub fn next(&self, chance: &Chance) -> Self {
        Self { family: self.family.clone(), generation: chance.alphanumeric(Self::PART_LENGTH) }
    }

    pub fn family_hash(&self) -> String {
        hash_secret(&self.family)
    }

    pub fn generation_hash(&self) -> String {
        hash_secret(&self.generation)
    }

    /// Whether this is the token with the hash, and not an earlier one of the same grant.
    pub fn is_current(&self, generation_hash: &str) -> bool {
        bool::from(self.generation_hash().as_bytes().ct_eq(generation_hash.as_bytes()))
    }

    /// The secret itself, for the only response that shows it.
    pub fn reveal(self) -> String {
        format!("{}{}{}", Self::PREFIX, self.family, self.generation)
    }
}

impl FromStr for RefreshToken {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let parts = text.strip_prefix(Self::PREFIX).ok_or(())?;
        let fits = parts.len() == 2 * Self::PART_LENGTH && parts.bytes().all(|b| b.is_ascii_alphanumeric());
        let (family, generation) = parts.split_at_checked(Self::PART_LENGTH).filter(|_| fits).ok_or(())?;
        Ok(Self { family: family.to_owned(), generation: generation.to_owned() })
    }
}

impl fmt::Debug for RefreshToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RefreshToken(…)")
    }
}

/// The code that a person compares or types to sign in another device (RFC 8628). It has no vowels, so that
/// it forms no words, and no characters that look alike.
#[derive(Clone, PartialEq, Eq)]
pub struct UserCode(String);

impl UserCode {
    const LETTERS: &'static [u8; 20] = b"BCDFGHJKLMNPQRSTVWXZ";
    const LENGTH: usize = 8;

    pub fn generate(chance: &Chance) -> Self {
        Self(chance.letters(Self::LETTERS, Self::LENGTH))
    }

    pub fn hash(&self) -> String {
        hash_secret(&self.0)
    }
}

impl FromStr for UserCode {
    type Err = ();

    /// Case, dashes and spaces do not matter.
    fn from_str(text: &str) -> Result<Self, ()> {
        let letters: String = text
            .chars()
            .filter(|one| !matches!(one, '-' | ' '))
            .map(|one| one.to_ascii_uppercase())
            .take(Self::LENGTH + 1)
            .collect();
        let fits = letters.len() == Self::LENGTH && letters.bytes().all(|b| Self::LETTERS.contains(&b));
        fits.then_some(Self(letters)).ok_or(())
    }
}

/// With a dash in the middle.
impl fmt::Display for UserCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, second) = self.0.split_at(Self::LENGTH / 2);
        write!(f, "{first}-{second}")
    }
}

impl fmt::Debug for UserCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("UserCode(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refresh_tokens_of_a_grant_share_the_family_only() {
        let chance = Chance::seeded(1);
        let first = RefreshToken::generate(&chance);
        let second = first.next(&chance);
        assert_eq!(first.family_hash(), second.family_hash());
        assert!(first.is_current(&first.generation_hash()));
        assert!(!first.is_current(&second.generation_hash()) && !first.is_current(""));
        assert_eq!(first.clone().reveal().parse(), Ok(first.clone()));
        assert_eq!(format!("{first:?}"), "RefreshToken(…)");
        let text = first.reveal();
        for bad in ["", "svc_rt_", &text[1..], &text[..70], &format!("{text}a"), &text.replace('_', "-")] {
            assert!(bad.parse::<RefreshToken>().is_err(), "{bad}");
        }
        assert!(format!("svc_rt_{}", "ü".repeat(32)).parse::<RefreshToken>().is_err());
    }

    #[test]
    fn user_code_is_read_back_however_it_is_typed() {
        let code = UserCode::generate(&Chance::seeded(1));
        let shown = code.to_string();
        assert_eq!(shown.len(), 9);
        for typed in [shown.clone(), shown.to_lowercase(), shown.replace('-', " "), format!(" {shown} ")] {
            assert_eq!(typed.parse(), Ok(code.clone()), "{typed}");
        }
        for bad in ["", "BCDF", "BCDF-GHJA", "BCDF-GHJKL", "BCDF-GHJü"] {
            assert!(bad.parse::<UserCode>().is_err(), "{bad}");
        }
    }
}
