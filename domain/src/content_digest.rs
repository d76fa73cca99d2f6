//! The SHA-1 of a content, by which the deploy protocol of Netlify names files. It only tells which of an
//! account's own contents a client means; contents are stored by their SHA-256.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha1::{Digest, Sha1};

use crate::MalformedId;

/// The SHA-1 of a content.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct ContentDigest([u8; 20]);

/// Digests a content that arrives in pieces.
#[derive(Clone, Default)]
pub struct ContentDigester(Sha1);

impl ContentDigest {
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha1::digest(bytes).into())
    }
}

impl ContentDigester {
    pub fn take(&mut self, piece: &[u8]) {
        self.0.update(piece);
    }

    pub fn finish(self) -> ContentDigest {
        ContentDigest(self.0.finalize().into())
    }
}

impl fmt::Display for ContentDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for ContentDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for ContentDigest {
    type Err = MalformedId;

    fn from_str(text: &str) -> Result<Self, MalformedId> {
        let mut bytes = [0; 20];
        hex::decode_to_slice(text, &mut bytes).map_err(|_| MalformedId)?;
        Ok(Self(bytes))
    }
}

impl From<ContentDigest> for String {
    fn from(digest: ContentDigest) -> String {
        digest.to_string()
    }
}

impl TryFrom<String> for ContentDigest {
    type Error = MalformedId;

    fn try_from(text: String) -> Result<Self, MalformedId> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digest_is_that_of_the_content() {
        let digest = ContentDigest::of(b"<h1>n</h1>\n");
        assert_eq!(digest.to_string(), "6c4a0d21c305e7397bedf660bfd70cd563431b4e");
        assert_eq!(digest.to_string().parse(), Ok(digest));
        let mut pieces = ContentDigester::default();
        pieces.take(b"<h1>n");
        pieces.take(b"</h1>\n");
        assert_eq!(pieces.finish(), digest);
        for bad in ["", "6c4a", "zz4a0d21c305e7397bedf660bfd70cd563431b4e"] {
            assert_eq!(bad.parse::<ContentDigest>(), Err(MalformedId), "{bad}");
        }
    }
}
