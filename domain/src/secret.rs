//! Bearer tokens, and the hash by which a secret is known. Only the hash is ever kept; a token must never be
//! serialised or shown by `Debug`.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha256};

use crate::Chance;

/// The hash under which a secret (token, session) is kept. The secrets are random and long, so one round is enough.
pub fn hash_secret(secret: &str) -> String {
    hex::encode(Sha256::digest(secret.as_bytes()))
}

/// A bearer token as its owner holds it: `svc_sk_` and 32 alphanumeric characters. Shown once, never stored.
#[derive(Clone, PartialEq, Eq)]
pub struct TokenSecret(String);

impl TokenSecret {
    const PREFIX: &'static str = "svc_sk_";
    const LENGTH: usize = 32;

    pub fn generate(chance: &Chance) -> Self {
        Self(format!("{}{}", Self::PREFIX, chance.alphanumeric(Self::LENGTH)))
    }

    pub fn hash(&self) -> String {
        hash_secret(&self.0)
    }

    /// The secret itself, for the one answer that shows it.
    pub fn reveal(self) -> String {
        self.0
    }
}

impl FromStr for TokenSecret {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let random = text.strip_prefix(Self::PREFIX).ok_or(())?;
        let well_formed = random.len() == Self::LENGTH && random.bytes().all(|b| b.is_ascii_alphanumeric());
        well_formed.then(|| Self(text.to_owned())).ok_or(())
    }
}

impl fmt::Debug for TokenSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenSecret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_the_prefix_and_32_alphanumerics_and_never_shows_in_a_log() {
        let secret = TokenSecret::generate(&Chance::seeded(3));
        assert!(!format!("{secret:?}").contains("svc_sk_"));
        let text = secret.clone().reveal();
        assert_eq!(text.len(), 39);
        assert_eq!(text.parse(), Ok(secret));
        assert!("svc_sk_short".parse::<TokenSecret>().is_err());
    }
}
