//! The keys that sign links and upload tickets.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::{ArtifactId, Host, LinkGeneration, VersionTag};

/// The operator's secret. It also signs whatever only the service may issue. It is never printed.
#[derive(Clone)]
pub struct SigningKey(Secret);

/// The secret that signs private links and names the versions of sites, and nothing else. It is never
/// printed.
#[derive(Clone)]
pub struct LinkKey(Secret);

#[derive(Clone)]
struct Secret(Vec<u8>);

impl SigningKey {
    pub fn new(secret: &str) -> Self {
        Self(Secret(secret.as_bytes().to_vec()))
    }

    /// An HMAC-SHA256 of a text, in hex. Texts for different purposes must never be equal.
    pub(crate) fn authenticate(&self, text: &str) -> String {
        self.0.authenticate(text)
    }

    /// A text with its signature in front, for a client to keep. `purpose` says what the text is for.
    pub fn sign(&self, purpose: &str, text: &str) -> String {
        format!("{}.{text}", self.authenticate(&signable(purpose, text)))
    }

    /// The text behind a signature that [`Self::sign`] made for the same purpose.
    pub fn verified<'t>(&self, purpose: &str, signed: &'t str) -> Option<&'t str> {
        let (signature, text) = signed.split_once('.')?;
        let expected = self.authenticate(&signable(purpose, text));
        bool::from(expected.as_bytes().ct_eq(signature.as_bytes())).then_some(text)
    }

    /// Whether this is the secret, which only the operator knows. Hashes of equal length are compared in
    /// constant time.
    pub fn is_known_to(&self, offered: &[u8]) -> bool {
        bool::from(Sha256::digest(&self.0.0).ct_eq(&Sha256::digest(offered)))
    }
}

fn signable(purpose: &str, text: &str) -> String {
    format!("kept:{purpose}\0{text}")
}

impl LinkKey {
    const SIGNATURE_HEX_LENGTH: usize = 16;

    pub fn new(secret: &str) -> Self {
        Self(Secret(secret.as_bytes().to_vec()))
    }

    /// `sig`: the first 16 hex characters of an HMAC-SHA256 of the host, and of the generation of a link that
    /// was replaced.
    pub fn signature(&self, host: &Host, generation: LinkGeneration) -> String {
        let mut signature = match generation {
            LinkGeneration::FIRST => self.0.authenticate(host.as_str()),
            // No host contains this separator, so this text is never another host or the name of a version.
            later => self.0.authenticate(&format!("link\0{host}\0{}", later.number())),
        };
        signature.truncate(Self::SIGNATURE_HEX_LENGTH);
        signature
    }

    pub fn verifies(&self, host: &Host, generation: LinkGeneration, signature: &str) -> bool {
        let expected = self.signature(host, generation);
        expected.len() == Self::SIGNATURE_HEX_LENGTH
            && bool::from(expected.as_bytes().ct_eq(signature.as_bytes()))
    }

    /// The last part of a version's name. Without the key, the name of a staged version cannot be guessed.
    pub fn version_tag(&self, artifact: ArtifactId, seq: u32) -> VersionTag {
        // No host contains this separator, so no `sig` authenticates the same text.
        let hash = self.0.hash(&format!("version\0{artifact}\0{seq}"));
        let first = hash.first_chunk().copied().unwrap_or_default();
        VersionTag::of_hash(u64::from_be_bytes(first))
    }

    /// The `seq` of the version with this tag, up to the newest. It computes the tags of all versions, newest
    /// first.
    pub fn seq_of(&self, tag: VersionTag, artifact: ArtifactId, newest: u32) -> Option<u32> {
        (1..=newest).rev().find(|seq| self.version_tag(artifact, *seq) == tag)
    }
}

impl Secret {
    fn authenticate(&self, text: &str) -> String {
        hex::encode(self.hash(text))
    }

    fn hash(&self, text: &str) -> Vec<u8> {
        // An HMAC accepts a key of any length, so this cannot fail.
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.0) else { return Vec::new() };
        mac.update(text.as_bytes());
        mac.finalize().into_bytes().to_vec()
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningKey(…)")
    }
}

impl fmt::Debug for LinkKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LinkKey(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signed_text_is_verified_for_its_purpose_only() {
        let key = SigningKey::new("a secret");
        let signed = key.sign("one", "text.with.dots");
        assert_eq!(key.verified("one", &signed), Some("text.with.dots"));
        for (purpose, signed) in
            [("other", signed.as_str()), ("one", &format!("{signed}x")), ("one", "text"), ("one", ".text")]
        {
            assert_eq!(key.verified(purpose, signed), None, "{purpose} {signed}");
        }
        assert_eq!(SigningKey::new("another").verified("one", &signed), None);
    }
}
