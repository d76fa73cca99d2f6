//! Content: the bytes of a form, from memory or from the store.
//!
//! What is small is kept in memory by hash, dress and encoding, and is made once however many ask for it at once.
//! What is large streams from the store and is never held whole. A large page that must be dressed is held if it is small
//! once it is encoded, else packed: dressing costs more than anything else here, so it is paid once for each form and not
//! once for each visitor. Only so many pages are dressed at once: a request that would wait too long for that gets the page
//! dressed on its way, larger but at once. A page that is there must never be refused because others are dressed.
//!
//! What left the cache lives on in the answers that carry it. When that fills the memory, what is not in it streams from
//! the store as if it were large, so that nobody who takes many answers slowly keeps the others from theirs.

mod budget;
mod dressing;
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
use store::Blobs;
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
use budget::{CacheBudget, Living};
use dressing::Dressing;
pub use source::{LoadedContent, PackedPage, Source, Stored};

/// What a content takes about.
const HELD_BYTES: u64 = 16 << 10;
/// What a place in the cache takes besides its content.
const PLACE_BYTES: u64 = 320;
/// The part of the cache that is for packed pages, and the largest of those: a publish of noise has 10 MB.
const PACKED_SHARE: u64 = 4;
const PACKED_BYTES_MAX: u64 = 12 << 20;
const PACKED_BYTES: u64 = 256 << 10;
/// How often the cache's capacity may be in memory, with what is on its way in and out.
const LIVING_PER_CAPACITY: u64 = 2;

pub struct Contents {
    kept: Arc<KeptCache>,
    /// Large pages, by the key of the form without an encoding.
    packed: Arc<KeptCache>,
    packed_bytes_max: u64,
    living: Living,
    /// More at once would not be done sooner.
    presses: Arc<Slots>,
    content_reads: Slots,
    streams: Streams,
    blobs: Blobs,
    badge: Badge,
    origins: Origins,
    marks: DressMarks,
}

type KeptCache = Cache<Key, CachedContent, ByWeight>;

/// What is known of a form.
#[derive(Clone)]
enum CachedContent {
    Loaded(Arc<LoadedContent>),
    Packed(Arc<Packed>),
    /// Dressed and encoded, or packed, it is still too large. Kept so that this is not retried for every visitor.
    TooLarge,
}

/// Why a content was not brought into memory.
enum NotHeld {
    /// There is no turn to press it, or no room for it: it comes from the store all the same.
    Crowded,
    Trouble(anyhow::Error),
}

pub enum Content {
    Ready(Source),
    /// A page that is dressed on its way and not encoded; how long it gets nobody knows before it is sent.
    Dressed(Body),
}

const SILENT: &str = "the blob store stays silent";

impl Contents {
    pub fn new(
        capacity_bytes: u64,
        blobs: Blobs,
        load: &LoadTerms,
        base_url: &str,
        origins: Origins,
    ) -> Self {
        let for_packed = capacity_bytes / PACKED_SHARE;
        let cache = |capacity_bytes, entry_bytes, largest_bytes| {
            Arc::new(Bounds { capacity_bytes, entry_bytes, largest_bytes }.cache(ByWeight))
        };
        let badge = Badge::new(base_url);
        let marks = DressMarks::new(&RULES, &badge.markup(), &origins.mark());
        Self {
            kept: cache(capacity_bytes - for_packed, HELD_BYTES, HELD_BYTES_MAX),
            packed: cache(for_packed, PACKED_BYTES, PACKED_BYTES_MAX),
            // The cache keeps nothing that fills it.
            packed_bytes_max: PACKED_BYTES_MAX.min(for_packed / 4 * 3),
            living: Living::new(capacity_bytes.saturating_mul(LIVING_PER_CAPACITY)),
            presses: Arc::new(Slots::new(presses_max(), load.waiting_max)),
            content_reads: Slots::new(load.content_reads_max, load.waiting_max),
            streams: Streams::new(load),
            blobs,
            badge,
            origins,
            marks,
        }
    }

