//! The list of contents that no new version may bring, as the operator's programs see it.

use domain::BlobHash;
use poem_openapi::Object;

use super::Timestamp;

/// One page of the list.
#[derive(Debug, Object)]
pub struct BlockedContents {
    /// The newest first.
    pub items: Vec<BlockedContent>,
    /// The `after` of the next page; null when this is the last.
    #[oai(nullable)]
    pub next: Option<String>,
}

/// A content that no new version may bring.
#[derive(Debug, Object)]
pub struct BlockedContent {
    /// The SHA-256 of the content.
    pub sha256: String,
    /// The path that it had on the page that was blocked.
    pub file: String,
    pub size_bytes: u64,
    /// The page that was blocked.
    pub host: String,
    /// The moderator who blocked it.
    pub blocked_by: String,
    pub blocked_at: Timestamp,
    /// Live versions that hold it, blocked or not.
    pub live_versions: u64,
}

/// A content that is off the list.
#[derive(Debug, Object)]
pub struct ContentUnblocked {
    pub sha256: String,
    /// Always true.
    pub unblocked: bool,
}

impl From<service::BlockedContentList> for BlockedContents {
    fn from(shown: service::BlockedContentList) -> Self {
        Self {
            items: shown.contents.into_iter().map(BlockedContent::from).collect(),
            next: shown.next.map(|place| place.to_string()),
        }
    }
}

impl From<service::BlockedContent> for BlockedContent {
    fn from(content: service::BlockedContent) -> Self {
        Self {
            sha256: content.hash.to_string(),
            file: content.path,
            size_bytes: content.size_bytes,
            host: content.host.to_string(),
            blocked_by: content.blocked_by,
            blocked_at: content.blocked_at.into(),
            live_versions: content.live_versions,
        }
    }
}

impl From<BlobHash> for ContentUnblocked {
    fn from(hash: BlobHash) -> Self {
        Self { sha256: hash.to_string(), unblocked: true }
    }
}
