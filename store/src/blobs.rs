//! The blob store: file contents by hash, the spool, and staged uploads. Contents are written once. Only a
//! purge overwrites them, with zeros and inside a bundle.

use std::io::ErrorKind;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use bytes::Bytes;
use domain::{AccountId, BlobHash, BundleId, BundledAt, Time, UploadId, UploadTicket, Variant, VersionId};
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use object_store::aws::AmazonS3Builder;
use object_store::local::LocalFileSystem;
use object_store::path::Path as Key;
use object_store::{
    BackoffConfig, ClientOptions, GetOptions, GetRange, ObjectStore, ObjectStoreExt, PutMode, PutOptions,
    RetryConfig,
};
use tokio::time::timeout;

use crate::cached_file::CachedFiles;
use crate::deploy_part::DeployPart;
use crate::pack::{self, Layout};
use crate::reading::Reading;
use crate::silence::within;

/// The only way to name an object in the blob store.
#[derive(Clone, Copy, Debug)]
pub(crate) enum StorageKey {
    /// A content with its variants, written once and never overwritten.
    Blob(BlobHash),
    /// Several small contents, written once and never overwritten.
    Bundle(BundleId),
    /// An upload that waits for its worker.
    Spool(VersionId),
    /// Files that an agent has uploaded to an address. They stay until they are published or expire.
    Upload(UploadTicket),
    /// A part of a deploy. It expires as an upload does.
    Deploy(UploadTicket, DeployPart),
}

/// How to reach an S3-compatible store.
#[derive(Clone)]
pub struct S3Settings {
    pub bucket: String,
    pub prefix: String,
    pub endpoint: Option<String>,
    pub region: String,
    pub access_key_id: String,
    pub secret_access_key: String,
}

/// The blob store: contents by their SHA-256, and the spool.
#[derive(Clone, Debug)]
pub struct Blobs {
    pub(crate) objects: Arc<dyn ObjectStore>,
    pub(crate) prefix: String,
    /// The files of a local store, if they can be read in place.
    files: Option<CachedFiles>,
}

/// A blob that is stored according to the database, with its expected layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownBlob {
    pub hash: BlobHash,
    pub size_bytes: u64,
    pub variants: Vec<Variant>,
    /// `None`: it has its own object.
    pub bundled: Option<BundledAt>,
}

/// The prefix of contents. Each is in the folder of its first byte.
pub(crate) const CONTENTS: &str = "blobs";
pub(crate) const BUNDLES: &str = "bundles";
pub(crate) const SPOOL: &str = "spool";
pub(crate) const UPLOADS: &str = "uploads";

pub(crate) const LIST_WAIT_MAX: Duration = Duration::from_secs(60);
const CONNECT_WAIT_MAX: Duration = Duration::from_secs(2);
const RETRY_TIMEOUT: Duration = Duration::from_secs(5);
const RETRIES_MAX: usize = 2;

/// An account has few uploads at a time. More than this exist only after a failure.
const UPLOADS_LISTED_MAX: usize = 1_000;

impl Blobs {
    /// The folders of a local store.
    pub const FOLDERS: [&str; 4] = [CONTENTS, BUNDLES, SPOOL, UPLOADS];

    /// Blobs as files below a folder. A put returns after the file is synced to disk.
    pub fn local(folder: &Path) -> anyhow::Result<Self> {
        std::fs::create_dir_all(folder).with_context(|| format!("create the folder {}", folder.display()))?;
        let files = LocalFileSystem::new_with_prefix(folder)?.with_fsync(true);
        Ok(Self { objects: Arc::new(files), prefix: String::new(), files: CachedFiles::of(folder) })
    }

