//! Content: the bytes of a form, from memory or from the store.
//!
//! What is small is kept in memory by hash, dress and encoding, and is made once however many ask for it at once.
//! What is large streams from the store and is never held whole; a large page that must be dressed is held if it is
//! small once it is encoded. Only so many pages are pressed at once: whoever would wait too long for that gets the page
//! dressed on its way, larger but at once. A page that is there must never be refused because others are pressed.

mod dressing;
mod source;

use std::num::NonZero;
use std::sync::Arc;
use std::thread::available_parallelism;

use anyhow::Context;
use bytes::Bytes;
use futures::stream::BoxStream;
use poem::Body;
use poem::http::HeaderValue;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use store::Blobs;
use tokio::sync::Semaphore;
use tokio::time::timeout_at;

use crate::bounds::Bounds;
use crate::form::{DressMarks, Form, HELD_BYTES_MAX, Key};
use crate::patience::Patience;
use crate::rewrite::{Badge, RULES};
use crate::sign_links::{LinkSigner, Origins};
use crate::streams::Streams;
use crate::turns::{Line, LoadTerms, Turns};
use dressing::Dressing;
pub use source::{Held, Source, Stored};

pub type Chunks = BoxStream<'static, std::io::Result<Bytes>>;

/// What a content takes about.
const HELD_BYTES: u64 = 16 << 10;
/// What a place in the cache takes besides its content.
const PLACE_BYTES: u64 = 320;

pub struct Contents {
    kept: Arc<Cache<Key, Kept, ByWeight>>,
    /// Pages to be pressed take turns.
    turns: Arc<Semaphore>,
    reads: Turns,
    streams: Streams,
    blobs: Blobs,
    badge: Badge,
    origins: Origins,
    marks: DressMarks,
}

/// What is known of a form.
#[derive(Clone)]
enum Kept {
    Held(Arc<Held>),
    /// Dressed and encoded it is still too large. So that this is not tried anew for every visitor.
    TooLarge,
}

