//! Lists the objects of the blob store and copies them to another one. Everything is streamed, so memory is
//! bounded for any size and number of objects.

use std::time::Duration;

use anyhow::Context;
use bytes::Bytes;
use domain::{AccountId, BlobHash, BlobHasher, BundleId, Time, UploadTicket, VersionId};
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use object_store::buffered::BufWriter;
use object_store::path::Path as Key;
use object_store::{ObjectMeta, ObjectStoreExt};
use tokio::io::AsyncWriteExt;
use tokio::time::timeout;

use crate::Blobs;
use crate::blobs::{BUNDLES, CONTENTS, KnownBlob, SPOOL, StorageKey, UPLOADS};
use crate::deploy_part::DeployPart;
use crate::reading::Reading;
use crate::silence::within;

/// The minimum size of a part of a multipart upload to S3.
const PART_BYTES: usize = 5 * 1024 * 1024;
const PARTS_AT_ONCE: usize = 2;
/// A listing that returns nothing for this long has failed.
const NEXT_LISTED_WAIT: Duration = Duration::from_secs(60);

/// The kind of an object, according to its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectKind {
    Blob(BlobHash),
    Bundle(BundleId),
    Spool(VersionId),
    Upload(UploadTicket),
    Deploy(UploadTicket, DeployPart),
    /// Not an object of this service, or of a later release.
    Unknown,
}

/// An object in a listing.
#[derive(Clone, Debug)]
pub struct StoredObject {
    pub kind: ObjectKind,
    pub name: String,
    pub size_bytes: u64,
    pub written_at: Time,
}

impl StoredObject {
    /// The hash of the content, if the object is a blob.
    pub fn hash(&self) -> Option<BlobHash> {
        match self.kind {
            ObjectKind::Blob(hash) => Some(hash),
            _ => None,
        }
    }

    /// The id of the bundle, if the object is one.
    pub fn bundle(&self) -> Option<BundleId> {
        match self.kind {
            ObjectKind::Bundle(id) => Some(id),
            _ => None,
        }
    }
}

/// The result of copying an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copied {
    Whole {
        size_bytes: u64,
        /// Of the whole object, including variants.
        hash: BlobHash,
    },
    Missing,
    /// The content does not match the object's name or cannot be read. Nothing was written.
    Damaged,
}

impl Blobs {
    /// All objects in the store, in no particular order.
    pub fn listed(&self) -> BoxStream<'static, anyhow::Result<StoredObject>> {
        let prefix = Key::from(self.prefix.clone());
        self.stored_objects(self.objects.list((!self.prefix.is_empty()).then_some(&prefix)))
    }

    /// The bundles with ids of this time or later, in no particular order.
    pub(crate) fn bundles_since(&self, since: Time) -> BoxStream<'static, anyhow::Result<StoredObject>> {
        let before = self.key(StorageKey::Bundle(BundleId::first_at(since)));
        self.stored_objects(self.objects.list_with_offset(Some(&self.join(BUNDLES)), &before))
    }

    fn stored_objects(
        &self,
        listing: BoxStream<'static, object_store::Result<ObjectMeta>>,
    ) -> BoxStream<'static, anyhow::Result<StoredObject>> {
        let prefix = Key::from(self.prefix.clone());
        let objects = futures::stream::try_unfold(listing, |mut listing| async move {
            let next = timeout(NEXT_LISTED_WAIT, listing.try_next()).await.map_err(std::io::Error::from);
            let next = next
                .context("the blob store does not respond to a listing")?
                .context("list the blob store")?;
            anyhow::Ok(next.map(|object| (object, listing)))
        });
        objects.map_ok(move |object| stored_object(&prefix, &object)).boxed()
    }

    /// The size of a blob's object, if it exists.
    pub async fn size_of_blob(&self, hash: BlobHash) -> anyhow::Result<Option<u64>> {
        self.size_of(&self.key(StorageKey::Blob(hash))).await
    }

    /// Copies a content that has its own object, with its variants, if its bytes match its hash.
    pub async fn copy_blob(&self, blob: &KnownBlob, to: &Blobs) -> anyhow::Result<Copied> {
        let check =
            ContentCheck { hash: blob.hash, left_bytes: blob.size_bytes, seen: BlobHasher::default() };
        self.copy(StorageKey::Blob(blob.hash), to, Some(check)).await
    }

    pub async fn copy_spooled(&self, version: VersionId, to: &Blobs) -> anyhow::Result<Copied> {
        self.copy(StorageKey::Spool(version), to, None).await
    }

    /// Copies a staged upload.
    pub async fn copy_upload(&self, ticket: UploadTicket, to: &Blobs) -> anyhow::Result<Copied> {
        self.copy(StorageKey::Upload(ticket), to, None).await
    }

    pub async fn copy_deploy_part(
        &self,
        deploy: UploadTicket,
        part: DeployPart,
        to: &Blobs,
    ) -> anyhow::Result<Copied> {
        self.copy(StorageKey::Deploy(deploy, part), to, None).await
    }

    async fn copy(
        &self,
        key: StorageKey,
        to: &Blobs,
        mut check: Option<ContentCheck>,
    ) -> anyhow::Result<Copied> {
        let mut chunks = match self.open(key).await {
            Ok(Some(chunks)) => chunks,
            Ok(None) => return Ok(Copied::Missing),
            Err(error) => return self.unreadable(error).await,
        };
        let mut writer = BufWriter::with_capacity(to.objects.clone(), to.key(key), PART_BYTES)
            .with_max_concurrency(PARTS_AT_ONCE);
        let (mut whole, mut size_bytes) = (BlobHasher::default(), 0);
        loop {
            let chunk = match chunks.try_next().await {
                Ok(Some(chunk)) => chunk,
                Ok(None) => break,
                Err(error) => {
                    within(writer.abort()).await?.context("discard an incomplete copy")?;
                    return self.unreadable(error.into()).await;
                }
            };
            whole.take(&chunk);
            if let Some(check) = &mut check {
                check.take(&chunk);
            }
            size_bytes += chunk.len() as u64;
            within(writer.put(chunk)).await?.context("write a copy")?;
        }
        if check.is_some_and(|check| !check.holds()) {
            within(writer.abort()).await?.context("discard a damaged copy")?;
            return Ok(Copied::Damaged);
        }
        within(writer.shutdown()).await?.context("finish a copy")?;
        Ok(Copied::Whole { size_bytes, hash: whole.finish() })
    }

    /// One unreadable object must not stop the copying of all others. If the whole store is unavailable, that
    /// says nothing about the object.
    pub(crate) async fn unreadable(&self, error: anyhow::Error) -> anyhow::Result<Copied> {
        if self.ping().await.is_ok() {
            tracing::warn!(error = format!("{error:#}"), "an object cannot be read");
            return Ok(Copied::Damaged);
        }
        Err(error.context("read an object to copy it"))
    }

    /// All bytes of an object. `None` if it does not exist.
    pub(crate) async fn open(
        &self,
        key: StorageKey,
    ) -> anyhow::Result<Option<BoxStream<'static, std::io::Result<Bytes>>>> {
        let key = self.key(key);
        match self.size_of(&key).await? {
            None => Ok(None),
            Some(0) => Ok(Some(futures::stream::empty().boxed())),
            Some(size_bytes) => match Reading::begin(self.objects.clone(), key, 0..size_bytes).await {
                Ok(reading) => Ok(Some(reading.into_stream())),
                Err(error) if is_missing(&error) => Ok(None),
                Err(error) => Err(error).context("open an object"),
            },
        }
    }

    pub(crate) async fn size_of(&self, key: &Key) -> anyhow::Result<Option<u64>> {
        match within(self.objects.head(key)).await? {
            Ok(meta) => Ok(Some(meta.size)),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error).context("find an object"),
        }
    }
}

