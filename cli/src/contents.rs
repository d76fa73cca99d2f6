//! Copies contents from one blob store to another: page by page, streamed, each checked against its hash.
//! Bundles are copied whole.

use std::collections::BTreeSet;

use anyhow::{Context, ensure};
use domain::{BlobHash, BundleId};
use futures::{StreamExt, TryStreamExt};
use store::{Blobs, Copied, CopiedBundle, KnownBlob, Store};

use crate::progress::{Progress, size};

const PAGE: u64 = 500;
const COPIES_AT_ONCE: usize = 8;
/// Each is in memory, with up to 64 contents of 64 KiB and their encodings.
const BUNDLES_AT_ONCE: usize = 4;
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

impl CopiedContents {
    fn add_lost(&mut self, lost: impl IntoIterator<Item = BlobHash>) -> anyhow::Result<()> {
        self.lost.extend(lost);
        ensure!(
            self.lost.len() <= LOST_MAX,
            "more than {LOST_MAX} contents are missing or damaged: does this storage belong to the database?"
        );
        Ok(())
    }
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
        let Some(last) = page.last() else { break };
        after = Some(last.hash);
        let alone = page.into_iter().filter(|blob| blob.bundled.is_none());
        let copies = alone.map(|blob| copy_one(blob, from, to, if_there));
        let mut copies = futures::stream::iter(copies).buffer_unordered(COPIES_AT_ONCE);
        while let Some((hash, size_bytes)) = copies.try_next().await? {
            match size_bytes {
                Some(size_bytes) => {
                    copied.contents += 1;
                    copied.bytes += size_bytes;
                }
                None => copied.add_lost([hash])?,
            }
            progress.print(|| format!("{} contents, {}", copied.contents, size(copied.bytes)));
        }
    }
    copy_bundles(known, from, to, &mut copied, &mut progress).await?;
    Ok(copied)
}

/// Copies the bundles that have contents. Bundles in the target are checked and kept: their names are never
/// used for other objects.
async fn copy_bundles(
    known: &Store,
    from: &Blobs,
    to: &Blobs,
    copied: &mut CopiedContents,
    progress: &mut Progress,
) -> anyhow::Result<()> {
    let mut after = None;
    loop {
        let page = known.blob_index().list_bundles(after, PAGE).await?;
        let Some(last) = page.last() else { return Ok(()) };
        after = Some(*last);
        let copies = page.into_iter().map(|id| copy_bundle(known, id, from, to));
        let mut copies = futures::stream::iter(copies).buffer_unordered(BUNDLES_AT_ONCE);
        while let Some((contents, bundle)) = copies.try_next().await? {
            copied.contents += contents - bundle.lost.len() as u64;
            copied.bytes += bundle.size_bytes;
            copied.add_lost(bundle.lost)?;
            progress.print(|| format!("{} contents, {}", copied.contents, size(copied.bytes)));
        }
    }
}

/// Returns how many contents of the bundle are known.
async fn copy_bundle(
    known: &Store,
    id: BundleId,
    from: &Blobs,
    to: &Blobs,
) -> anyhow::Result<(u64, CopiedBundle)> {
    let contents = known.blob_index().list_in_bundle(id).await?;
    let copied =
        from.copy_bundle(id, &contents, to).await.with_context(|| format!("copy the bundle {id}"))?;
    Ok((contents.len() as u64, copied))
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
