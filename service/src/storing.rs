//! Stores the files of a publish: each content that is not stored yet, small ones together in a bundle.

use std::collections::HashMap;

use anyhow::Context;
use bytes::Bytes;
use domain::{
    BlobHash, BundleId, Manifest, ManifestFile, SitePath, SweepNumber, VersionId, WrittenBundle,
    content_type_of,
};
use futures::{StreamExt, TryStreamExt};
use store::{
    BUNDLE_CONTENTS_MAX, BUNDLED_BYTES_MAX, ChangeResult, KnownBlob, Layout, NewContent, StoredBlobs,
    StoredBundle,
};

use crate::Service;
use crate::compute::compute;

/// Blobs of one publish that are stored concurrently.
const PUTS_AT_ONCE: usize = 8;
/// A single content keeps its own object, which needs no index and no repacking.
const BUNDLE_CONTENTS_MIN: usize = 2;

/// Small contents are compressed in several parts per core, so that no core waits long for another one.
const PARTS_PER_CORE: usize = 4;
/// The compression of this many bytes takes about a millisecond, much longer than its start on another
/// thread.
const PART_BYTES_MIN: usize = 16 * 1024;

/// The files of a publish, stored.
pub(crate) struct StoredFiles {
    pub(crate) manifest: Manifest,
    /// The bundle of this publish, from this attempt or an earlier one.
    pub(crate) bundle: Option<WrittenBundle>,
    /// The sweep number at which the locations were read.
    pub(crate) blobs_as_of: SweepNumber,
}

/// What is known about earlier attempts of a publish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attempt {
    First,
    /// An earlier attempt may have stored some or all contents.
    Again,
    /// An earlier attempt was settled and refused, so the publish's bundle may have been swept.
    AfterRefusal,
}

/// A content that is not stored yet.
#[derive(Clone)]
struct MissingContent {
    hash: BlobHash,
    bytes: Bytes,
    content_type: String,
}

/// The contents of a publish while they are stored.
struct Storing {
    /// The publish's total size.
    total_bytes: u64,
    stored: HashMap<BlobHash, KnownBlob>,
    missing: Vec<MissingContent>,
}

impl Service {
    /// Stores each content that is not stored yet, and returns the locations of all files.
    pub(crate) async fn store_files(
        &self,
        version: VersionId,
        files: Vec<(SitePath, Bytes)>,
        attempt: Attempt,
    ) -> ChangeResult<StoredFiles> {
        let total_bytes = files.iter().map(|(_, bytes)| bytes.len() as u64).sum();
        let hash = move || {
            files.into_iter().map(|(path, bytes)| (path, BlobHash::of(&bytes), bytes)).collect::<Vec<_>>()
        };
        let hashed = compute(total_bytes, hash).await.context("hash the files")?;
        let mut missing = distinct(&hashed);
        let hashes: Vec<BlobHash> = missing.iter().map(|content| content.hash).collect();
        let StoredBlobs { as_of, found: mut stored, lost } =
            self.0.store.blob_index().find_stored(&hashes, self.0.clock.now()).await?;
        // Before anything new is stored, so that a refusal leaves no object without a row that refers to it.
        stored.extend(self.restore_lost(&lost, &hashed).await?);
        missing.retain(|content| !stored.contains_key(&content.hash));
        let mut storing = Storing { total_bytes, stored, missing };
        let bundle = self.store_in_bundle(version.into(), &mut storing, attempt).await?;
        self.store_alone(&mut storing).await?;
        let manifest = manifest_of(hashed, &storing.stored)?;
        Ok(StoredFiles { manifest, bundle, blobs_as_of: as_of })
    }

    /// Stores the small contents in one object. If an earlier attempt has written the object, perhaps with
    /// other contents, it is used unchanged. It is recorded even if none of its contents are used, so that a
    /// sweep finds it. No bundle is written after a refusal: its name must not be used for another object.
    async fn store_in_bundle(
        &self,
        id: BundleId,
        storing: &mut Storing,
        attempt: Attempt,
    ) -> anyhow::Result<Option<WrittenBundle>> {
        if attempt != Attempt::First
            && let Some(earlier) = self.earlier_bundle(id).await?
        {
            return Ok(Some(storing.take(earlier)));
        }
        let is_small = |content: &&MissingContent| content.bytes.len() as u64 <= BUNDLED_BYTES_MAX;
        let small: Vec<MissingContent> =
            storing.missing.iter().filter(is_small).take(BUNDLE_CONTENTS_MAX).cloned().collect();
        // Processes of an older release cannot read bundles.
        let is_readable = self.0.board.is_format_shared();
        let is_wanted = self.0.rules.are_bundles_written && is_readable && attempt != Attempt::AfterRefusal;
        if !is_wanted || small.len() < BUNDLE_CONTENTS_MIN {
            return Ok(None);
        }
        let contents = self.compress_all(small, storing.total_bytes).await?;
        let bundle = match self.0.blobs.put_bundle(id, &contents).await? {
            Some(bundle) => bundle,
            None => self.earlier_bundle(id).await?.context("a bundle was swept; try again")?,
        };
        Ok(Some(storing.take(bundle)))
    }

    async fn earlier_bundle(&self, id: BundleId) -> anyhow::Result<Option<StoredBundle>> {
        self.0.store.blob_index().claim_bundle(id, self.0.clock.now()).await?;
        self.0.blobs.bundle(id).await
    }

