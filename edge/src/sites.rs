//! Sites: routes by host, kept in memory as long as they may be believed.
//!
//! A look that began before a host was dropped never enters the cache after it: dropping takes away the place that
//! the look holds. Hosts that do not exist are remembered like others; they weigh next to nothing, and the cache
//! gives way at its cold end first, so that a flood of them leaves the sites that are asked for in place.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use domain::{Host, Route, Time};
use poem::http::HeaderValue;
use quick_cache::Weighter;
use quick_cache::sync::{Cache, EntryAction, EntryResult};
use tokio::time::Instant;

use crate::bounds::Bounds;
use crate::conditional::{has_begun, http_date};

/// A route, with what is made of it once for all visits.
pub struct Site {
    pub route: Route,
    last_modified: Option<HeaderValue>,
    weight_bytes: u64,
    /// How long after the look that found it the store was last asked whether it still stands, and it did.
    stood_after_micros: AtomicU64,
    /// Whether anybody visited since it was last listed.
    is_visited: AtomicBool,
}

/// What a look at the store found, and when the look began.
#[derive(Clone)]
pub struct Looked {
    site: Option<Arc<Site>>,
    read_at: Instant,
}

/// A site that is in use, and may be asked about.
pub struct InUse {
    pub site: Arc<Site>,
    read_at: Instant,
}

pub struct Sites {
    looked: Cache<Host, Looked, ByWeight>,
}

/// What a place in the cache takes besides its content.
const PLACE_BYTES: u64 = 256;
/// What a file of the manifest takes besides its texts.
const FILE_BYTES: u64 = 160;
/// What a host takes about, and at most: fifty files with the longest of paths.
const HOST_BYTES: u64 = 1 << 10;
const HOST_BYTES_MAX: u64 = 1 << 16;

impl Site {
    pub fn new(route: Route) -> Self {
        let last_modified = http_date(route.updated_at);
        let weigh = |file: &domain::ManifestFile| {
            FILE_BYTES + (file.path.as_str().len() + file.content_type.len()) as u64
        };
        let weight_bytes = route.manifest.files().iter().map(weigh).sum();
        let (stood_after_micros, is_visited) = (AtomicU64::new(0), AtomicBool::new(false));
        Self { route, last_modified, weight_bytes, stood_after_micros, is_visited }
    }

    /// `Last-Modified`, from its second on.
    pub fn last_modified(&self, now: Time) -> Option<&HeaderValue> {
        self.last_modified.as_ref().filter(|_| has_begun(self.route.updated_at, now))
    }
}

impl Looked {
    /// When the store was last asked, and said what is here.
    fn stood_at(&self) -> Instant {
        let stood_after =
            self.site.as_ref().map_or(0, |site| site.stood_after_micros.load(Ordering::Acquire));
        self.read_at + Duration::from_micros(stood_after)
    }
}

impl InUse {
    /// The route still stood when this was asked. Who dropped it meanwhile has dropped it: this changes the site that
    /// was listed, not the place in the cache.
    pub fn stands_at(&self, asked_at: Instant) {
        let after = asked_at.duration_since(self.read_at).as_micros();
        self.site.stood_after_micros.store(u64::try_from(after).unwrap_or(0), Ordering::Release);
    }
}

impl Sites {
    pub fn new(capacity_bytes: u64) -> Self {
        let bounds = Bounds { capacity_bytes, entry_bytes: HOST_BYTES, largest_bytes: HOST_BYTES_MAX };
        Self { looked: bounds.cache(ByWeight) }
    }

    /// What is known of a host, if it may be believed. `vouch` says so of the moment at which the store was asked.
    pub fn recall(&self, host: &Host, vouch: impl Fn(Instant) -> bool) -> Option<Option<Arc<Site>>> {
        let looked = self.looked.get(host).filter(|looked| vouch(looked.stood_at()))?;
        if let Some(site) = &looked.site
            && !site.is_visited.load(Ordering::Relaxed)
        {
            site.is_visited.store(true, Ordering::Relaxed);
        }
        Some(looked.site)
    }

    /// Whether the store was asked for this host before, however long ago.
    pub fn is_known(&self, host: &Host) -> bool {
        self.looked.peek(host).is_some()
    }

    /// The sites that were visited since they were last listed here.
    pub fn in_use(&self) -> Vec<InUse> {
        let visited = |(_, looked): (Host, Looked)| {
            let Looked { site, read_at } = looked;
            site.filter(|site| site.is_visited.swap(false, Ordering::Relaxed))
                .map(|site| InUse { site, read_at })
        };
        self.looked.iter().filter_map(visited).collect()
    }

    /// Looks at the store. Many who want the same host at once wait for one look.
    pub async fn look<R>(
        &self,
        host: &Host,
        vouch: impl Fn(Instant) -> bool,
        read: R,
    ) -> anyhow::Result<Option<Arc<Site>>>
    where
        R: Future<Output = anyhow::Result<Option<Route>>>,
    {
        let asked_at = Instant::now();
        let found = self.looked.entry_async(host, |_, looked| {
            // What was read after this visitor asked is news enough, whoever vouches for it.
            if looked.stood_at() > asked_at || vouch(looked.stood_at()) {
                EntryAction::Retain(looked.site.clone())
            } else {
                EntryAction::ReplaceWithGuard
            }
        });
        let place = match found.await {
            EntryResult::Retained(site) => return Ok(site),
            EntryResult::Vacant(place) | EntryResult::Replaced(place, _) => place,
            EntryResult::Removed(..) | EntryResult::Timeout => {
                anyhow::bail!("the cache of routes gave no place to {host}")
            }
        };
        let read_at = Instant::now();
        let site = read.await?.map(|route| Arc::new(Site::new(route)));
        // Refused when the host was dropped meanwhile: then this is the answer to those who asked before, no more.
        let _ = place.insert(Looked { site: site.clone(), read_at });
        Ok(site)
    }

    pub fn drop_host(&self, host: &Host) {
        self.looked.remove(host);
    }
}

#[derive(Clone)]
struct ByWeight;

impl Weighter<Host, Looked> for ByWeight {
    fn weight(&self, _: &Host, looked: &Looked) -> u64 {
        PLACE_BYTES + looked.site.as_ref().map_or(0, |site| site.weight_bytes)
    }
}

#[cfg(test)]
mod tests;
