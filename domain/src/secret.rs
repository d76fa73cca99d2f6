//! Bearer tokens, and the hashes of secrets. Only hashes are stored; a token must never be serialized or
//! logged.

use std::fmt;
use std::str::FromStr;

use crc::{CRC_32_ISO_HDLC, Crc};
use sha2::{Digest, Sha256};

use crate::Chance;

/// The hash under which a secret (token, session) is stored. The secrets are random and long, so one round is
/// enough.
pub fn hash_secret(secret: &str) -> String {
    hex::encode(Sha256::digest(secret.as_bytes()))
}

/// A bearer token as its owner has it: `svc_sk_` and 32 alphanumeric characters. It is shown once and never
/// stored.
///
/// The last 6 characters of a new token are a checksum of the 26 before them, so that a secret scanner can
/// tell a token from a string that only looks like one. Authentication does not verify it, because older
/// tokens have none.
#[derive(Clone, PartialEq, Eq)]
pub struct TokenSecret(String);

impl TokenSecret {
    pub const PREFIX: &'static str = "svc_sk_";
    /// The length of a whole token in bytes.
    pub const LENGTH: usize = Self::PREFIX.len() + Self::TAIL_LENGTH;
    const TAIL_LENGTH: usize = 32;
    const CHECKSUM_LENGTH: usize = 6;
    /// How much of the random part is stored, so that an owner recognizes the token. The rest is still far too
    /// long to be guessed.
    const SHOWN_LENGTH: usize = 4;

    pub fn generate(chance: &Chance) -> Self {
        let random = chance.alphanumeric(Self::TAIL_LENGTH - Self::CHECKSUM_LENGTH);
        Self(format!("{}{random}{}", Self::PREFIX, checksum(&random)))
    }

    pub fn hash(&self) -> String {
        hash_secret(&self.0)
    }

    /// The beginning of the secret, as lists show it.
    pub fn start(&self) -> String {
        self.0.chars().take(Self::PREFIX.len() + Self::SHOWN_LENGTH).collect()
    }

    /// The secret itself, for the only response that shows it.
    pub fn reveal(self) -> String {
        self.0
    }
}

impl FromStr for TokenSecret {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let tail = text.strip_prefix(Self::PREFIX).ok_or(())?;
        let well_formed = tail.len() == Self::TAIL_LENGTH && tail.bytes().all(|b| b.is_ascii_alphanumeric());
        well_formed.then(|| Self(text.to_owned())).ok_or(())
    }
}

impl fmt::Debug for TokenSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenSecret(…)")
    }
}

/// The CRC-32 (ISO-HDLC) of a text in base 62, most significant digit first, padded with zeros.
fn checksum(text: &str) -> String {
    const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut rest = Crc::<u32>::new(&CRC_32_ISO_HDLC).checksum(text.as_bytes()) as usize;
    let mut digits = ['0'; TokenSecret::CHECKSUM_LENGTH];
    for digit in digits.iter_mut().rev() {
        *digit = char::from(DIGITS[rest % DIGITS.len()]);
        rest /= DIGITS.len();
    }
    digits.iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_is_prefix_and_32_alphanumerics_and_not_shown_in_debug_output() {
        let secret = TokenSecret::generate(&Chance::seeded(3));
        assert!(!format!("{secret:?}").contains("svc_sk_"));
        let text = secret.clone().reveal();
        assert_eq!(text.len(), 39);
        assert_eq!(text.parse(), Ok(secret));
        assert!("svc_sk_short".parse::<TokenSecret>().is_err());
    }
    // The vectors of docs/SECURITY.md.
    #[test]
    fn the_last_six_characters_of_a_new_token_are_the_checksum_of_those_before() {
        assert_eq!(checksum("0123456789abcdefghijABCDEF"), "2bdCaS");
        assert_eq!(checksum("AAAAAAAAAAAAAAAAAAAAAAAAAA"), "0HTix5");
        let token = TokenSecret::generate(&Chance::seeded(4)).reveal();
        let (random, end) = token[TokenSecret::PREFIX.len()..].split_at(26);
        assert_eq!(checksum(random), end);
    }

    #[test]
    fn token_with_a_wrong_checksum_is_still_a_token() {
        assert!(format!("svc_sk_{}", "a".repeat(32)).parse::<TokenSecret>().is_ok());
    }
}
