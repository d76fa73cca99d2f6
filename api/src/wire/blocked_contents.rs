//! The list of blocked content in responses.

use domain::BlobHash;
use poem_openapi::Object;

use super::Timestamp;

/// One page of the blocked content.
#[derive(Debug, Object)]
pub struct BlockedContents {
    /// The files, newest first.
    pub items: Vec<BlockedContent>,
    /// The `after` of the next page. Null on the last page.
    #[oai(nullable)]
    pub next: Option<String>,
}

/// A file that no new version may contain.
#[derive(Debug, Object)]
pub struct BlockedContent {
    /// The SHA-256 of the content.
    pub sha256: String,
    /// Its path on the blocked page.
    pub file: String,
    pub size_bytes: u64,
    /// The host of the blocked page.
    pub host: String,
    /// The moderator who blocked the page.
    pub blocked_by: String,
    pub blocked_at: Timestamp,
    /// The number of live versions that contain it, blocked or not.
    pub live_versions: u64,
}

/// A file that was removed from the list.
#[derive(Debug, Object)]
pub struct ContentUnblocked {
    pub sha256: String,
    /// Always true.
    pub unblocked: bool,
}

impl From<service::BlockedContentList> for BlockedContents {
    fn from(list: service::BlockedContentList) -> Self {
        Self {
            items: list.contents.into_iter().map(BlockedContent::from).collect(),
            next: list.next.map(|cursor| cursor.to_string()),
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
