//! Content: the bytes of a form, from memory or from the store.
//!
//! What is small is kept in memory by hash, dress and encoding, and is made once however many ask for it at once.
//! What is large streams from the store and is never held whole.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, ensure};
use async_stream::try_stream;
use bytes::Bytes;
use domain::{BlobHash, Encoding};
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use poem::Body;
use poem::http::HeaderValue;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use store::Blobs;
use tokio::time::timeout;

use crate::bounds::Bounds;
use crate::form::{Form, HELD_BYTES_MAX, Key};
use crate::rewrite::{Badge, Rewriter};
use crate::sign_links::LinkSigner;

pub type Chunks = BoxStream<'static, std::io::Result<Bytes>>;

/// How large a page can get by its dress and still be kept.
const DRESSED_BYTES_MAX: u64 = 2 * HELD_BYTES_MAX;
/// What a content takes about.
const HELD_BYTES: u64 = 16 << 10;
/// What a place in the cache takes besides its content.
const PLACE_BYTES: u64 = 320;
/// A visitor waits no longer than this for the store to begin to answer.
pub const STORE_WAIT_MAX: Duration = Duration::from_secs(10);

pub struct Contents {
    held: Cache<Key, Arc<Held>, ByWeight>,
    blobs: Blobs,
    badge: Badge,
}

pub enum Content {
    Ready(Source),
    /// A large page that is dressed on its way; how long it gets nobody knows before it is sent.
    Dressed(Chunks),
}

/// Where the bytes are. Their number is known, and any part of them can be had.
pub enum Source {
    Held(Arc<Held>),
    Stored(Stored),
}

/// A content in memory, with the headers that never change.
pub struct Held {
    pub bytes: Bytes,
    pub etag: HeaderValue,
    pub length: HeaderValue,
}

/// A content, or one of its encodings, where it lies in the store.
#[derive(Clone)]
pub struct Stored {
    blobs: Blobs,
    hash: BlobHash,
    range: Range<u64>,
}

impl Contents {
    pub fn new(capacity_bytes: u64, blobs: Blobs, base_url: &str) -> Self {
        let bounds = Bounds { capacity_bytes, entry_bytes: HELD_BYTES, largest_bytes: DRESSED_BYTES_MAX };
        Self { held: bounds.cache(ByWeight), blobs, badge: Badge::new(base_url) }
    }

    /// Of a content in memory it is there already; of any other it is written.
    pub fn etag(&self, form: &Form<'_>) -> anyhow::Result<HeaderValue> {
        match self.held.get(&form.key()) {
            Some(held) => Ok(held.etag.clone()),
            None => self.write_etag(form),
        }
    }

    fn write_etag(&self, form: &Form<'_>) -> anyhow::Result<HeaderValue> {
        HeaderValue::try_from(form.etag(self.badge.mark())).context("an ETag")
    }

    /// What is in memory, without a wait.
    pub fn recall(&self, form: &Form<'_>) -> Option<Content> {
        self.held.get(&form.key()).map(|held| Content::Ready(Source::Held(held)))
    }

    /// From memory or from the store. The wait is bounded as a whole: a visitor may be the last of many in turn.
    pub async fn open(&self, form: &Form<'_>) -> anyhow::Result<Content> {
        timeout(STORE_WAIT_MAX, self.fetch(form)).await.context("the blob store stays silent")?
    }

    async fn fetch(&self, form: &Form<'_>) -> anyhow::Result<Content> {
        let stored = Stored { blobs: self.blobs.clone(), hash: form.file.hash, range: form.stored_range() };
        if form.is_held() {
            let held = self.held.get_or_insert_async(&form.key(), self.make(form, stored)).await?;
            return Ok(Content::Ready(Source::Held(held)));
        }
        if form.dress.is_plain() {
            return Ok(Content::Ready(Source::Stored(stored)));
        }
        let plain = stored.part(0..stored.size_bytes()).await?;
        Ok(Content::Dressed(dress_on_the_way(plain, self.rewriter(form)?)))
    }