/// Why a page was not pressed.
enum NotPressed {
    NoTurn,
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
        let bounds = Bounds { capacity_bytes, entry_bytes: HELD_BYTES, largest_bytes: HELD_BYTES_MAX };
        let badge = Badge::new(base_url);
        let marks = DressMarks::new(&RULES, &badge.markup(), &origins.mark());
        let (kept, turns) = (Arc::new(bounds.cache(ByWeight)), Arc::new(Semaphore::new(presses_max())));
        let reads = Turns::new(Line::ContentReads, load.content_reads_max);
        Self { kept, turns, reads, streams: Streams::new(load), blobs, badge, origins, marks }
    }

    /// Of a content in memory it is there already; of any other it is written.
    pub fn etag(&self, form: &Form<'_>) -> anyhow::Result<HeaderValue> {
        match self.kept.get(&form.key()) {
            Some(Kept::Held(held)) => Ok(held.etag.clone()),
            Some(Kept::TooLarge) => self.write_etag(&form.unencoded()),
            None => self.write_etag(form),
        }
    }

    fn write_etag(&self, form: &Form<'_>) -> anyhow::Result<HeaderValue> {
        HeaderValue::try_from(form.etag(&self.marks)).context("an ETag")
    }

    /// What is in memory, without a wait.
    pub fn recall(&self, form: &Form<'_>) -> Option<Content> {
        match self.kept.get(&form.key())? {
            Kept::Held(held) => Some(Content::Ready(Source::Held(held))),
            Kept::TooLarge => None,
        }
    }

    /// Whether it is known in which form this one is shown in the end. Whether a large page gets small enough to be
    /// encoded is not, before that was tried.
    pub fn is_settled(&self, form: &Form<'_>) -> bool {
        let may_stay_large = !form.dress.is_plain() && form.file.size_bytes > HELD_BYTES_MAX;
        form.encoding.is_none() || !may_stay_large || self.kept.peek(&form.key()).is_some()
    }

    /// From memory or from the store.
    pub async fn open(&self, form: &Form<'_>, patience: Patience) -> anyhow::Result<Content> {
        if form.dress.is_plain() {
            // Bounded as a whole: a visitor may be the last of many in turn.
            let opened = timeout_at(patience.for_store(), self.open_plain(form, patience)).await;
            return Ok(Content::Ready(opened.context(SILENT)??));
        }
        if form.may_be_held() {
            let key = form.key();
            let pressed = self.kept.get_or_insert_async(&key, self.press(form, patience));
            match timeout_at(patience.for_press(), pressed).await {
                Ok(Ok(Kept::Held(held))) => return Ok(Content::Ready(Source::Held(held))),
                Ok(Err(NotPressed::Trouble(error))) => return Err(error),
                Ok(Ok(Kept::TooLarge) | Err(NotPressed::NoTurn)) | Err(_) => {}
            }
        }
        self.open_unpressed(form, patience).await
    }

    async fn open_plain(&self, form: &Form<'_>, patience: Patience) -> anyhow::Result<Source> {
        let stored = self.stored(form);
        if form.may_be_held() {
            let read = async {
                let _turn = self.reads.take(patience.for_turn()).await?;
                self.hold(form, stored.clone().read().await?)
            };
            if let Kept::Held(held) = self.kept.get_or_insert_async(&form.key(), read).await? {
                return Ok(Source::Held(held));
            }
        }
        Ok(Source::Stored(stored))
    }

    async fn open_unpressed(&self, form: &Form<'_>, patience: Patience) -> anyhow::Result<Content> {
        let place = self.streams.enter(patience.for_turn()).await?;
        let dressing = self.dressing(form)?;
        let opened = timeout_at(patience.for_unpressed(), dressing.on_its_way()).await;
        Ok(Content::Dressed(place.deliver(opened.context(SILENT)??)))
    }

    /// Takes a turn, and then goes on even if its visitor waits no longer: the next one finds what was made.
    async fn press(&self, form: &Form<'_>, patience: Patience) -> Result<Kept, NotPressed> {
        let Ok(Ok(turn)) = timeout_at(patience.for_turn(), self.turns.clone().acquire_owned()).await else {
            return Err(NotPressed::NoTurn);
        };
        let (kept, key, dressing) = (self.kept.clone(), form.key(), self.dressing(form)?);
        let etag = self.write_etag(form)?;
        let pressing = tokio::spawn(async move {
            let _turn = turn;
            let pressed = dressing.press().await?.map_or(Kept::TooLarge, |bytes| Kept::held(bytes, etag));
            kept.insert(key, pressed.clone());
            anyhow::Ok(pressed)
        });
        Ok(pressing.await.context("press a page")??)
    }

    fn hold(&self, form: &Form<'_>, bytes: Bytes) -> anyhow::Result<Kept> {
        Ok(Kept::held(bytes, self.write_etag(form)?))
    }

    fn stored(&self, form: &Form<'_>) -> Stored {
        let (blobs, streams) = (self.blobs.clone(), self.streams.clone());
        Stored { blobs, streams, hash: form.file.hash, range: form.stored_range() }
    }

    fn dressing(&self, form: &Form<'_>) -> anyhow::Result<Dressing> {
        let sign = |links| LinkSigner::new(&links, form.host, &self.origins);
        Ok(Dressing {
            stored: self.stored(form),
            markup: form.dress.markup,
            badge: form.dress.has_badge.then(|| self.badge.clone()),
            signer: form.dress.links.map(sign).transpose()?,
            encoding: form.encoding,
        })
    }

    #[cfg(test)]
    pub fn kept_count(&self) -> usize {
        self.kept.len()
    }

    /// As if one more content were being read.
    #[cfg(test)]
    pub async fn take_read(&self) -> tokio::sync::OwnedSemaphorePermit {
        self.reads.take(tokio::time::Instant::now()).await.unwrap()
    }

    /// As if so many pages were being pressed that there is no turn left.
    #[cfg(test)]
    pub async fn take_all_turns(&self) -> tokio::sync::OwnedSemaphorePermit {
        let count = u32::try_from(presses_max()).unwrap();
        self.turns.clone().acquire_many_owned(count).await.unwrap()
    }
}

impl Kept {
    fn held(bytes: Bytes, etag: HeaderValue) -> Self {
        let length = HeaderValue::from(bytes.len());
        Self::Held(Arc::new(Held { bytes, etag, length }))
    }
}

/// More at once would not be done sooner, and each takes memory.
fn presses_max() -> usize {
    available_parallelism().map_or(1, NonZero::get)
}

impl From<anyhow::Error> for NotPressed {
    fn from(error: anyhow::Error) -> Self {
        Self::Trouble(error)
    }
}

#[derive(Clone)]
struct ByWeight;

impl Weighter<Key, Kept> for ByWeight {
    fn weight(&self, _: &Key, kept: &Kept) -> u64 {
        match kept {
            Kept::Held(held) => PLACE_BYTES + held.bytes.len() as u64,
            Kept::TooLarge => PLACE_BYTES,
        }
    }
}
