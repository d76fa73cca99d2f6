//! Bundles in the blob store: writing, reading and copying them. The layout is in `bundle`.

use std::ops::Range;

use anyhow::{Context, ensure};
use bytes::Bytes;
use domain::{BlobHash, BundleId, WrittenBundle};
use object_store::{ObjectStoreExt, PutMode, PutOptions, PutPayload};

use crate::Blobs;
use crate::blobs::{KnownBlob, StorageKey};
use crate::bundle::{self, INDEX_BYTES_MAX, NewContent, Segment, StoredBundle};
use crate::silence::within;

/// The result of copying a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopiedBundle {
    /// The size of the whole object, or 0 if neither side has a readable one.
    pub size_bytes: u64,
    /// The expected contents that are missing or damaged in it.
    pub lost: Vec<BlobHash>,
}

impl Blobs {
    /// Stores contents in one object. `None` if an object with this name exists already: an earlier attempt
    /// of the same publish has stored it, perhaps with other contents.
    pub async fn put_bundle(
        &self,
        id: BundleId,
        contents: &[NewContent],
    ) -> anyhow::Result<Option<StoredBundle>> {
        let (object, stored) = bundle::assemble(id, contents.iter().map(Segment::from).collect());
        Ok(self.create_bundle(id, object).await?.then_some(stored))
    }

    /// Returns false if the object exists already.
    pub(crate) async fn create_bundle(&self, id: BundleId, object: PutPayload) -> anyhow::Result<bool> {
        let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
        let key = self.key(StorageKey::Bundle(id));
        match within(self.objects.put_opts(&key, object, options)).await? {
            Ok(_) => Ok(true),
            // If the object exists, a store may also close the connection: see `Blobs::put`.
            Err(error) => match self.size_of_bundle(id).await {
                Ok(Some(_)) => Ok(false),
                _ => Err(error).context("store a bundle"),
            },
        }
    }

    /// A bundle and its contents, by the index in its object. `None` if there is no such object.
    pub async fn bundle(&self, id: BundleId) -> anyhow::Result<Option<StoredBundle>> {
        let Some(size_bytes) = self.size_of_bundle(id).await? else { return Ok(None) };
        ensure!(size_bytes > 0, "the bundle {id} is empty");
        let tail = size_bytes.saturating_sub(INDEX_BYTES_MAX)..size_bytes;
        let tail = self.read_range(StorageKey::Bundle(id), tail).await.context("read a bundle's index")?;
        bundle::read_index(id, &tail, size_bytes).map(Some)
    }

    pub async fn size_of_bundle(&self, id: BundleId) -> anyhow::Result<Option<u64>> {
        self.size_of(&self.key(StorageKey::Bundle(id))).await
    }

    /// The bytes of a whole bundle. It is bounded by the number and the size of its contents.
    pub(crate) async fn read_bundle(&self, id: BundleId) -> anyhow::Result<Option<Bytes>> {
        self.get(StorageKey::Bundle(id)).await.context("read a bundle")
    }

    /// Copies a bundle, and checks the given contents in it against their hashes. A damaged content does not
    /// prevent the copy of the others. If the target has all of them already, nothing is copied.
    pub async fn copy_bundle(
        &self,
        id: BundleId,
        contents: &[KnownBlob],
        to: &Blobs,
    ) -> anyhow::Result<CopiedBundle> {
        let there = to.read_bundle(id).await?.map(|object| CopiedBundle::of(&object, contents));
        if let Some(whole) = there.as_ref().filter(|there| there.lost.is_empty()) {
            return Ok(whole.clone());
        }
        let Some(object) = self.read_bundle_if_readable(id).await? else {
            return Ok(there.unwrap_or_else(|| CopiedBundle::missing(contents)));
        };
        let copied = CopiedBundle::of(&object, contents);
        let key = to.key(StorageKey::Bundle(id));
        within(to.objects.put(&key, object.into())).await?.context("write a copy of a bundle")?;
        Ok(copied)
    }

    /// One unreadable object must not stop the copying of all others.
    async fn read_bundle_if_readable(&self, id: BundleId) -> anyhow::Result<Option<Bytes>> {
        match self.read_bundle(id).await {
            Ok(object) => Ok(object),
            Err(error) => self.unreadable(error).await.map(|_| None),
        }
    }

    pub async fn delete_bundle(&self, id: BundleId) -> anyhow::Result<()> {
        self.delete(StorageKey::Bundle(id)).await
    }
}

impl CopiedBundle {
    fn missing(contents: &[KnownBlob]) -> Self {
        Self { size_bytes: 0, lost: contents.iter().map(|blob| blob.hash).collect() }
    }

    fn of(object: &Bytes, contents: &[KnownBlob]) -> Self {
        let lost = contents.iter().filter(|blob| !is_whole_in(blob, object)).map(|blob| blob.hash);
        Self { size_bytes: object.len() as u64, lost: lost.collect() }
    }
}

impl StoredBundle {
    pub fn id(&self) -> BundleId {
        let WrittenBundle { id, .. } = self.written;
        id
    }
}

/// The range of a content and its variants in the bytes of its bundle, if they are all there.
pub(crate) fn segment_of(blob: &KnownBlob, object: &Bytes) -> Option<Range<usize>> {
    let start = usize::try_from(blob.bundled?.offset_bytes).ok()?;
    let end = start.checked_add(usize::try_from(blob.segment_bytes()).ok()?)?;
    (end <= object.len()).then_some(start..end)
}

/// Whether the plain bytes of a content are in its bundle.
pub(crate) fn is_whole_in(blob: &KnownBlob, object: &Bytes) -> bool {
    let plain = |segment: Range<usize>| {
        let size_bytes = usize::try_from(blob.size_bytes).ok()?;
        object.get(segment.start..segment.start + size_bytes)
    };
    segment_of(blob, object).and_then(plain).is_some_and(|plain| BlobHash::of(plain) == blob.hash)
}