    #[cfg(test)]
    pub fn held_count(&self) -> usize {
        self.held.len()
    }

    async fn make(&self, form: &Form<'_>, stored: Stored) -> anyhow::Result<Arc<Held>> {
        let stored = stored.read().await?;
        let bytes = if form.dress.is_plain() {
            stored
        } else {
            let (rewriter, encoding) = (self.rewriter(form)?, form.encoding);
            // It takes milliseconds, so it is done where nobody else waits.
            tokio::task::spawn_blocking(move || dress_and_press(rewriter, &stored, encoding)).await??
        };
        Ok(Arc::new(Held { length: HeaderValue::from(bytes.len()), etag: self.write_etag(form)?, bytes }))
    }

    fn rewriter(&self, form: &Form<'_>) -> anyhow::Result<Rewriter> {
        let badge = form.dress.has_badge.then_some(&self.badge);
        let signer = form.dress.links.map(|links| LinkSigner::new(&links, form.host)).transpose()?;
        Ok(Rewriter::new(badge, signer))
    }
}

fn dress_and_press(
    mut rewriter: Rewriter,
    plain: &[u8],
    encoding: Option<Encoding>,
) -> anyhow::Result<Bytes> {
    let mut dressed = Vec::from(rewriter.feed(plain)?);
    dressed.extend_from_slice(&rewriter.finish()?);
    match encoding {
        Some(encoding) => crate::press::press(&dressed, encoding),
        None => Ok(dressed.into()),
    }
}

fn dress_on_the_way(mut plain: Chunks, mut rewriter: Rewriter) -> Chunks {
    let dressed = try_stream! {
        while let Some(chunk) = plain.try_next().await? {
            yield rewriter.feed(&chunk).map_err(std::io::Error::other)?;
        }
        yield rewriter.finish().map_err(std::io::Error::other)?;
    };
    dressed.boxed()
}

impl Stored {
    pub fn size_bytes(&self) -> u64 {
        self.range.end - self.range.start
    }

    async fn read(self) -> anyhow::Result<Bytes> {
        let wanted_bytes = self.size_bytes();
        let bytes = self.blobs.read(self.hash, self.range).await?;
        ensure!(bytes.len() as u64 == wanted_bytes, "the blob {} was cut short", self.hash);
        Ok(bytes)
    }

    pub async fn part(&self, part: Range<u64>) -> anyhow::Result<Chunks> {
        let from = self.range.start;
        let opened = self.blobs.stream(self.hash, from + part.start..from + part.end);
        timeout(STORE_WAIT_MAX, opened).await.context("the blob store stays silent")?
    }
}

impl Source {
    pub fn size_bytes(&self) -> u64 {
        match self {
            Source::Held(held) => held.bytes.len() as u64,
            Source::Stored(stored) => stored.size_bytes(),
        }
    }

    /// `Content-Length`
    pub fn length(&self) -> HeaderValue {
        match self {
            Source::Held(held) => held.length.clone(),
            Source::Stored(stored) => HeaderValue::from(stored.size_bytes()),
        }
    }

    pub async fn part(&self, part: Range<u64>) -> anyhow::Result<Body> {
        match self {
            Source::Held(held) => {
                let (start, end) = (usize::try_from(part.start)?, usize::try_from(part.end)?);
                ensure!(start <= end && end <= held.bytes.len(), "a part beyond the content");
                Ok(Body::from_bytes(held.bytes.slice(start..end)))
            }
            Source::Stored(stored) => Ok(Body::from_bytes_stream(stored.part(part).await?)),
        }
    }

    pub async fn whole(&self) -> anyhow::Result<Body> {
        match self {
            Source::Held(held) => Ok(Body::from_bytes(held.bytes.clone())),
            Source::Stored(stored) => self.part(0..stored.size_bytes()).await,
        }
    }
}

#[derive(Clone)]
struct ByWeight;

impl Weighter<Key, Arc<Held>> for ByWeight {
    fn weight(&self, _: &Key, held: &Arc<Held>) -> u64 {
        PLACE_BYTES + held.bytes.len() as u64
    }
}
