//! The object store: contents by their hash, and the spool. Contents are written once and never overwritten.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use bytes::Bytes;
use domain::{BlobHash, Time, Variant, VersionId};
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use object_store::aws::AmazonS3Builder;
use object_store::local::LocalFileSystem;
use object_store::path::Path as Key;
use object_store::{
    BackoffConfig, ClientOptions, GetOptions, GetRange, ObjectStore, ObjectStoreExt, PutMode, PutOptions,
    RetryConfig,
};

use crate::pack::{self, Layout};

/// Where a thing lies in the object store. There is no other way to name an object.
#[derive(Clone, Copy, Debug)]
enum StorageKey {
    /// A content with its encodings, written once and never overwritten.
    Blob(BlobHash),
    /// An upload on its way to becoming blobs.
    Spool(VersionId),
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
    objects: Arc<dyn ObjectStore>,
    prefix: String,
}

/// A store that does not answer makes the caller wait no longer than this.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
const RETRY_TIMEOUT: Duration = Duration::from_secs(5);
const RETRIES_MAX: usize = 2;

impl Blobs {
    /// Blobs as files below a folder; a put has reached the disk when it returns.
    pub fn local(folder: &Path) -> anyhow::Result<Self> {
        std::fs::create_dir_all(folder).with_context(|| format!("make the folder {}", folder.display()))?;
        let files = LocalFileSystem::new_with_prefix(folder)?.with_fsync(true);
        Ok(Self { objects: Arc::new(files), prefix: String::new() })
    }

    pub fn s3(settings: &S3Settings) -> anyhow::Result<Self> {
        let is_plain = settings.endpoint.as_deref().is_some_and(|endpoint| endpoint.starts_with("http://"));
        let client = ClientOptions::new()
            .with_allow_http(is_plain)
            .with_timeout(REQUEST_TIMEOUT)
            .with_connect_timeout(Duration::from_secs(2));
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
        match self.objects.put_opts(&key, layout.object(&content), options).await {
            Ok(_) => Ok(layout.variants()),
            // Another worker was first; what it wrote says how it is laid out.
            Err(object_store::Error::AlreadyExists { .. }) => self.variants(hash).await,
            Err(error) => Err(error).context("put a blob"),
        }
    }

    /// How a stored content's encodings lie in its object.
    pub async fn variants(&self, hash: BlobHash) -> anyhow::Result<Vec<Variant>> {
        let key = self.key(StorageKey::Blob(hash));
        let options =
            GetOptions { range: Some(GetRange::Suffix(pack::TRAILER_BYTES)), ..GetOptions::default() };
        let trailer =
            self.objects.get_opts(&key, options).await.context("read a blob's trailer")?.bytes().await?;
        pack::read_trailer(&trailer)
    }

    pub async fn read(&self, hash: BlobHash, range: Range<u64>) -> anyhow::Result<Bytes> {
        if range.is_empty() {
            return Ok(Bytes::new());
        }
        let wanted = range.end - range.start;
        let bytes =
            self.objects.get_range(&self.key(StorageKey::Blob(hash)), range).await.context("read a blob")?;
        if bytes.len() as u64 != wanted {
            bail!("the blob {hash} is shorter than its manifest says");
        }
        Ok(bytes)
    }

    pub async fn stream(
        &self,
        hash: BlobHash,
        range: Range<u64>,
    ) -> anyhow::Result<BoxStream<'static, std::io::Result<Bytes>>> {
        if range.is_empty() {
            return Ok(futures::stream::empty().boxed());
        }
        let options = GetOptions { range: Some(GetRange::Bounded(range)), ..GetOptions::default() };
        let found =
            self.objects.get_opts(&self.key(StorageKey::Blob(hash)), options).await.context("open a blob")?;
        Ok(found.into_stream().map_err(std::io::Error::other).boxed())
    }

    pub async fn delete_blob(&self, hash: BlobHash) -> anyhow::Result<()> {
        self.delete(StorageKey::Blob(hash)).await
    }

    /// Keeps a large upload until its worker comes.
    pub async fn spool(&self, version: VersionId, content: Bytes) -> anyhow::Result<()> {
        self.objects
            .put(&self.key(StorageKey::Spool(version)), content.into())
            .await
            .context("spool an upload")?;
        Ok(())
    }

    /// A spooled upload; none when it was taken already.
    pub async fn spooled(&self, version: VersionId) -> anyhow::Result<Option<Bytes>> {
        match self.objects.get(&self.key(StorageKey::Spool(version))).await {
            Ok(found) => Ok(Some(found.bytes().await?)),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error).context("read a spooled upload"),
        }
    }

    pub async fn delete_spooled(&self, version: VersionId) -> anyhow::Result<()> {
        self.delete(StorageKey::Spool(version)).await
    }

    /// Deletes uploads that nobody came for. How many there were.
    pub async fn sweep_spool(&self, spooled_before: Time, at_most: usize) -> anyhow::Result<usize> {
        let folder = self.join("spool");
        let old: Vec<Key> = self
            .objects
            .list(Some(&folder))
            .try_filter(|found| {
                let is_old = found.last_modified.timestamp_millis() < spooled_before.millis();
                futures::future::ready(is_old)
            })
            .map_ok(|found| found.location)
            .take(at_most)
            .try_collect()
            .await
            .context("list the spool")?;
        for key in &old {
            self.objects.delete(key).await.context("delete an old upload")?;
        }
        Ok(old.len())
    }

    /// Whether the store can be written and read: for `handbill doctor`.
    pub async fn probe(&self) -> anyhow::Result<()> {
        let key = self.join("probe");
        self.objects
            .put(&key, Bytes::from_static(b"handbill").into())
            .await
            .context("write to the blob store")?;
        self.objects.get(&key).await.context("read from the blob store")?;
        self.objects.delete(&key).await.context("delete from the blob store")
    }

    async fn delete(&self, key: StorageKey) -> anyhow::Result<()> {
        match self.objects.delete(&self.key(key)).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(error).context("delete from the blob store"),
        }
    }

    fn key(&self, key: StorageKey) -> Key {
        match key {
            StorageKey::Blob(hash) => {
                let hash = hash.to_string();
                self.join(&format!("blobs/{}/{hash}", &hash[..2]))
            }
            StorageKey::Spool(version) => self.join(&format!("spool/{version}")),
        }
    }

    fn join(&self, rest: &str) -> Key {
        Key::from(format!("{}/{rest}", self.prefix))
    }
}
