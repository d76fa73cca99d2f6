//! Copies contents from one blob store to another: page by page, streamed, each checked against its hash.

use std::collections::BTreeSet;

use anyhow::{Context, ensure};
use domain::BlobHash;
use futures::{StreamExt, TryStreamExt};
use store::{Blobs, Copied, KnownBlob, Store};

use crate::progress::{Progress, size};

const PAGE: u64 = 500;
const COPIES_AT_ONCE: usize = 8;
/// With more losses, the blob store probably does not belong to the database.
const LOST_MAX: usize = 10_000;

/// What to do about a content that is already in the target with the right size.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum IfThere {
    Keep,
    Replace,
}

#[derive(Debug, Default)]
pub(crate) struct CopiedContents {
    pub(crate) contents: u64,
    /// Including encodings.
    pub(crate) bytes: u64,
    /// Contents that the source does not have or has damaged.
    pub(crate) lost: BTreeSet<BlobHash>,
}

/// Copies every content that the store knows.
pub(crate) async fn copy(
    known: &Store,
    from: &Blobs,
    to: &Blobs,
    if_there: IfThere,
) -> anyhow::Result<CopiedContents> {
    let (mut copied, mut progress) = (CopiedContents::default(), Progress::begin());
    let mut after = None;
    loop {
        let page = known.blob_index().list(after, PAGE).await?;
        let Some(last) = page.last() else { return Ok(copied) };
        after = Some(last.hash);
        let copies = page.into_iter().map(|blob| copy_one(blob, from, to, if_there));
        let mut copies = futures::stream::iter(copies).buffer_unordered(COPIES_AT_ONCE);
        while let Some((hash, size_bytes)) = copies.try_next().await? {
            match size_bytes {
                Some(size_bytes) => {
                    copied.contents += 1;
                    copied.bytes += size_bytes;
                }
                None => drop(copied.lost.insert(hash)),
            }
            progress.print(|| format!("{} contents, {}", copied.contents, size(copied.bytes)));
        }
        ensure!(
            copied.lost.len() <= LOST_MAX,
            "more than {LOST_MAX} contents are missing or damaged: does this storage belong to the database?"
        );
    }
}

/// The size of the content's object, or `None` if it is lost.
async fn copy_one(
    blob: KnownBlob,
    from: &Blobs,
    to: &Blobs,
    if_there: IfThere,
) -> anyhow::Result<(BlobHash, Option<u64>)> {
    if if_there == IfThere::Keep && to.size_of_blob(blob.hash).await? == Some(blob.object_bytes()) {
        return Ok((blob.hash, Some(blob.object_bytes())));
    }
    let copied =
        from.copy_blob(&blob, to).await.with_context(|| format!("copy the content {}", blob.hash))?;
    let size_bytes = match copied {
        Copied::Whole { size_bytes, .. } => Some(size_bytes),
        Copied::Missing | Copied::Damaged => None,
    };
    Ok((blob.hash, size_bytes))
}

/// The hosts that a lost content affects, in one line.
pub(crate) async fn harm_of(store: &Store, hash: BlobHash) -> anyhow::Result<String> {
    let harmed = store.integrity().list_harmed_by(hash).await?;
    Ok(crate::scrub::harm_text(&harmed))
}
