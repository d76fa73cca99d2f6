//! The ids that the service assigns, and the hashes of contents. An id that must be the same when work is
//! repeated (a scan, a fire time) is derived, not random.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use ulid::Ulid;

use crate::{Chance, Time};

/// ULIDs with a type of their own: they sort by time, and one type cannot be used as another.
macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(into = "String", try_from = "String")]
        pub struct $name(Ulid);

        impl $name {
            pub fn new(now: Time, chance: &Chance) -> Self {
                Self(chance.ulid(now))
            }

            pub const fn from_ulid(ulid: Ulid) -> Self {
                Self(ulid)
            }

            pub const fn ulid(self) -> Ulid {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = MalformedId;

            fn from_str(text: &str) -> Result<Self, MalformedId> {
                Ulid::from_string(text).map(Self).map_err(|_| MalformedId)
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> String {
                id.to_string()
            }
        }

        impl TryFrom<String> for $name {
            type Error = MalformedId;

            fn try_from(text: String) -> Result<Self, MalformedId> {
                text.parse()
            }
        }
    )+};
}

ids! {
    AccountId,
    ArtifactId,
    VersionId,
    TokenId,
    UserId,
    ReportId,
    AppealId,
    /// A decision on a version. The newest has the highest id.
    DecisionId,
    /// An entry of the audit log. The newest has the highest id.
    AuditId,
    /// Files that an agent uploads before it publishes them.
    UploadId,
    /// An object with several small contents.
    BundleId,
    /// A job's id, under which its outcome is stored, so that a redelivery changes nothing.
    JobId,
}

impl From<VersionId> for JobId {
    /// A publish has the id of its version.
    fn from(version: VersionId) -> Self {
        Self(version.0)
    }
}

impl From<VersionId> for BundleId {
    /// A publish writes one bundle at most, under the id of its version, so a redelivered job finds it.
    fn from(version: VersionId) -> Self {
        Self(version.0)
    }
}

impl BundleId {
    /// The lowest id of a moment. Ids sort by the time of their creation.
    pub fn first_at(time: Time) -> Self {
        Self(Ulid::from_parts(u64::try_from(time.millis()).unwrap_or(0), 0))
    }

    /// The publish that writes a bundle of this name. A repacked bundle has none.
    pub const fn job(self) -> JobId {
        JobId(self.0)
    }
}

impl JobId {
    /// The time of creation, by the clock of the process that created it.
    pub fn created_at(self) -> Time {
        Time::from_millis(i64::try_from(self.0.timestamp_ms()).unwrap_or(i64::MAX))
    }

    /// The scan after a publish: as unique as the version, and different from the publish's id.
    pub const fn of_scan(version: VersionId) -> Self {
        Self(Ulid(version.0.0 ^ 1))
    }

    /// The rescans of a version. There is only one at a time.
    pub const fn of_rescan(version: VersionId) -> Self {
        Self(Ulid(version.0.0 ^ 2))
    }

    /// The job of a schedule's fire time. Every process that fires it derives the same id.
    pub fn of_slot(schedule: &str, slot: Time) -> Self {
        let digest: [u8; 32] = Sha256::digest(format!("{schedule}@{}", slot.millis())).into();
        let random = digest[..16].iter().fold(0_u128, |id, byte| id << 8 | u128::from(*byte));
        Self(Ulid::from_parts(u64::try_from(slot.millis()).unwrap_or(0), random))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an id")]
pub struct MalformedId;

/// The SHA-256 of a file's bytes, which is its address in the blob store.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct BlobHash([u8; 32]);

impl BlobHash {
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// A hash in a request. It has one notation, the one in responses: lower-case hexadecimal.
    pub fn of_request(text: &str) -> Result<Self, MalformedId> {
        let hash: Self = text.parse()?;
        if hash.to_string() == text { Ok(hash) } else { Err(MalformedId) }
    }

    pub const fn bytes(self) -> [u8; 32] {
        self.0
    }
}

/// Hashes a content that arrives in pieces.
#[derive(Clone, Default)]
pub struct BlobHasher(Sha256);

impl BlobHasher {
    pub fn take(&mut self, piece: &[u8]) {
        self.0.update(piece);
    }

    pub fn finish(self) -> BlobHash {
        BlobHash(self.0.finalize().into())
    }
}

impl fmt::Display for BlobHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for BlobHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for BlobHash {
    type Err = MalformedId;

    fn from_str(text: &str) -> Result<Self, MalformedId> {
        let mut bytes = [0; 32];
        hex::decode_to_slice(text, &mut bytes).map_err(|_| MalformedId)?;
        Ok(Self(bytes))
    }
}

impl From<BlobHash> for String {
    fn from(hash: BlobHash) -> String {
        hash.to_string()
    }
}

impl TryFrom<String> for BlobHash {
    type Error = MalformedId;

    fn try_from(text: String) -> Result<Self, MalformedId> {
        text.parse()
    }
}