    async fn compress_all(
        &self,
        contents: Vec<MissingContent>,
        total_bytes: u64,
    ) -> anyhow::Result<Vec<NewContent>> {
        let parts = parts_of(contents, self.0.publish_bounds.cores()).into_iter().map(|part| async move {
            let permit = self.0.publish_bounds.compression_permit(total_bytes).await?;
            let compress = move || {
                let _permit = permit;
                part.into_iter().map(MissingContent::compress).collect::<anyhow::Result<Vec<_>>>()
            };
            compute(total_bytes, compress).await.context("compress files")?
        });
        Ok(futures::future::try_join_all(parts).await?.concat())
    }

    /// Stores each of the other contents in its own object.
    async fn store_alone(&self, storing: &mut Storing) -> anyhow::Result<()> {
        let total_bytes = storing.total_bytes;
        let puts = std::mem::take(&mut storing.missing).into_iter().map(|content| async move {
            let permit = self.0.publish_bounds.compression_permit(total_bytes).await?;
            let compress = move || {
                let _permit = permit;
                content.compress()
            };
            let NewContent { hash, bytes, layout } =
                compute(total_bytes, compress).await.context("compress a file")??;
            let size_bytes = bytes.len() as u64;
            let variants = self.0.blobs.put(hash, bytes, layout).await?;
            anyhow::Ok(KnownBlob { hash, size_bytes, variants, bundled: None })
        });
        let put: Vec<KnownBlob> =
            futures::stream::iter(puts).buffer_unordered(PUTS_AT_ONCE).try_collect().await?;
        storing.stored.extend(put.into_iter().map(|blob| (blob.hash, blob)));
        Ok(())
    }
}

impl Storing {
    /// Uses the contents of a bundle that are not stored elsewhere.
    fn take(&mut self, bundle: StoredBundle) -> WrittenBundle {
        for blob in bundle.contents {
            let missing = self.missing.iter().position(|content| content.hash == blob.hash);
            if let Some(position) = missing {
                self.missing.swap_remove(position);
                self.stored.insert(blob.hash, blob);
            }
        }
        bundle.written
    }
}

impl MissingContent {
    fn compress(self) -> anyhow::Result<NewContent> {
        let layout = Layout::of(&self.bytes, &self.content_type)?;
        Ok(NewContent { hash: self.hash, bytes: self.bytes, layout })
    }
}

/// The contents of the files, each once.
fn distinct(files: &[(SitePath, BlobHash, Bytes)]) -> Vec<MissingContent> {
    let mut seen = std::collections::HashSet::new();
    let files = files.iter().filter(|(_, hash, _)| seen.insert(*hash));
    let content = |(path, hash, bytes): &(SitePath, BlobHash, Bytes)| MissingContent {
        hash: *hash,
        bytes: bytes.clone(),
        content_type: content_type_of(path),
    };
    files.map(content).collect()
}

/// Divides contents into parts of about the same size.
fn parts_of(contents: Vec<MissingContent>, cores: usize) -> Vec<Vec<MissingContent>> {
    let total_bytes: usize = contents.iter().map(|content| content.bytes.len()).sum();
    let part_bytes = total_bytes.div_ceil(cores * PARTS_PER_CORE).max(PART_BYTES_MIN);
    let mut parts: Vec<Vec<MissingContent>> = vec![];
    let mut room = 0;
    for content in contents {
        let bytes = content.bytes.len();
        match parts.last_mut() {
            Some(part) if room > 0 => part.push(content),
            _ => {
                parts.push(vec![content]);
                room = part_bytes;
            }
        }
        room = room.saturating_sub(bytes);
    }
    parts
}

fn manifest_of(
    files: Vec<(SitePath, BlobHash, Bytes)>,
    stored: &HashMap<BlobHash, KnownBlob>,
) -> anyhow::Result<Manifest> {
    let file = |(path, hash, bytes): (SitePath, BlobHash, Bytes)| {
        let blob = stored.get(&hash).context("a content of a publish is not stored")?;
        Ok(ManifestFile {
            content_type: content_type_of(&path),
            size_bytes: bytes.len() as u64,
            variants: blob.variants.clone(),
            bundled: blob.bundled,
            path,
            hash,
        })
    };
    Ok(Manifest::new(files.into_iter().map(file).collect::<anyhow::Result<_>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(sizes: &[usize], cores: usize) -> Vec<usize> {
        let content = |size: &usize| MissingContent {
            hash: BlobHash::of(&[]),
            bytes: vec![0; *size].into(),
            content_type: String::new(),
        };
        parts_of(sizes.iter().map(content).collect(), cores).iter().map(Vec::len).collect()
    }

    #[test]
    fn contents_are_divided_by_their_sizes() {
        assert_eq!(counts(&[], 2), [0; 0]);
        assert_eq!(counts(&[4_096; 10], 2), [4, 4, 2]);
        assert_eq!(counts(&[4_096; 50], 2), [7, 7, 7, 7, 7, 7, 7, 1]);
        assert_eq!(counts(&[60_000; 4], 2), [1; 4]);
        assert_eq!(counts(&[100, 60_000, 100, 100], 2), [2, 2]);
        assert_eq!(counts(&[60_000; 64], 2), [8; 8]);
    }
}
