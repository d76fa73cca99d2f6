//! The cache of routes by host, for as long as they may be trusted.
//!
//! A read that started before a host was dropped never enters the cache after it, because dropping removes
//! the placeholder that the read holds. Hosts that do not exist are cached too. They weigh next to nothing,
//! and the cache evicts cold entries first, so a flood of them does not evict busy sites.

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

/// A route, with values that are computed once for all visits.
pub struct Site {
    pub route: Route,
    last_modified: Option<HeaderValue>,
    weight_bytes: u64,
    /// How long after its read the route was last confirmed by the store.
    confirmed_after_micros: AtomicU64,
    /// Whether a visitor used it since it was last listed.
    is_visited: AtomicBool,
}

/// The result of a read from the store, and when the read started.
#[derive(Clone)]
pub struct RouteRead {
    site: Option<Arc<Site>>,
    read_at: Instant,
}

/// A site in use, whose route is to be confirmed.
pub struct InUse {
    pub site: Arc<Site>,
    read_at: Instant,
}

pub struct Sites {
    entries: Cache<Host, RouteRead, ByWeight>,
}

/// Overhead of a cache entry besides its content.
const ENTRY_OVERHEAD_BYTES: u64 = 256;
/// Overhead of a manifest's file besides its texts.
const FILE_BYTES: u64 = 160;
/// Estimated and largest size of an entry: at most fifty files with the longest paths.
const HOST_BYTES: u64 = 1 << 10;
const HOST_BYTES_MAX: u64 = 1 << 16;

impl Site {
    pub fn new(route: Route) -> Self {
        let last_modified = http_date(route.updated_at);
        let weigh = |file: &domain::ManifestFile| {
            FILE_BYTES + (file.path.as_str().len() + file.content_type.len()) as u64
        };
        let weight_bytes = route.manifest.files().iter().map(weigh).sum();
        let (confirmed_after_micros, is_visited) = (AtomicU64::new(0), AtomicBool::new(false));
        Self { route, last_modified, weight_bytes, confirmed_after_micros, is_visited }
    }

    /// `Last-Modified`, unless it is in the future.
    pub fn last_modified(&self, now: Time) -> Option<&HeaderValue> {
        self.last_modified.as_ref().filter(|_| has_begun(self.route.updated_at, now))
    }
}

impl RouteRead {
    /// When the store last confirmed this result.
    fn confirmed_at(&self) -> Instant {
        let confirmed_after =
            self.site.as_ref().map_or(0, |site| site.confirmed_after_micros.load(Ordering::Acquire));
        self.read_at + Duration::from_micros(confirmed_after)
    }
}

impl InUse {
    /// Records that the route was current at this time. This changes the listed site, not the cache, so a
    /// host that was dropped meanwhile stays dropped.
    pub fn confirm(&self, requested_at: Instant) {
        let after = requested_at.duration_since(self.read_at).as_micros();
        self.site.confirmed_after_micros.store(u64::try_from(after).unwrap_or(0), Ordering::Release);
    }
}

impl Sites {
    pub fn new(capacity_bytes: u64) -> Self {
        let bounds = Bounds { capacity_bytes, entry_bytes: HOST_BYTES, largest_bytes: HOST_BYTES_MAX };
        Self { entries: bounds.cache(ByWeight) }
    }

    /// The cached result for a host, if it may be trusted. `is_covered` decides by the time of the read or
    /// confirmation.
    pub fn recall(&self, host: &Host, is_covered: impl Fn(Instant) -> bool) -> Option<Option<Arc<Site>>> {
        let known = self.entries.get(host).filter(|known| is_covered(known.confirmed_at()))?;
        if let Some(site) = &known.site
            && !site.is_visited.load(Ordering::Relaxed)
        {
            site.is_visited.store(true, Ordering::Relaxed);
        }
        Some(known.site)
    }

    /// Whether this host was read from the store before, however long ago.
    pub fn is_known(&self, host: &Host) -> bool {
        self.entries.peek(host).is_some()
    }

    /// The sites that were visited since the last call.
    pub fn in_use(&self) -> Vec<InUse> {
        let visited = |(_, known): (Host, RouteRead)| {
            let RouteRead { site, read_at } = known;
            site.filter(|site| site.is_visited.swap(false, Ordering::Relaxed))
                .map(|site| InUse { site, read_at })
        };
        self.entries.iter().filter_map(visited).collect()
    }

    /// Reads a host from the store. Concurrent requests for it share one read.
    pub async fn fetch<R>(
        &self,
        host: &Host,
        is_covered: impl Fn(Instant) -> bool,
        read: R,
    ) -> anyhow::Result<Option<Arc<Site>>>
    where
        R: Future<Output = anyhow::Result<Option<Route>>>,
    {
        let requested_at = Instant::now();
        let found = self.entries.entry_async(host, |_, known| {
            // A result that was read after this request arrived is fresh enough, even without a lease.
            if known.confirmed_at() > requested_at || is_covered(known.confirmed_at()) {
                EntryAction::Retain(known.site.clone())
            } else {
                EntryAction::ReplaceWithGuard
            }
        });
        let guard = match found.await {
            EntryResult::Retained(site) => return Ok(site),
            EntryResult::Vacant(guard) | EntryResult::Replaced(guard, _) => guard,
            EntryResult::Removed(..) | EntryResult::Timeout => {
                anyhow::bail!("the route cache has no entry for {host}")
            }
        };
        let read_at = Instant::now();
        let site = read.await?.map(|route| Arc::new(Site::new(route)));
        // Fails if the host was dropped meanwhile. The result is then only for the requests that came before
        // the drop.
        let _ = guard.insert(RouteRead { site: site.clone(), read_at });
        Ok(site)
    }

    pub fn drop_host(&self, host: &Host) {
        self.entries.remove(host);
    }
}

#[derive(Clone)]
struct ByWeight;

impl Weighter<Host, RouteRead> for ByWeight {
    fn weight(&self, _: &Host, known: &RouteRead) -> u64 {
        ENTRY_OVERHEAD_BYTES + known.site.as_ref().map_or(0, |site| site.weight_bytes)
    }
}

#[cfg(test)]
mod tests;
