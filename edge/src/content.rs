//! The bytes of a form, from memory or from the blob store.
//!
//! Small contents are cached by hash, dress and encoding, and concurrent requests share one read. Large
//! contents stream from the store and are never held whole. A large page that must be dressed is kept encoded
//! if that is small enough, and otherwise packed, because dressing is the most expensive step of a request:
//! it is done once per form and not once per visitor. The number of concurrent dressings is limited. A
//! request that would wait too long for a permit gets the page dressed as a stream, without an encoding. A
//! page must never be refused because other pages are being dressed.
//!
//! Contents that were evicted from the cache stay in memory while responses still send them. When these reach
//! their limit, contents that are not cached stream from the store as if they were large. So a client that
//! reads many responses slowly cannot block others.

mod budget;
mod dressing;
mod loading;
mod source;

use std::future::Future;
use std::net::IpAddr;
use std::num::NonZero;
use std::sync::Arc;
use std::thread::available_parallelism;

use admission::Slots;
use anyhow::Context;
use bytes::Bytes;
use poem::Body;
use poem::http::HeaderValue;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use store::{ContentAddress, ContentReader};
use tokio::time::timeout_at;

use crate::bounds::Bounds;
use crate::form::{DressMarks, Form, HELD_BYTES_MAX, Key};
use crate::load::{LoadQueue, LoadTerms};
use crate::pack::{Packed, Packer};
use crate::patience::Patience;
use crate::press::Press;
use crate::rewrite::{Badge, RULES};
use crate::sign_links::{LinkSigner, Origins};
use crate::streams::Streams;
use budget::{CacheBudget, ContentMemory};
use dressing::Dressing;
use loading::{Loader, NotHeld};
pub use source::{LoadedContent, PackedPage, Source, Stored};

/// Estimated size of a cached content.
const HELD_BYTES: u64 = 16 << 10;
/// Overhead of a cache entry besides its content.
const ENTRY_OVERHEAD_BYTES: u64 = 320;
/// One part in `PACKED_SHARE` of the cache is for packed pages. The largest publish of incompressible data
/// has 10 MB.
const PACKED_SHARE: u64 = 4;
const PACKED_BYTES_MAX: u64 = 12 << 20;
const PACKED_BYTES: u64 = 256 << 10;
/// Limit of contents in memory, as a multiple of the cache's capacity: cached ones and those in flight.
const MEMORY_PER_CAPACITY: u64 = 2;

pub struct Contents {
    kept: Arc<KeptCache>,
    /// Large pages, by the key of the form without an encoding.
    packed: Arc<KeptCache>,
    packed_bytes_max: u64,
    loader: Arc<Loader>,
    /// One permit per core: more dressings at once would not finish sooner.
    presses: Arc<Slots>,
    streams: Streams,
    stored: ContentReader,
    badge: Badge,
    origins: Origins,
    marks: DressMarks,
}

type KeptCache = Cache<Key, CachedContent, ByWeight>;

/// The cached state of a form.
#[derive(Clone)]
enum CachedContent {
    Loaded(Arc<LoadedContent>),
    Packed(Arc<Packed>),
    /// Too large even after encoding or packing. Cached so that visitors do not repeat the attempt.
    TooLarge,
}

pub enum Content {
    Ready(Source),
    /// A page that is dressed while it is sent, without an encoding. Its length is not known in advance.
    Dressed(Body),
}

const SILENT: &str = "the blob store did not respond in time";

