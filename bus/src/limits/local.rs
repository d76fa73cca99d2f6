//! The counters that a process holds by itself.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use domain::Time;
use hashlink::LruCache;

use super::{Bucket, Budget, RateLimit, Remaining, RetryAfter, Window};

/// The largest number of counters per limit.
pub(super) const KEYS_MAX: usize = 100_000;

/// Each limit has its own store, so that many keys under one limit do not evict counters of another. A full
/// store evicts the counter that was least recently used.
#[derive(Default)]
pub(crate) struct LocalCounters {
    stores: Mutex<Stores>,
}

#[derive(Default)]
struct Stores {
    windows: StoresByName<Window>,
    /// When each bucket is full again, in microseconds.
    buckets: StoresByName<i64>,
}

type StoresByName<T> = HashMap<&'static str, LruCache<String, T>>;

impl LocalCounters {
    pub(crate) fn take(&self, limit: &RateLimit, now: Time) -> Result<Remaining, RetryAfter> {
        let Stores { windows, buckets } = &mut *self.lock();
        match limit.budget {
            Budget::Window { takes, length } => {
                let store = store_of(windows, limit);
                let window = Window::after_take(store.get(&limit.key).copied(), length, now);
                let remaining = window.verdict(takes, length, now)?;
                store.insert(limit.key.clone(), window);
                Ok(remaining)
            }
            Budget::Bucket { takes, refill } => {
                let (store, bucket) = (store_of(buckets, limit), Bucket::new(takes, refill, now));
                let after = bucket.after_take(store.get(&limit.key).copied());
                let remaining = bucket.verdict(after)?;
                store.insert(limit.key.clone(), after);
                Ok(remaining)
            }
        }
    }

    pub(crate) fn give_back(&self, limit: &RateLimit) {
        let stores = &mut *self.lock();
        let windows = store_of(&mut stores.windows, limit);
        let Some(window) = windows.get_mut(&limit.key) else { return };
        window.taken = window.taken.saturating_sub(1);
        if window.taken == 0 {
            windows.remove(&limit.key);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Stores> {
        self.stores.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn store_of<'a, T>(stores: &'a mut StoresByName<T>, limit: &RateLimit) -> &'a mut LruCache<String, T> {
    stores.entry(limit.name).or_insert_with(|| LruCache::new(KEYS_MAX))
}
