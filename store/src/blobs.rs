//! The object store: contents by their hash, the spool, and what agents have uploaded. Contents are written once and never overwritten.

use std::io::ErrorKind;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use bytes::Bytes;
use domain::{AccountId, BlobHash, Time, UploadId, UploadTicket, Variant, VersionId};
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

use crate::pack::{self, Layout};
use crate::reading::Reading;
use crate::silence::within;

/// Where a thing lies in the object store. There is no other way to name an object.
#[derive(Clone, Copy, Debug)]
pub(crate) enum StorageKey {
    /// A content with its encodings, written once and never overwritten.
    Blob(BlobHash),
    /// An upload on its way to becoming blobs.
    Spool(VersionId),
    /// Files that an agent has put at an address, until it publishes them or they have had their time.
    Upload(UploadTicket),
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
}

/// A content that the database says is stored, and how it should lie there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownBlob {
    pub hash: BlobHash,
    pub size_bytes: u64,
    pub variants: Vec<Variant>,
}

/// Contents lie here, each in the folder of its first byte.
pub(crate) const CONTENTS: &str = "blobs";
pub(crate) const SPOOL: &str = "spool";
pub(crate) const UPLOADS: &str = "uploads";

const LIST_WAIT_MAX: Duration = Duration::from_secs(60);
const CONNECT_WAIT_MAX: Duration = Duration::from_secs(2);
const RETRY_TIMEOUT: Duration = Duration::from_secs(5);
const RETRIES_MAX: usize = 2;

/// An account keeps a handful of uploads; more than this are there only if something has gone wrong.
const UPLOADS_LISTED_MAX: usize = 1_000;

impl Blobs {
    /// What lies in the folder of a local store.
    pub const FOLDERS: [&str; 3] = [CONTENTS, SPOOL, UPLOADS];

    /// Blobs as files below a folder; a put has reached the disk when it returns.
    pub fn local(folder: &Path) -> anyhow::Result<Self> {
        std::fs::create_dir_all(folder).with_context(|| format!("make the folder {}", folder.display()))?;
        let files = LocalFileSystem::new_with_prefix(folder)?.with_fsync(true);
        Ok(Self { objects: Arc::new(files), prefix: String::new() })
    }