impl Contents {
    pub fn new(
        capacity_bytes: u64,
        stored: ContentReader,
        load: &LoadTerms,
        base_url: &str,
        origins: Origins,
    ) -> Self {
        let for_packed = capacity_bytes / PACKED_SHARE;
        let cache = |capacity_bytes, entry_bytes, largest_bytes| {
            Arc::new(Bounds { capacity_bytes, entry_bytes, largest_bytes }.cache(ByWeight))
        };
        let memory = ContentMemory::new(capacity_bytes.saturating_mul(MEMORY_PER_CAPACITY));
        let reads = Slots::new(load.content_reads_max, load.waiting_max);
        let badge = Badge::new(base_url);
        let marks = DressMarks::new(&RULES, &badge.markup(), &origins.mark());
        Self {
            kept: cache(capacity_bytes - for_packed, HELD_BYTES, HELD_BYTES_MAX),
            packed: cache(for_packed, PACKED_BYTES, PACKED_BYTES_MAX),
            // The cache drops an entry that would fill it alone.
            packed_bytes_max: PACKED_BYTES_MAX.min(for_packed / 4 * 3),
            loader: Arc::new(Loader { reads, memory }),
            presses: Arc::new(Slots::new(presses_max(), load.waiting_max)),
            streams: Streams::new(load),
            stored,
            badge,
            origins,
            marks,
        }
    }

    /// Returns the cached `ETag` of a content in memory, else computes it.
    pub fn etag(&self, form: &Form<'_>) -> anyhow::Result<HeaderValue> {
        match self.kept.get(&form.key()) {
            Some(CachedContent::Loaded(held)) => Ok(held.etag.clone()),
            Some(CachedContent::Packed(_) | CachedContent::TooLarge) => self.write_etag(&form.unencoded()),
            None => self.write_etag(form),
        }
    }

    fn write_etag(&self, form: &Form<'_>) -> anyhow::Result<HeaderValue> {
        HeaderValue::try_from(form.etag(&self.marks)).context("build an ETag")
    }

    /// Returns a content that is in memory, without waiting. `network` is charged for the stream of a packed
    /// page.
    pub fn recall(&self, form: &Form<'_>, network: impl FnOnce() -> Option<IpAddr>) -> Option<Content> {
        match self.kept.get(&form.key()) {
            Some(CachedContent::Loaded(held)) => return Some(Content::Ready(Source::Loaded(held))),
            None if form.may_be_held() => return None,
            _ => {}
        }
        match self.packed.get(&form.unencoded().key())? {
            CachedContent::Packed(page) => Some(self.packed_page(page, network())),
            CachedContent::Loaded(_) | CachedContent::TooLarge => None,
        }
    }

    /// Returns a small content that is in memory.
    pub fn recall_loaded(&self, form: &Form<'_>) -> Option<Arc<LoadedContent>> {
        match self.kept.get(&form.key())? {
            CachedContent::Loaded(held) => Some(held),
            CachedContent::Packed(_) | CachedContent::TooLarge => None,
        }
    }

    /// Whether the final form is already known. Whether a large page becomes small enough to be encoded is
    /// known only after the first attempt.
    pub fn is_settled(&self, form: &Form<'_>) -> bool {
        let may_stay_large = !form.dress.is_plain() && form.file.size_bytes > HELD_BYTES_MAX;
        form.encoding.is_none() || !may_stay_large || self.kept.peek(&form.key()).is_some()
    }

    /// Opens a content from memory or from the store. `network` is charged for a streamed response.
    pub async fn open(
        &self,
        form: &Form<'_>,
        patience: Patience,
        network: Option<IpAddr>,
    ) -> anyhow::Result<Content> {
        let stored = self.stored(form, network);
        if form.dress.is_plain() {
            // The timeout covers the whole operation, because the request may be queued behind many others.
            let opened = timeout_at(patience.for_store(), self.open_plain(form, stored, patience)).await;
            return Ok(Content::Ready(opened.context(SILENT)??));
        }
        if form.may_be_held() {
            match self.press(form, stored.clone(), patience).await? {
                Some(CachedContent::Loaded(held)) => return Ok(Content::Ready(Source::Loaded(held))),
                Some(CachedContent::Packed(_) | CachedContent::TooLarge) => {}
                None => return self.open_unpressed(form, stored, patience).await,
            }
        }
        match self.pack(form, stored.clone(), patience).await? {
            Some(CachedContent::Packed(page)) => Ok(self.packed_page(page, network)),
            _ => self.open_unpressed(form, stored, patience).await,
        }
    }