    /// Creates all folders for contents. Otherwise the first put into each folder would have to create it and
    /// wait for an fsync. Only the process that puts contents may call this, because it becomes the owner of
    /// the folders.
    pub fn make_shelves(folder: &Path) -> std::io::Result<()> {
        let contents = folder.join(CONTENTS);
        std::fs::create_dir_all(&contents)?;
        let mut is_any_new = false;
        for first in 0..=u8::MAX {
            match std::fs::create_dir(contents.join(format!("{first:02x}"))) {
                Ok(()) => is_any_new = true,
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        let bundles = folder.join(BUNDLES);
        is_any_new |= !bundles.exists();
        std::fs::create_dir_all(&bundles)?;
        if is_any_new {
            std::fs::File::open(&contents)?.sync_all()?;
            std::fs::File::open(folder)?.sync_all()?;
        }
        Ok(())
    }

    pub fn s3(settings: &S3Settings) -> anyhow::Result<Self> {
        let is_plain = settings.endpoint.as_deref().is_some_and(|endpoint| endpoint.starts_with("http://"));
        let client = ClientOptions::new()
            .with_allow_http(is_plain)
            // This timeout would limit a whole stream, however slowly a visitor reads it. Every wait in this
            // crate has its own limit.
            .with_timeout_disabled()
            .with_connect_timeout(CONNECT_WAIT_MAX);
        let mut builder = AmazonS3Builder::new()
            .with_bucket_name(&settings.bucket)
            .with_region(&settings.region)
            .with_access_key_id(&settings.access_key_id)
            .with_secret_access_key(&settings.secret_access_key)
            .with_client_options(client)
            .with_retry(RetryConfig {
                backoff: BackoffConfig::default(),
                max_retries: RETRIES_MAX,
                retry_timeout: RETRY_TIMEOUT,
            });
        if let Some(endpoint) = &settings.endpoint {
            builder = builder.with_endpoint(endpoint);
        }
        Ok(Self { objects: Arc::new(builder.build()?), prefix: settings.prefix.clone(), files: None })
    }

    /// Stores a content with its variants in one object, unless it is stored already.
    pub async fn put(&self, hash: BlobHash, content: Bytes, layout: Layout) -> anyhow::Result<Vec<Variant>> {
        let key = self.key(StorageKey::Blob(hash));
        let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
        match within(self.objects.put_opts(&key, layout.object(&content), options)).await? {
            Ok(_) => Ok(layout.variants()),
            // Another worker was first. Its object determines the layout.
            Err(object_store::Error::AlreadyExists { .. }) => self.variants(hash).await,
            // A store may report that the object exists and close the connection before it has read the whole
            // body. The blob is stored then, too.
            Err(error) => match self.standing(hash, content.len() as u64).await {
                Some(variants) => Ok(variants),
                None => Err(error).context("store a blob"),
            },
        }
    }

    /// The variants of a content, if its object is confirmed to be complete.
    pub async fn standing(&self, hash: BlobHash, size_bytes: u64) -> Option<Vec<Variant>> {
        let variants = self.variants(hash).await.ok()?;
        let blob = KnownBlob { hash, size_bytes, variants, bundled: None };
        let found_bytes = self.size_of_blob(hash).await.ok()??;
        (found_bytes == blob.object_bytes()).then_some(blob.variants)
    }

    /// The variants of a stored content and their positions in its object.
    pub async fn variants(&self, hash: BlobHash) -> anyhow::Result<Vec<Variant>> {
        let key = self.key(StorageKey::Blob(hash));
        let options =
            GetOptions { range: Some(GetRange::Suffix(pack::TRAILER_BYTES)), ..GetOptions::default() };
        let trailer = within(async { self.objects.get_opts(&key, options).await?.bytes().await }).await?;
        let trailer = trailer.context("read a blob's trailer")?;
        pack::read_trailer(&trailer)
    }

    /// A part of a content that has its own object.
    pub async fn read(&self, hash: BlobHash, range: Range<u64>) -> anyhow::Result<Bytes> {
        self.read_range(StorageKey::Blob(hash), range).await
    }

    /// Reads a part of an object with one request. A file is opened and read in one call to the blocking
    /// pool, where `get_range` makes two.
    pub(crate) async fn read_range(&self, key: StorageKey, range: Range<u64>) -> anyhow::Result<Bytes> {
        if range.is_empty() {
            return Ok(Bytes::new());
        }
        let (path, ranges) = (self.key(key), [range.clone()]);
        if let Some(bytes) = self.files.as_ref().and_then(|files| files.read(path.as_ref(), &range)) {
            return Ok(bytes);
        }
        let bytes = match within(self.objects.get_ranges(&path, &ranges)).await? {
            Ok(mut parts) => parts.pop().unwrap_or_default(),
            Err(error) if is_from_file(&error) && self.is_shorter(&path, range.end).await => Bytes::new(),
            Err(error) => return Err(error).context("read a blob"),
        };
        if bytes.len() as u64 != range.end - range.start {
            bail!("{key:?} is shorter than its manifest says");
        }
        Ok(bytes)
    }

    /// Reads parts of an object together, with one request if they are near each other. The parts are copied,
    /// so that they do not keep what is between them in memory.
    pub(crate) async fn read_ranges(
        &self,
        key: StorageKey,
        ranges: &[Range<u64>],
    ) -> anyhow::Result<Vec<Bytes>> {
        let parts = within(self.objects.get_ranges(&self.key(key), ranges)).await?;
        let parts = parts.context("read parts of a blob")?;
        Ok(parts.iter().map(|part| Bytes::copy_from_slice(part)).collect())
    }

    /// A file that is too short fails with the same error as a disk that cannot be read.
    async fn is_shorter(&self, path: &Key, end: u64) -> bool {
        matches!(self.size_of(path).await, Ok(Some(size_bytes)) if size_bytes < end)
    }

    /// A part of an object, in chunks, at the reader's pace.
    pub(crate) async fn stream_range(
        &self,
        key: StorageKey,
        range: Range<u64>,
    ) -> anyhow::Result<BoxStream<'static, std::io::Result<Bytes>>> {
        if range.is_empty() {
            return Ok(futures::stream::empty().boxed());
        }
        let reading = Reading::begin(self.objects.clone(), self.key(key), range).await;
        Ok(reading.context("open a blob")?.into_stream())
    }

    pub async fn delete_blob(&self, hash: BlobHash) -> anyhow::Result<()> {
        self.delete(StorageKey::Blob(hash)).await
    }

    /// Stores a large upload until its worker fetches it.
    pub async fn spool(&self, version: VersionId, content: Bytes) -> anyhow::Result<()> {
        let key = self.key(StorageKey::Spool(version));
        within(self.objects.put(&key, content.into())).await?.context("spool an upload")?;
        Ok(())
    }

    /// A spooled upload. `None` if it was deleted already.
    pub async fn spooled(&self, version: VersionId) -> anyhow::Result<Option<Bytes>> {
        self.get(StorageKey::Spool(version)).await.context("read a spooled upload")
    }

    pub async fn delete_spooled(&self, version: VersionId) -> anyhow::Result<()> {
        self.delete(StorageKey::Spool(version)).await
    }

    /// Deletes abandoned uploads and returns their number.
    pub async fn sweep_spool(&self, spooled_before: Time, at_most: usize) -> anyhow::Result<usize> {
        self.sweep(SPOOL, spooled_before, at_most).await
    }

    /// Stores a staged upload. Returns false, and changes nothing, if there is one at this address already.
    pub async fn keep_upload(&self, ticket: UploadTicket, content: Bytes) -> anyhow::Result<bool> {
        let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
        let key = self.key(StorageKey::Upload(ticket));
        match within(self.objects.put_opts(&key, content.into(), options)).await? {
            Ok(_) => Ok(true),
            Err(object_store::Error::AlreadyExists { .. }) => Ok(false),
            Err(error) => Err(error).context("store a staged upload"),
        }
    }

    /// The staged upload at an address, if there is one.
    pub async fn kept_upload(&self, ticket: UploadTicket) -> anyhow::Result<Option<Bytes>> {
        self.get(StorageKey::Upload(ticket)).await.context("read a staged upload")
    }

    /// The staged uploads of an account, oldest first.
    pub async fn kept_uploads(&self, account: AccountId) -> anyhow::Result<Vec<UploadId>> {
        let folder = self.join(&format!("{UPLOADS}/{account}"));
        let listing =
            self.objects.list(Some(&folder)).map_ok(|found| found.location).take(UPLOADS_LISTED_MAX);
        let listed = timeout(LIST_WAIT_MAX, listing.try_collect()).await.map_err(std::io::Error::from);
        let keys: Vec<Key> =
            listed.context("the blob store does not respond to a listing")?.context("list staged uploads")?;
        let mut uploads: Vec<_> =
            keys.iter().filter_map(|key| key.filename()?.parse::<UploadId>().ok()).collect();
        uploads.sort_unstable();
        Ok(uploads)
    }

    pub async fn delete_upload(&self, ticket: UploadTicket) -> anyhow::Result<()> {
        self.delete(StorageKey::Upload(ticket)).await
    }

    /// Deletes old staged uploads and returns their number.
    pub async fn sweep_uploads(&self, kept_before: Time, at_most: usize) -> anyhow::Result<usize> {
        self.sweep(UPLOADS, kept_before, at_most).await
    }

    async fn sweep(&self, folder: &str, written_before: Time, at_most: usize) -> anyhow::Result<usize> {
        let folder = self.join(folder);
        let listing = self
            .objects
            .list(Some(&folder))
            .try_filter(|found| {
                let is_old = found.last_modified.timestamp_millis() < written_before.millis();
                futures::future::ready(is_old)
            })
            .map_ok(|found| found.location)
            .take(at_most)
            .try_collect();
        let listed = timeout(LIST_WAIT_MAX, listing).await.map_err(std::io::Error::from);
        let old: Vec<Key> = listed
            .context("the blob store does not respond to a listing")?
            .context("list old staged uploads")?;
        for key in &old {
            within(self.objects.delete(key)).await?.context("delete an old staged upload")?;
        }
        Ok(old.len())
    }

    /// Checks that the store can be written and read, for `handbill doctor`.
    pub async fn probe(&self) -> anyhow::Result<()> {
        let key = self.join("probe");
        let content = Bytes::from_static(b"handbill");
        within(self.objects.put(&key, content.into())).await?.context("write to the blob store")?;
        within(self.objects.get(&key)).await?.context("read from the blob store")?;
        within(self.objects.delete(&key)).await?.context("delete from the blob store")
    }

    /// Checks that the store responds. It writes nothing, so an edge may call it.
    pub async fn ping(&self) -> anyhow::Result<()> {
        match within(self.objects.head(&self.join("probe"))).await? {
            // Only `probe` ever writes this object, so a missing object also proves that the store responds.
            Ok(_) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(error).context("ping the blob store"),
        }
    }

    pub(crate) async fn get(&self, key: StorageKey) -> anyhow::Result<Option<Bytes>> {
        let key = self.key(key);
        match within(async { self.objects.get(&key).await?.bytes().await }).await? {
            Ok(content) => Ok(Some(content)),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Replaces an object at once: a reader gets the old or the new one.
    pub(crate) async fn replace(&self, key: StorageKey, content: Bytes) -> anyhow::Result<()> {
        within(self.objects.put(&self.key(key), content.into())).await?.context("replace an object")?;
        Ok(())
    }

    pub(crate) async fn delete(&self, key: StorageKey) -> anyhow::Result<()> {
        match within(self.objects.delete(&self.key(key))).await? {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(error).context("delete from the blob store"),
        }
    }

    pub(crate) fn key(&self, key: StorageKey) -> Key {
        match key {
            StorageKey::Blob(hash) => {
                let hash = hash.to_string();
                self.join(&format!("{CONTENTS}/{}/{hash}", &hash[..2]))
            }
            StorageKey::Bundle(id) => self.join(&format!("{BUNDLES}/{id}")),
            StorageKey::Spool(version) => self.join(&format!("{SPOOL}/{version}")),
            StorageKey::Upload(UploadTicket { account, upload }) => {
                self.join(&format!("{UPLOADS}/{account}/{upload}"))
            }
            StorageKey::Deploy(UploadTicket { account, upload }, part) => {
                self.join(&format!("{UPLOADS}/{account}/{}", part.name(upload)))
            }
        }
    }

    pub(crate) fn join(&self, rest: &str) -> Key {
        Key::from(format!("{}/{rest}", self.prefix))
    }
}

fn is_from_file(error: &object_store::Error) -> bool {
    matches!(error, object_store::Error::Generic { store: "LocalFileSystem", .. })
}
