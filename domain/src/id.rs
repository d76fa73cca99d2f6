//! The ids that the service gives out, and the hashes that address contents. Ids that must survive a repeat (of a
//! scan, of a slot) are derived, never drawn.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use ulid::Ulid;

use crate::{Chance, Time};

/// Ids are ULIDs of a type of their own: they sort by time and cannot be taken for one another.
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
    /// A decision on a version; the newest is the greatest.
    DecisionId,
    /// An entry of the audit trail; the newest is the greatest.
    AuditId,
    /// Files that an agent puts at an address before it publishes them.
    UploadId,
    /// A job's own id: the key under which its outcome is kept, so that a redelivery changes nothing.
    JobId,
}

impl From<VersionId> for JobId {
    /// A publish is known by the version that it makes.
    fn from(version: VersionId) -> Self {
        Self(version.0)
    }
}

impl JobId {
    /// When it was made, by the clock of the process that made it.
    pub fn created_at(self) -> Time {
        Time::from_millis(i64::try_from(self.0.timestamp_ms()).unwrap_or(i64::MAX))
    }

    /// The scan that follows a publish: as unique as the version, and told apart from the publish itself.
    pub const fn of_scan(version: VersionId) -> Self {
        Self(Ulid(version.0.0 ^ 1))
    }

    /// The scans of a version after its first: one at a time, however many ask for it.
    pub const fn of_rescan(version: VersionId) -> Self {
        Self(Ulid(version.0.0 ^ 2))
    }

    /// A schedule's firing for a slot: every process that fires it makes the same id.
    pub fn of_slot(schedule: &str, slot: Time) -> Self {
        let digest: [u8; 32] = Sha256::digest(format!("{schedule}@{}", slot.millis())).into();
        let random = digest[..16].iter().fold(0_u128, |id, byte| id << 8 | u128::from(*byte));
        Self(Ulid::from_parts(u64::try_from(slot.millis()).unwrap_or(0), random))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an id")]
pub struct MalformedId;

/// The SHA-256 of a file's bytes: its address in the blob store.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct BlobHash([u8; 32]);

impl BlobHash {
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }
}

/// Makes the hash of a content that comes in pieces.
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