    async fn open_plain(
        &self,
        form: &Form<'_>,
        stored: Stored,
        patience: Patience,
    ) -> anyhow::Result<Source> {
        if form.may_be_held() {
            let read = self.read(form, stored.clone(), patience);
            match self.kept.get_or_insert_async(&form.key(), read).await {
                Ok(CachedContent::Loaded(held)) => return Ok(Source::Loaded(held)),
                Err(NotHeld::Trouble(error)) => return Err(error),
                Err(NotHeld::Shed) => return Err(LoadQueue::ContentReads.shed()),
                Ok(CachedContent::Packed(_) | CachedContent::TooLarge) | Err(NotHeld::Crowded) => {}
            }
        }
        Ok(Source::Stored(stored))
    }

    async fn open_unpressed(
        &self,
        form: &Form<'_>,
        stored: Stored,
        patience: Patience,
    ) -> anyhow::Result<Content> {
        let slot = stored.streams.enter(patience.for_permit()).await?;
        let dressing = self.dressing(form, stored)?;
        let opened = timeout_at(patience.for_unpressed(), dressing.stream()).await;
        Ok(Content::Dressed(slot.deliver(opened.context(SILENT)??)))
    }

    async fn read(
        &self,
        form: &Form<'_>,
        stored: Stored,
        patience: Patience,
    ) -> Result<CachedContent, NotHeld> {
        let bytes = self.loader.load(stored, patience.for_permit()).await?;
        Ok(CachedContent::held(bytes, &form.etag(&self.marks))?)
    }

    /// Dresses and encodes a page that is small enough to be cached.
    async fn press(
        &self,
        form: &Form<'_>,
        stored: Stored,
        patience: Patience,
    ) -> anyhow::Result<Option<CachedContent>> {
        let (encoding, etag, dressing) =
            (form.encoding, form.etag(&self.marks), self.dressing(form, stored)?);
        let build = move |dressing: Dressing, budget: CacheBudget| async move {
            let pressed = dressing.make(|| Press::new(encoding, HELD_BYTES_MAX)).await?;
            pressed
                .map_or(Ok(CachedContent::TooLarge), |bytes| CachedContent::held(budget.attach(bytes), &etag))
        };
        self.make(&self.kept, (form.key(), dressing), HELD_BYTES_MAX, patience, build).await
    }

    /// Dresses and packs a page. One packed page serves all encodings.
    async fn pack(
        &self,
        form: &Form<'_>,
        stored: Stored,
        patience: Patience,
    ) -> anyhow::Result<Option<CachedContent>> {
        let (bytes_max, dressing) = (self.packed_bytes_max, self.dressing(form, stored)?);
        let build = move |dressing: Dressing, budget: CacheBudget| async move {
            let packed = dressing.make(|| Packer::new(bytes_max)).await?;
            let packed = packed.map(|packed| packed.map_bytes(|bytes| budget.attach(bytes)));
            Ok(packed.map_or(CachedContent::TooLarge, |packed| CachedContent::Packed(Arc::new(packed))))
        };
        self.make(&self.packed, (form.unencoded().key(), dressing), bytes_max, patience, build).await
    }

    /// Returns the cached result of dressing a page, which concurrent requests share, or `None` when the
    /// visitor would wait too long. The work runs in its own task: otherwise it would be lost when its
    /// visitor disconnects, and the next one would start over.
    async fn make<F>(
        &self,
        cache: &Arc<KeptCache>,
        (key, mut dressing): (Key, Dressing),
        bytes_max: u64,
        patience: Patience,
        build: impl FnOnce(Dressing, CacheBudget) -> F + Send + 'static,
    ) -> anyhow::Result<Option<CachedContent>>
    where
        F: Future<Output = anyhow::Result<CachedContent>> + Send + 'static,
    {
        let (cache, presses, loader) = (cache.clone(), self.presses.clone(), self.loader.clone());
        let made = tokio::spawn(async move {
            let make = async {
                // Before the press permit, so that pages of a slow store are read side by side.
                dressing.load(&loader, patience.for_permit()).await?;
                let _permit = presses.acquire(patience.for_permit()).await.map_err(|_| NotHeld::Crowded)?;
                let budget = loader.memory.take(bytes_max).ok_or(NotHeld::Crowded)?;
                Ok::<_, NotHeld>(build(dressing, budget).await?)
            };
            cache.get_or_insert_async(&key, make).await
        });
        match timeout_at(patience.for_press(), made).await {
            Ok(made) => match made.context("dress a page")? {
                Ok(kept) => Ok(Some(kept)),
                Err(NotHeld::Shed | NotHeld::Crowded) => Ok(None),
                Err(NotHeld::Trouble(error)) => Err(error),
            },
            Err(_) => Ok(None),
        }
    }