    /// Of a content in memory it is there already; of any other it is written.
    pub fn etag(&self, form: &Form<'_>) -> anyhow::Result<HeaderValue> {
        match self.kept.get(&form.key()) {
            Some(CachedContent::Loaded(held)) => Ok(held.etag.clone()),
            Some(CachedContent::Packed(_) | CachedContent::TooLarge) => self.write_etag(&form.unencoded()),
            None => self.write_etag(form),
        }
    }

    fn write_etag(&self, form: &Form<'_>) -> anyhow::Result<HeaderValue> {
        HeaderValue::try_from(form.etag(&self.marks)).context("an ETag")
    }

    /// What is in memory, without a wait. `network` is whose places a packed page takes.
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

    /// Whether it is known in which form this one is shown in the end. Whether a large page gets small enough to be
    /// encoded is not, before that was tried.
    pub fn is_settled(&self, form: &Form<'_>) -> bool {
        let may_stay_large = !form.dress.is_plain() && form.file.size_bytes > HELD_BYTES_MAX;
        form.encoding.is_none() || !may_stay_large || self.kept.peek(&form.key()).is_some()
    }

    /// From memory or from the store. `network` is whose places a streamed answer takes.
    pub async fn open(
        &self,
        form: &Form<'_>,
        patience: Patience,
        network: Option<IpAddr>,
    ) -> anyhow::Result<Content> {
        let stored = self.stored(form, network);
        if form.dress.is_plain() {
            // Bounded as a whole: a visitor may be the last of many in turn.
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
        let place = stored.streams.enter(patience.for_turn()).await?;
        let dressing = self.dressing(form, stored)?;
        let opened = timeout_at(patience.for_unpressed(), dressing.on_its_way()).await;
        Ok(Content::Dressed(place.deliver(opened.context(SILENT)??)))
    }

    async fn read(
        &self,
        form: &Form<'_>,
        stored: Stored,
        patience: Patience,
    ) -> Result<CachedContent, NotHeld> {
        let permit = self.content_reads.acquire(patience.for_turn()).await;
        let _permit = permit.map_err(|_| LoadQueue::ContentReads.shed())?;
        let room = self.living.take(stored.size_bytes()).ok_or(NotHeld::Crowded)?;
        let bytes = room.harness(stored.read().await?);
        Ok(CachedContent::held(bytes, self.write_etag(form)?))
    }

    /// Dressed and encoded, small enough to be held.
    async fn press(
        &self,
        form: &Form<'_>,
        stored: Stored,
        patience: Patience,
    ) -> anyhow::Result<Option<CachedContent>> {
        let (encoding, etag, dressing) =
            (form.encoding, self.write_etag(form)?, self.dressing(form, stored)?);
        let making = move |room: CacheBudget| async move {
            let pressed = dressing.make(|| Press::new(encoding, HELD_BYTES_MAX)).await?;
            Ok(pressed
                .map_or(CachedContent::TooLarge, |bytes| CachedContent::held(room.harness(bytes), etag)))
        };
        self.make(&self.kept, form.key(), HELD_BYTES_MAX, patience, making).await
    }

    /// Dressed and packed, for all encodings.
    async fn pack(
        &self,
        form: &Form<'_>,
        stored: Stored,
        patience: Patience,
    ) -> anyhow::Result<Option<CachedContent>> {
        let (bytes_max, dressing) = (self.packed_bytes_max, self.dressing(form, stored)?);
        let making = move |room: CacheBudget| async move {
            let packed = dressing.make(|| Packer::new(bytes_max)).await?;
            let housed = packed.map(|packed| packed.housed(|bytes| room.harness(bytes)));
            Ok(housed.map_or(CachedContent::TooLarge, |packed| CachedContent::Packed(Arc::new(packed))))
        };
        self.make(&self.packed, form.unencoded().key(), bytes_max, patience, making).await
    }

    /// What is kept of a dressed page, made once however many ask for it; none when the visitor would wait too long. It
    /// is made in a task of its own: were it left with its visitor, the next one would begin again.
    async fn make<F>(
        &self,
        cache: &Arc<KeptCache>,
        key: Key,
        bytes_max: u64,
        patience: Patience,
        making: impl FnOnce(CacheBudget) -> F + Send + 'static,
    ) -> anyhow::Result<Option<CachedContent>>
    where
        F: Future<Output = anyhow::Result<CachedContent>> + Send + 'static,
    {
        let (cache, presses, living) = (cache.clone(), self.presses.clone(), self.living.clone());
        let made = tokio::spawn(async move {
            let make = async {
                let _permit = presses.acquire(patience.for_turn()).await.map_err(|_| NotHeld::Crowded)?;
                let room = living.take(bytes_max).ok_or(NotHeld::Crowded)?;
                Ok::<_, NotHeld>(making(room).await?)
            };
            cache.get_or_insert_async(&key, make).await
        });
        match timeout_at(patience.for_press(), made).await {
            Ok(made) => match made.context("dress a page")? {
                Ok(kept) => Ok(Some(kept)),
                Err(NotHeld::Crowded) => Ok(None),
                Err(NotHeld::Trouble(error)) => Err(error),
            },
            Err(_) => Ok(None),
        }
    }

    fn packed_page(&self, page: Arc<Packed>, network: Option<IpAddr>) -> Content {
        Content::Ready(Source::Packed(PackedPage { page, streams: self.streams.open_to(network) }))
    }

    fn stored(&self, form: &Form<'_>, network: Option<IpAddr>) -> Stored {
        let (blobs, streams) = (self.blobs.clone(), self.streams.open_to(network));
        Stored { blobs, streams, hash: form.file.hash, range: form.stored_range() }
    }

    fn dressing(&self, form: &Form<'_>, stored: Stored) -> anyhow::Result<Dressing> {
        let sign = |links| LinkSigner::new(&links, form.host, &self.origins);
        Ok(Dressing {
            stored,
            markup: form.dress.markup,
            badge: form.dress.has_badge.then(|| self.badge.clone()),
            signer: form.dress.links.map(sign).transpose()?,
        })
    }

    #[cfg(test)]
    pub fn kept_count(&self) -> usize {
        self.kept.len()
    }

    /// As if one more content were being read.
    #[cfg(test)]
    pub async fn take_read(&self) -> admission::Permit {
        self.content_reads.acquire(tokio::time::Instant::now()).await.unwrap()
    }

    /// As if so many pages were being pressed that there is no turn left.
    #[cfg(test)]
    pub async fn take_all_presses(&self) -> Vec<admission::Permit> {
        let until = tokio::time::Instant::now() + std::time::Duration::from_secs(60);
        let presses = (0..presses_max()).map(|_| self.presses.acquire(until));
        futures::future::join_all(presses).await.into_iter().map(Result::unwrap).collect()
    }

    #[cfg(test)]
    pub fn living_bytes(&self) -> u64 {
        self.living.bytes()
    }
}

impl Content {
    /// Whether it has no encoding, whichever was asked for.
    pub fn is_unencoded(&self) -> bool {
        matches!(self, Content::Dressed(_) | Content::Ready(Source::Packed(_)))
    }
}

impl CachedContent {
    fn held(bytes: Bytes, etag: HeaderValue) -> Self {
        let length = HeaderValue::from(bytes.len());
        Self::Loaded(Arc::new(LoadedContent { bytes, etag, length }))
    }
}

/// More at once would not be done sooner, and each takes memory.
fn presses_max() -> usize {
    available_parallelism().map_or(1, NonZero::get)
}

impl From<anyhow::Error> for NotHeld {
    fn from(error: anyhow::Error) -> Self {
        Self::Trouble(error)
    }
}

#[derive(Clone)]
struct ByWeight;

impl Weighter<Key, CachedContent> for ByWeight {
    fn weight(&self, _: &Key, kept: &CachedContent) -> u64 {
        match kept {
            CachedContent::Loaded(held) => PLACE_BYTES + held.bytes.len() as u64,
            CachedContent::Packed(page) => PLACE_BYTES + page.packed_bytes(),
            CachedContent::TooLarge => PLACE_BYTES,
        }
    }
}