    /// Makes the shelves on which contents lie below a folder, all of them: whoever put the first content onto one would
    /// have to make it, and wait until the disk has it and its name. Only for who puts contents: they become its own.
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
            // It would bound a stream as a whole, however slowly a visitor takes it. Every wait has its own bound here.
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
        Ok(Self { objects: Arc::new(builder.build()?), prefix: settings.prefix.clone() })
    }

    /// Stores a content unless it is there, with the encodings that win, in one object.
    pub async fn put(&self, hash: BlobHash, content: Bytes, layout: Layout) -> anyhow::Result<Vec<Variant>> {
        let key = self.key(StorageKey::Blob(hash));
        let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
        match within(self.objects.put_opts(&key, layout.object(&content), options)).await? {
            Ok(_) => Ok(layout.variants()),
            // Another worker was first; what it wrote says how it is laid out.
            Err(object_store::Error::AlreadyExists { .. }) => self.variants(hash).await,
            // A store may say so before it has taken everything, and hang up: then it is there all the same.
            Err(error) => match self.standing(hash, content.len() as u64).await {
                Some(variants) => Ok(variants),
                None => Err(error).context("put a blob"),
            },
        }
    }

    /// How a content is laid out, if its whole object can be told to be there.
    pub async fn standing(&self, hash: BlobHash, size_bytes: u64) -> Option<Vec<Variant>> {
        let variants = self.variants(hash).await.ok()?;
        let blob = KnownBlob { hash, size_bytes, variants };
        let found_bytes = self.size_of_blob(hash).await.ok()??;
        (found_bytes == blob.object_bytes()).then_some(blob.variants)
    }

    /// How a stored content's encodings lie in its object.
    pub async fn variants(&self, hash: BlobHash) -> anyhow::Result<Vec<Variant>> {
        let key = self.key(StorageKey::Blob(hash));
        let options =
            GetOptions { range: Some(GetRange::Suffix(pack::TRAILER_BYTES)), ..GetOptions::default() };
        let trailer = within(async { self.objects.get_opts(&key, options).await?.bytes().await }).await?;
        let trailer = trailer.context("read a blob's trailer")?;
        pack::read_trailer(&trailer)
    }

    pub async fn read(&self, hash: BlobHash, range: Range<u64>) -> anyhow::Result<Bytes> {
        if range.is_empty() {
            return Ok(Bytes::new());
        }
        let wanted = range.end - range.start;
        let key = self.key(StorageKey::Blob(hash));
        let bytes = within(self.objects.get_range(&key, range)).await?.context("read a blob")?;
        if bytes.len() as u64 != wanted {
            bail!("the blob {hash} is shorter than its manifest says");
        }
        Ok(bytes)
    }

    /// A part of a blob, in chunks, at the pace of whoever takes them.
    pub async fn stream(
        &self,
        hash: BlobHash,
        range: Range<u64>,
    ) -> anyhow::Result<BoxStream<'static, std::io::Result<Bytes>>> {
        if range.is_empty() {
            return Ok(futures::stream::empty().boxed());
        }
        let key = self.key(StorageKey::Blob(hash));
        let reading = Reading::begin(self.objects.clone(), key, range).await.context("open a blob")?;
        Ok(reading.into_stream())
    }

    pub async fn delete_blob(&self, hash: BlobHash) -> anyhow::Result<()> {
        self.delete(StorageKey::Blob(hash)).await
    }

    /// Keeps a large upload until its worker comes.
    pub async fn spool(&self, version: VersionId, content: Bytes) -> anyhow::Result<()> {
        let key = self.key(StorageKey::Spool(version));
        within(self.objects.put(&key, content.into())).await?.context("spool an upload")?;
        Ok(())
    }

    /// A spooled upload; none when it was taken already.
    pub async fn spooled(&self, version: VersionId) -> anyhow::Result<Option<Bytes>> {
        self.get(StorageKey::Spool(version)).await.context("read a spooled upload")
    }

    pub async fn delete_spooled(&self, version: VersionId) -> anyhow::Result<()> {
        self.delete(StorageKey::Spool(version)).await
    }

    /// Deletes uploads that nobody came for. How many there were.
    pub async fn sweep_spool(&self, spooled_before: Time, at_most: usize) -> anyhow::Result<usize> {
        self.sweep(SPOOL, spooled_before, at_most).await
    }

    /// Keeps what was put at an upload's address. False when something was put there before: that stays.
    pub async fn keep_upload(&self, ticket: UploadTicket, content: Bytes) -> anyhow::Result<bool> {
        let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
        let key = self.key(StorageKey::Upload(ticket));
        match within(self.objects.put_opts(&key, content.into(), options)).await? {
            Ok(_) => Ok(true),
            Err(object_store::Error::AlreadyExists { .. }) => Ok(false),
            Err(error) => Err(error).context("keep an upload"),
        }
    }

    /// What was put at an upload's address, if anything was.
    pub async fn kept_upload(&self, ticket: UploadTicket) -> anyhow::Result<Option<Bytes>> {
        self.get(StorageKey::Upload(ticket)).await.context("read a kept upload")
    }

    /// The uploads of an account that are kept, the oldest first.
    pub async fn kept_uploads(&self, account: AccountId) -> anyhow::Result<Vec<UploadId>> {
        let folder = self.join(&format!("{UPLOADS}/{account}"));
        let listing =
            self.objects.list(Some(&folder)).map_ok(|found| found.location).take(UPLOADS_LISTED_MAX);
        let listed = timeout(LIST_WAIT_MAX, listing.try_collect()).await.map_err(std::io::Error::from);
        let keys: Vec<Key> = listed.context("the blob store lists nothing")?.context("list kept uploads")?;
        let mut uploads: Vec<_> =
            keys.iter().filter_map(|key| key.filename()?.parse::<UploadId>().ok()).collect();
        uploads.sort_unstable();
        Ok(uploads)
    }

    pub async fn delete_upload(&self, ticket: UploadTicket) -> anyhow::Result<()> {
        self.delete(StorageKey::Upload(ticket)).await
    }

    /// Deletes what was put at addresses before a moment. How much there was.
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
        let old: Vec<Key> = listed.context("the blob store lists nothing")?.context("list old uploads")?;
        for key in &old {
            within(self.objects.delete(key)).await?.context("delete an old upload")?;
        }
        Ok(old.len())
    }

    /// Whether the store can be written and read: for `handbill doctor`.
    pub async fn probe(&self) -> anyhow::Result<()> {
        let key = self.join("probe");
        let content = Bytes::from_static(b"handbill");
        within(self.objects.put(&key, content.into())).await?.context("write to the blob store")?;
        within(self.objects.get(&key)).await?.context("read from the blob store")?;
        within(self.objects.delete(&key)).await?.context("delete from the blob store")
    }

    /// Whether the store answers at all. Nothing is written for it, so an edge may ask as well.
    pub async fn ping(&self) -> anyhow::Result<()> {
        match within(self.objects.head(&self.join("probe"))).await? {
            // Nobody but `probe` ever puts it there; that it is not is an answer.
            Ok(_) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(error).context("ask the blob store"),
        }
    }

    async fn get(&self, key: StorageKey) -> anyhow::Result<Option<Bytes>> {
        let key = self.key(key);
        match within(async { self.objects.get(&key).await?.bytes().await }).await? {
            Ok(content) => Ok(Some(content)),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
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
            StorageKey::Spool(version) => self.join(&format!("{SPOOL}/{version}")),
            StorageKey::Upload(UploadTicket { account, upload }) => {
                self.join(&format!("{UPLOADS}/{account}/{upload}"))
            }
        }
    }

    fn join(&self, rest: &str) -> Key {
        Key::from(format!("{}/{rest}", self.prefix))
    }
}
