//! The keys that sign links and upload tickets.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::Host;

/// The secret that is the operator's, and that signs whatever the service alone may have said. It never shows itself.
#[derive(Clone)]
pub struct SigningKey(Secret);

/// The secret that signs private links, and nothing else. It never shows itself.
#[derive(Clone)]
pub struct LinkKey(Secret);

#[derive(Clone)]
struct Secret(Vec<u8>);

impl SigningKey {
    pub fn new(secret: &str) -> Self {
        Self(Secret(secret.as_bytes().to_vec()))
    }

    /// An HMAC-SHA256 of a text, in hex. Texts of different kinds must never be alike.
    pub(crate) fn authenticate(&self, text: &str) -> String {
        self.0.authenticate(text)
    }

    /// Whether somebody knows the secret itself: the operator does. What is compared are hashes of one length, so the
    /// time that it takes tells nothing.
    pub fn is_known_to(&self, offered: &[u8]) -> bool {
        bool::from(Sha256::digest(&self.0.0).ct_eq(&Sha256::digest(offered)))
    }
}

impl LinkKey {
    const SIGNATURE_HEX_LENGTH: usize = 16;

    pub fn new(secret: &str) -> Self {
        Self(Secret(secret.as_bytes().to_vec()))
    }

    /// `sig`: the first 16 hex characters of an HMAC-SHA256 of the host.
    pub fn signature(&self, host: &Host) -> String {
        let mut signature = self.0.authenticate(host.as_str());
        signature.truncate(Self::SIGNATURE_HEX_LENGTH);
        signature
    }

    pub fn verifies(&self, host: &Host, signature: &str) -> bool {
        let expected = self.signature(host);
        expected.len() == Self::SIGNATURE_HEX_LENGTH
            && bool::from(expected.as_bytes().ct_eq(signature.as_bytes()))
    }
}

impl Secret {
    fn authenticate(&self, text: &str) -> String {
        // An HMAC takes a key of any length; the error of this constructor cannot occur.
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.0) else { return String::new() };
        mac.update(text.as_bytes());
        hex::encode(mac.finalize().into_bytes())
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
