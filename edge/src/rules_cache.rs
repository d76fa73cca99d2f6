//! The cache of the parsed rules of sites, by the contents of their `_redirects` and `_headers`.
//!
//! A site that has neither file does not use it.

use std::future::Future;
use std::sync::Arc;

use domain::BlobHash;
use domain::site_rules::{RuleFiles, SiteRules};
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use crate::bounds::Bounds;

pub struct RulesCache {
    parsed: Cache<RulesKey, Arc<SiteRules>, ByWeight>,
}

/// The contents of the files with a site's rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RulesKey {
    redirects: Option<BlobHash>,
    headers: Option<BlobHash>,
}

/// The estimated size of an entry, and the maximum: two files of the maximum size.
const RULES_BYTES: u64 = 2 << 10;
const RULES_BYTES_MAX: u64 = 256 << 10;
/// Overhead of a cache entry besides its rules.
const ENTRY_OVERHEAD_BYTES: u64 = 256;

impl RulesKey {
    pub fn of(files: RuleFiles<'_>) -> Self {
        Self {
            redirects: files.redirects.map(|file| file.hash),
            headers: files.headers.map(|file| file.hash),
        }
    }
}

impl RulesCache {
    pub fn new(capacity_bytes: u64) -> Self {
        let (entry_bytes, largest_bytes) = (RULES_BYTES, RULES_BYTES_MAX);
        Self { parsed: Bounds { capacity_bytes, entry_bytes, largest_bytes }.cache(ByWeight) }
    }

    /// The rules from memory, or else loaded. Concurrent requests for the same rules share one load.
    pub async fn get<L>(&self, key: RulesKey, load: L) -> anyhow::Result<Arc<SiteRules>>
    where
        L: Future<Output = anyhow::Result<SiteRules>>,
    {
        self.parsed.get_or_insert_async(&key, async { Ok(Arc::new(load.await?)) }).await
    }
}

#[derive(Clone)]
struct ByWeight;

impl Weighter<RulesKey, Arc<SiteRules>> for ByWeight {
    fn weight(&self, _: &RulesKey, rules: &Arc<SiteRules>) -> u64 {
        ENTRY_OVERHEAD_BYTES + rules.weight_bytes()
    }
}
