//! The cache of routes by host, for as long as they may be trusted.
//!
//! A read that started before a host was dropped never enters the cache after it, because dropping removes
//! the placeholder that the read holds. Hosts that do not exist are cached too. They weigh next to nothing,
//! and the cache evicts cold entries first, so a flood of them does not evict busy sites.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use domain::{Host, ManifestFile, ModerationStatus, Route, Time};
use poem::http::HeaderValue;
use quick_cache::Weighter;
use quick_cache::sync::{Cache, EntryAction, EntryResult};
use tokio::time::Instant;

use crate::bounds::Bounds;
use crate::conditional::{has_begun, http_date};
use crate::front::FrontPage;
use crate::rules_cache::RulesKey;
use crate::tally::ViewCounter;

/// A route, with values that are computed once for all visits.
pub struct Site {
    pub route: Route,
    /// `None` for a site without rules of its own.
    pub rules: Option<RulesKey>,
    pub views: Arc<ViewCounter>,
    /// `None` also for a site with rules, which may change any response.
    pub front: Option<FrontPage>,
    last_modified: Option<HeaderValue>,
    weight_bytes: u64,
    /// Whether every change of the route is in the log of route changes.
    is_logged: bool,
    /// Whether it is live at its host, or only the page of staged versions.
    pub is_live: bool,
}

/// The result of a read from the store, and when the read started.
#[derive(Clone)]
pub struct RouteRead {
    site: Option<Arc<Site>>,
    read_at: Instant,
}

pub struct Sites {
    entries: Cache<Host, RouteRead, ByWeight>,
    confirmation: Confirmation,
}

/// What the log of route changes says about all cached routes.
struct Confirmation {
    created_at: Instant,
    /// Routes that were read before this time are not confirmed. In nanoseconds since `created_at`.
    since_nanos: AtomicU64,
    /// When the log was last read, in nanoseconds since `created_at`.
    at_nanos: AtomicU64,
}

/// Overhead of a cache entry besides its content.
const ENTRY_OVERHEAD_BYTES: u64 = 256;
/// Overhead of a manifest's file besides its texts.
const FILE_BYTES: u64 = 160;
/// Overhead of a front page: its size, and two contents that were evicted but whose allocations it keeps.
const FRONT_BYTES: u64 = 424;
/// The estimated size of an entry, and the maximum: that of fifty files with the longest paths.
pub const HOST_BYTES: u64 = 1 << 10;
pub const HOST_BYTES_MAX: u64 = 1 << 16;

/// The estimated size of a manifest's file in memory.
pub fn weight_of_file(file: &ManifestFile) -> u64 {
    FILE_BYTES + (file.path.as_str().len() + file.content_type.len()) as u64
}

impl Site {
    pub fn new(route: Route) -> Self {
        let last_modified = http_date(route.updated_at);
        // Whether a pending route is held back depends on other versions too, which the log does not cover.
        let is_logged = route.moderation != ModerationStatus::Pending || route.expires_at.is_none();
        let rules = route.manifest.rule_files().map(RulesKey::of);
        let views = ViewCounter::new(route.account, route.host.clone());
        let front = if rules.is_none() { FrontPage::of(&route) } else { None };
        let files_bytes: u64 = route.manifest.files().iter().map(weight_of_file).sum();
        let weight_bytes = files_bytes + front.as_ref().map_or(0, |_| FRONT_BYTES);
        Self { route, rules, views, front, last_modified, weight_bytes, is_logged, is_live: true }
    }

    /// A page without a live version.
    pub fn staged_only(route: Route) -> Self {
        Self { is_live: false, ..Self::new(route) }
    }

    pub fn weight_bytes(&self) -> u64 {
        self.weight_bytes
    }

    /// `Last-Modified`, unless it is in the future.
    pub fn last_modified(&self, now: Time) -> Option<&HeaderValue> {
        self.last_modified.as_ref().filter(|_| has_begun(self.route.updated_at, now))
    }
}

impl Confirmation {
    /// Nothing is confirmed yet.
    fn none() -> Self {
        let since_nanos = AtomicU64::new(u64::MAX);
        Self { created_at: Instant::now(), since_nanos, at_nanos: AtomicU64::new(0) }
    }

    /// When the store last confirmed this result.
    fn of(&self, known: &RouteRead) -> Instant {
        let is_logged = known.site.as_ref().is_none_or(|site| site.is_logged);
        // In this order: a confirmation is never combined with an earlier start than its own.
        let at_nanos = self.at_nanos.load(Ordering::Acquire);
        let is_covered = self.nanos(known.read_at) >= self.since_nanos.load(Ordering::Acquire);
        if is_logged && is_covered {
            known.read_at.max(self.created_at + Duration::from_nanos(at_nanos))
        } else {
            known.read_at
        }
    }

    fn nanos(&self, moment: Instant) -> u64 {
        u64::try_from(moment.duration_since(self.created_at).as_nanos()).unwrap_or(u64::MAX)
    }
}

impl Sites {
    pub fn new(capacity_bytes: u64) -> Self {
        let bounds = Bounds { capacity_bytes, entry_bytes: HOST_BYTES, largest_bytes: HOST_BYTES_MAX };
        Self { entries: bounds.cache(ByWeight), confirmation: Confirmation::none() }
    }

    /// The cached result for a host, if it may be trusted. `is_covered` decides by the time of the read or
    /// confirmation.
    pub fn recall(&self, host: &Host, is_covered: impl Fn(Instant) -> bool) -> Option<Option<Arc<Site>>> {
        let known = self.entries.get(host)?;
        is_covered(self.confirmation.of(&known)).then_some(known.site)
    }

    /// Whether this host was read from the store before, however long ago.
    pub fn is_known(&self, host: &Host) -> bool {
        self.entries.peek(host).is_some()
    }

    /// Records that the log was read, by a request at this time, and that all changed hosts were dropped.
    pub fn confirm(&self, requested_at: Instant) {
        self.confirmation.at_nanos.store(self.confirmation.nanos(requested_at), Ordering::Release);
    }

    /// Records that the log covers only routes that are read from this time on.
    pub fn confirm_none_before(&self, start: Instant) {
        self.confirmation.since_nanos.store(self.confirmation.nanos(start), Ordering::Release);
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
            let confirmed_at = self.confirmation.of(known);
            if confirmed_at > requested_at || is_covered(confirmed_at) {
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
