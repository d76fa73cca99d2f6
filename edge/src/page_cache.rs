//! A cache of what is read from the store on top of a page's route.
//!
//! An entry belongs to one reading of that route and is useless after the next, so whatever closes or changes
//! the page, or drops its route from the cache, does the same to its entries. A change of another version of
//! the page, such as its moderation status, sends a notice for the page's host. It is in no log, so an entry
//! is trusted only for as long as its own reading is covered.

use std::future::Future;
use std::hash::Hash;
use std::sync::{Arc, Weak};

use quick_cache::Weighter;
use quick_cache::sync::{Cache, EntryAction, EntryResult};
use tokio::time::Instant;

use crate::bounds::Bounds;
use crate::sites::Site;

pub struct PageCache<K, V> {
    entries: Cache<K, Known<V>, ByWeight>,
}

/// The estimated size of a value in memory.
pub trait Weigh {
    fn weight_bytes(&self) -> u64;
}

/// The result of a read from the store.
#[derive(Clone)]
struct Known<V> {
    /// The reading of the page's route that it belongs to.
    page: Weak<Site>,
    value: V,
    read_at: Instant,
}

/// Overhead of an entry. It includes the page's allocation, which the weak reference keeps.
const ENTRY_OVERHEAD_BYTES: u64 = 1 << 10;

impl<K: Hash + Eq + Clone, V: Clone + Weigh> PageCache<K, V> {
    pub fn new(bounds: &Bounds) -> Self {
        Self { entries: bounds.cache(ByWeight) }
    }

    /// The value on top of this reading of the page, from memory or from the store. `read` gets the value of
    /// an earlier reading. Concurrent requests for a value share one read.
    pub async fn find<F>(
        &self,
        key: &K,
        page: &Arc<Site>,
        is_covered: impl Fn(Instant) -> bool,
        read: impl FnOnce(Option<V>) -> F,
    ) -> anyhow::Result<V>
    where
        F: Future<Output = anyhow::Result<V>>,
    {
        let (requested_at, reading) = (Instant::now(), Arc::downgrade(page));
        let entry = self.entries.entry_async(key, |_, known| {
            let is_fresh = known.read_at > requested_at || is_covered(known.read_at);
            if is_fresh && known.page.ptr_eq(&reading) {
                EntryAction::Retain(known.value.clone())
            } else {
                EntryAction::ReplaceWithGuard
            }
        });
        let (guard, before) = match entry.await {
            EntryResult::Retained(value) => return Ok(value),
            EntryResult::Vacant(guard) => (guard, None),
            EntryResult::Replaced(guard, known) => (guard, Some(known.value)),
            EntryResult::Removed(..) | EntryResult::Timeout => {
                anyhow::bail!("a cache of pages has no entry after a read")
            }
        };
        let read_at = Instant::now();
        let value = read(before).await?;
        let _ = guard.insert(Known { page: reading, value: value.clone(), read_at });
        Ok(value)
    }

    #[cfg(test)]
    pub fn weight_bytes(&self) -> u64 {
        self.entries.weight()
    }
}

#[derive(Clone)]
struct ByWeight;

impl<K, V: Weigh> Weighter<K, Known<V>> for ByWeight {
    fn weight(&self, _: &K, known: &Known<V>) -> u64 {
        ENTRY_OVERHEAD_BYTES + known.value.weight_bytes()
    }
}