/// Checks that the plain bytes, which come first, match the hash.
struct ContentCheck {
    hash: BlobHash,
    left_bytes: u64,
    seen: BlobHasher,
}

impl ContentCheck {
    fn take(&mut self, chunk: &[u8]) {
        let plain = chunk.len().min(usize::try_from(self.left_bytes).unwrap_or(usize::MAX));
        self.seen.take(&chunk[..plain]);
        self.left_bytes -= plain as u64;
    }

    fn holds(self) -> bool {
        self.left_bytes == 0 && self.seen.finish() == self.hash
    }
}

/// Whether an object does not exist.
pub(crate) fn is_missing(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        matches!(cause.downcast_ref::<object_store::Error>(), Some(object_store::Error::NotFound { .. }))
    })
}

fn stored_object(prefix: &Key, object: &ObjectMeta) -> StoredObject {
    let name = object.location.as_ref();
    let rest = name.strip_prefix(prefix.as_ref()).unwrap_or(name).trim_start_matches('/');
    StoredObject {
        kind: kind_of(rest).unwrap_or(ObjectKind::Unknown),
        name: rest.to_owned(),
        size_bytes: object.size,
        written_at: Time::from_millis(object.last_modified.timestamp_millis()),
    }
}

/// The kind of a name such as `spool/<version>`. Only names in exactly the form that this service writes are
/// recognized.
fn kind_of(name: &str) -> Option<ObjectKind> {
    let mut parts = name.split('/');
    let kind = match (parts.next()?, parts.next()?, parts.next()) {
        (CONTENTS, folder, Some(hash)) if hash.get(..2) == Some(folder) => {
            ObjectKind::Blob(hash.parse().ok()?)
        }
        (BUNDLES, id, None) => ObjectKind::Bundle(id.parse().ok()?),
        (SPOOL, version, None) => ObjectKind::Spool(version.parse().ok()?),
        (UPLOADS, account, Some(upload)) => {
            let account: AccountId = account.parse().ok()?;
            match DeployPart::named(upload) {
                Some((upload, part)) => ObjectKind::Deploy(UploadTicket { account, upload }, part),
                None => ObjectKind::Upload(UploadTicket { account, upload: upload.parse().ok()? }),
            }
        }
        _ => return None,
    };
    parts.next().is_none().then_some(kind)
}

#[cfg(test)]
mod tests;
