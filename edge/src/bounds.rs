//! Sizing of the in-memory caches.

use std::hash::Hash;

use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, OptionsBuilder, Weighter};

pub struct Bounds {
    pub capacity_bytes: u64,
    /// Estimated size of an entry. The hash tables are sized by it.
    pub entry_bytes: u64,
    pub largest_bytes: u64,
}

/// Each shard must hold several of the largest entries, or such entries are evicted at once.
const LARGEST_PER_SHARD: u64 = 4;
const SHARDS_MAX: u64 = 64;

impl Bounds {
    pub fn cache<K, V, W>(&self, weighter: W) -> Cache<K, V, W>
    where
        K: Eq + Hash,
        V: Clone,
        W: Weighter<K, V> + Clone,
    {
        let mut options = OptionsBuilder::new();
        options
            .shards(self.shards())
            .estimated_items_capacity(self.entries())
            .weight_capacity(self.capacity_bytes);
        let (hasher, lifecycle) = (DefaultHashBuilder::default(), DefaultLifecycle::default());
        match options.build() {
            Ok(options) => Cache::with_options(options, weighter, hasher, lifecycle),
            // Building fails only without a capacity, and both are set above.
            Err(_) => Cache::with(self.entries(), self.capacity_bytes, weighter, hasher, lifecycle),
        }
    }

    fn entries(&self) -> usize {
        usize::try_from(self.capacity_bytes / self.entry_bytes).unwrap_or(usize::MAX).max(1)
    }

    fn shards(&self) -> usize {
        let shards = self.capacity_bytes / (self.largest_bytes * LARGEST_PER_SHARD);
        // The cache rounds up to a power of two; rounding down here keeps the shards large enough.
        1 << shards.clamp(1, SHARDS_MAX).ilog2()
    }
}
