//! Proof Key for Code Exchange (RFC 7636), with `S256` only.

use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// The hash of the verifier that the client sends when it exchanges the code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeChallenge(String);

impl CodeChallenge {
    pub const METHOD: &'static str = "S256";
    /// 32 bytes in base64url.
    const LENGTH: usize = 43;
    const VERIFIER_LENGTH: std::ops::RangeInclusive<usize> = 43..=128;

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is the challenge of the verifier.
    pub fn is_met_by(&self, verifier: &str) -> bool {
        let is_unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        if !Self::VERIFIER_LENGTH.contains(&verifier.len()) || !verifier.bytes().all(is_unreserved) {
            return false;
        }
        let expected = URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()));
        bool::from(expected.as_bytes().ct_eq(self.0.as_bytes()))
    }
}

impl FromStr for CodeChallenge {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        let fits = text.len() == Self::LENGTH && text.bytes().all(is_base64);
        fits.then(|| Self(text.to_owned())).ok_or(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 7636, appendix B.
    const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
    const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

    #[test]
    fn challenge_of_rfc_7636_appendix_b_is_met_by_its_verifier() {
        assert!(CHALLENGE.parse::<CodeChallenge>().unwrap().is_met_by(VERIFIER));
    }

    #[test]
    fn challenge_is_not_met_by_any_other_verifier() {
        let challenge: CodeChallenge = CHALLENGE.parse().unwrap();
        let other = VERIFIER.replace('d', "e");
        let long = "a".repeat(129);
        // The last one is the method `plain`.
        for verifier in ["", "short", &other, &long, &VERIFIER[1..], &format!("{VERIFIER} "), CHALLENGE] {
            assert!(!challenge.is_met_by(verifier), "{verifier}");
        }
    }

    #[test]
    fn malformed_challenges_are_rejected() {
        let padded = format!("{CHALLENGE}=");
        for bad in ["", &CHALLENGE[1..], &padded, &CHALLENGE.replace('-', "+"), &"ü".repeat(43)] {
            assert!(bad.parse::<CodeChallenge>().is_err(), "{bad}");
        }
    }
}
