//! Sites: routes by host, kept in memory as long as they may be believed.
//!
//! A look that began before a host was dropped never enters the cache after it: dropping takes away the place that
//! the look holds. Hosts that do not exist are remembered like others; they weigh next to nothing, and the cache
//! gives way at its cold end first, so that a flood of them leaves the sites that are asked for in place.

use std::future::Future;
use std::sync::Arc;

use domain::{Host, Route};
use poem::http::HeaderValue;
use quick_cache::Weighter;
use quick_cache::sync::{Cache, EntryAction, EntryResult};
use tokio::time::Instant;

use crate::bounds::Bounds;
use crate::conditional::http_date;

/// A route, with what is made of it once for all visits.
pub struct Site {
    pub route: Route,
    pub last_modified: Option<HeaderValue>,
    weight_bytes: u64,
}

/// What a look at the store found, and when the look began.
#[derive(Clone)]
pub struct Looked {
    pub site: Option<Arc<Site>>,
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
        let last_modified = http_date(route.published_at);
        let weigh = |file: &domain::ManifestFile| {
            FILE_BYTES + (file.path.as_str().len() + file.content_type.len()) as u64
        };
        let weight_bytes = route.manifest.files().iter().map(weigh).sum();
        Self { route, last_modified, weight_bytes }
    }
}

impl Sites {
    pub fn new(capacity_bytes: u64) -> Self {
        let bounds = Bounds { capacity_bytes, entry_bytes: HOST_BYTES, largest_bytes: HOST_BYTES_MAX };
        Self { looked: bounds.cache(ByWeight) }
    }

    /// What is known of a host, if it may be believed. `vouch` says so of the moment at which a look began.
    pub fn recall(&self, host: &Host, vouch: impl Fn(Instant) -> bool) -> Option<Option<Arc<Site>>> {
        self.looked.get(host).filter(|looked| vouch(looked.read_at)).map(|looked| looked.site)
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
            if looked.read_at > asked_at || vouch(looked.read_at) {
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