    fn packed_page(&self, page: Arc<Packed>, network: Option<IpAddr>) -> Content {
        Content::Ready(Source::Packed(PackedPage { page, streams: self.streams.open_to(network) }))
    }

    fn stored(&self, form: &Form<'_>, network: Option<IpAddr>) -> Stored {
        let (contents, streams) = (self.stored.clone(), self.streams.open_to(network));
        Stored { contents, streams, address: ContentAddress::of(form.file), range: form.stored_range() }
    }

    fn dressing(&self, form: &Form<'_>, stored: Stored) -> anyhow::Result<Dressing> {
        let sign = |links| LinkSigner::new(&links, form.host, &self.origins);
        Ok(Dressing {
            stored,
            loaded: None,
            markup: form.dress.markup,
            badge: form.dress.has_badge.then(|| self.badge.clone()),
            signer: form.dress.links.map(sign).transpose()?,
        })
    }

    #[cfg(test)]
    pub fn kept_count(&self) -> usize {
        self.kept.len()
    }

    #[cfg(test)]
    pub fn evict_all(&self) {
        self.kept.clear();
    }

    /// Holds a read permit, as if another content were being read.
    #[cfg(test)]
    pub async fn take_read(&self) -> admission::Permit {
        self.loader.reads.acquire(tokio::time::Instant::now()).await.unwrap()
    }

    /// Holds all press permits.
    #[cfg(test)]
    pub async fn take_all_presses(&self) -> Vec<admission::Permit> {
        let until = tokio::time::Instant::now() + std::time::Duration::from_secs(60);
        let presses = (0..presses_max()).map(|_| self.presses.acquire(until));
        futures::future::join_all(presses).await.into_iter().map(Result::unwrap).collect()
    }

    #[cfg(test)]
    pub fn memory_bytes(&self) -> u64 {
        self.loader.memory.bytes()
    }
}

impl Content {
    /// Whether the content has no encoding, even if the form asked for one.
    pub fn is_unencoded(&self) -> bool {
        matches!(self, Content::Dressed(_) | Content::Ready(Source::Packed(_)))
    }
}

impl CachedContent {
    /// The headers share one allocation, because a visit reads both.
    fn held(bytes: Bytes, etag: &str) -> anyhow::Result<Self> {
        let headers = Bytes::from(format!("{etag}{}", bytes.len()));
        let value = |range| HeaderValue::from_maybe_shared(headers.slice(range)).context("build a header");
        let (etag, length) = (value(0..etag.len())?, value(etag.len()..headers.len())?);
        Ok(Self::Loaded(Arc::new(LoadedContent { bytes, etag, length })))
    }
}

/// More at once would not finish sooner, and each takes memory.
fn presses_max() -> usize {
    available_parallelism().map_or(1, NonZero::get)
}

#[derive(Clone)]
struct ByWeight;

impl Weighter<Key, CachedContent> for ByWeight {
    fn weight(&self, _: &Key, kept: &CachedContent) -> u64 {
        match kept {
            CachedContent::Loaded(held) => ENTRY_OVERHEAD_BYTES + held.bytes.len() as u64,
            CachedContent::Packed(page) => ENTRY_OVERHEAD_BYTES + page.packed_bytes(),
            CachedContent::TooLarge => ENTRY_OVERHEAD_BYTES,
        }
    }
}
