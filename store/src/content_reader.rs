//! Reads contents at their current location. A manifest has the location at the time of the publish. A sweep
//! may have moved the content since, and a lost content is restored in its own object. If the content is not
//! at the location in the manifest, the database is queried once for the current one.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;

use anyhow::Context;
use bytes::Bytes;
use domain::{BlobHash, BundleId, BundledAt, ManifestFile};
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use sea_orm::{EntityTrait, QuerySelect};

use crate::blob_index::bundled_at;
use crate::blobs::StorageKey;
use crate::objects::is_missing;
use crate::{Blobs, Store};

/// A content, and its last known location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContentAddress {
    pub hash: BlobHash,
    pub bundled: Option<BundledAt>,
}

/// Reads contents from the blob store. Cheap to clone.
#[derive(Clone, Debug)]
pub struct ContentReader(Arc<Sources>);

#[derive(Debug)]
struct Sources {
    store: Store,
    blobs: Blobs,
}

impl ContentReader {
    pub fn new(store: Store, blobs: Blobs) -> Self {
        Self(Arc::new(Sources { store, blobs }))
    }

    /// A part of a content and its variants.
    pub async fn read(&self, content: ContentAddress, range: Range<u64>) -> anyhow::Result<Bytes> {
        let (key, part) = content.place(&range);
        match self.0.blobs.read_range(key, part).await {
            Err(error) if is_missing(&error) => {
                let (key, part) = self.moved(content, error).await?.place(&range);
                self.0.blobs.read_range(key, part).await
            }
            Ok(bytes) if content.bundled.is_some() && may_be_erased(&bytes) => {
                self.read_unless_erased(content, range, bytes).await
            }
            read => read,
        }
    }

    /// The content of each of these files. Equal content is read once, and contents of one bundle together.
    pub async fn read_all(&self, files: &[ManifestFile]) -> anyhow::Result<Vec<Bytes>> {
        let mut read = self.read_bundled(files).await?;
        let mut contents = Vec::with_capacity(files.len());
        for file in files {
            let bytes = match read.get(&file.hash) {
                Some(bytes) => bytes.clone(),
                None => self.read(ContentAddress::of(file), 0..file.size_bytes).await?,
            };
            read.insert(file.hash, bytes.clone());
            contents.push(bytes);
        }
        Ok(contents)
    }

    /// Reads the bundles that have several of these contents, each at once. Contents that were moved or may be
    /// erased are left out.
    async fn read_bundled(&self, files: &[ManifestFile]) -> anyhow::Result<HashMap<BlobHash, Bytes>> {
        let mut read = HashMap::new();
        for (bundle, contents) in by_bundle(files).into_iter().filter(|(_, contents)| contents.len() > 1) {
            let ranges: Vec<_> = contents.values().cloned().collect();
            let parts = match self.0.blobs.read_ranges(StorageKey::Bundle(bundle), &ranges).await {
                Err(error) if is_missing(&error) => continue,
                parts => parts?,
            };
            let is_there = |bytes: &Bytes, range: &Range<u64>| {
                bytes.len() as u64 == range.end - range.start && !may_be_erased(bytes)
            };
            let found = contents.iter().zip(parts).filter(|((_, range), bytes)| is_there(bytes, range));
            read.extend(found.map(|((hash, _), bytes)| (*hash, bytes)));
        }
        Ok(read)
    }

    /// A part of a content that is zeros, or the same part from where the content is by now. The missing
    /// content of a purge is an error like any other missing content.
    async fn read_unless_erased(
        &self,
        content: ContentAddress,
        range: Range<u64>,
        zeros: Bytes,
    ) -> anyhow::Result<Bytes> {
        match self.find_current(content).await? {
            None => Err(object_store::Error::NotFound {
                path: content.hash.to_string(),
                source: "the content was erased from its bundle".into(),
            }
            .into()),
            Some(now) if now == content => Ok(zeros),
            Some(now) => {
                let (key, part) = now.place(&range);
                self.0.blobs.read_range(key, part).await
            }
        }
    }

    /// A part of a content and its variants, in chunks, at the reader's pace.
    pub async fn stream(
        &self,
        content: ContentAddress,
        range: Range<u64>,
    ) -> anyhow::Result<BoxStream<'static, std::io::Result<Bytes>>> {
        if content.bundled.is_some() {
            // Contents of bundles are small.
            let bytes = self.read(content, range).await?;
            return Ok(stream::once(async { Ok(bytes) }).boxed());
        }
        let (key, part) = content.place(&range);
        match self.0.blobs.stream_range(key, part).await {
            Err(error) if is_missing(&error) => {
                let (key, part) = self.moved(content, error).await?.place(&range);
                self.0.blobs.stream_range(key, part).await
            }
            opened => opened,
        }
    }

    /// The current location of a content. Fails with the original error if it was not moved.
    async fn moved(&self, content: ContentAddress, missing: anyhow::Error) -> anyhow::Result<ContentAddress> {
        match self.find_current(content).await? {
            Some(now) if now != content => Ok(now),
            _ => Err(missing),
        }
    }

    /// Where a content is now. `None` if it is not stored any more.
    async fn find_current(&self, content: ContentAddress) -> anyhow::Result<Option<ContentAddress>> {
        use entity::blob::Column;
        let place: Option<(Option<String>, Option<i64>)> =
            entity::blob::Entity::find_by_id(content.hash.to_string())
                .select_only()
                .columns([Column::Bundle, Column::BundleOffset])
                .into_tuple()
                .one(&self.0.store.database.reader)
                .await
                .context("find the location of a content")?;
        let Some((bundle, offset)) = place else { return Ok(None) };
        let bundled = bundled_at(bundle.as_deref(), offset)?;
        Ok(Some(ContentAddress { bundled, ..content }))
    }
}

/// The ranges of the files' contents in each bundle.
fn by_bundle(files: &[ManifestFile]) -> BTreeMap<BundleId, BTreeMap<BlobHash, Range<u64>>> {
    let mut bundles: BTreeMap<_, BTreeMap<_, _>> = BTreeMap::new();
    for file in files.iter().filter(|file| file.size_bytes > 0) {
        if let Some(BundledAt { bundle, offset_bytes }) = file.bundled {
            let range = offset_bytes..offset_bytes + file.size_bytes;
            bundles.entry(bundle).or_default().insert(file.hash, range);
        }
    }
    bundles
}

/// A purge overwrites contents in a bundle with zeros. Hardly any other content consists of zeros.
fn may_be_erased(bytes: &Bytes) -> bool {
    !bytes.is_empty() && bytes.iter().all(|byte| *byte == 0)
}

impl ContentAddress {
    pub fn of(file: &ManifestFile) -> Self {
        Self { hash: file.hash, bundled: file.bundled }
    }

    fn place(&self, range: &Range<u64>) -> (StorageKey, Range<u64>) {
        match self.bundled {
            None => (StorageKey::Blob(self.hash), range.clone()),
            Some(BundledAt { bundle, offset_bytes }) => {
                (StorageKey::Bundle(bundle), offset_bytes + range.start..offset_bytes + range.end)
            }
        }
    }
}
