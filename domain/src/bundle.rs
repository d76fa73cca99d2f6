//! Bundles: objects of the blob store that hold several small contents.

use serde::{Deserialize, Serialize};

use crate::BundleId;

/// The location of a content in a bundle. The plain bytes begin at the offset, and the variants follow them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BundledAt {
    pub bundle: BundleId,
    pub offset_bytes: u64,
}

/// A bundle that a publish has written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrittenBundle {
    pub id: BundleId,
    pub size_bytes: u64,
}
