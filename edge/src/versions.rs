//! Versions at their own addresses: a site with the files and the moderation status of one of its versions.
//!
//! A version is served only on top of its page's current route (`page_cache`).

use std::future::Future;
use std::sync::Arc;

use domain::SiteLabel;
use tokio::time::Instant;

use crate::bounds::Bounds;
use crate::page_cache::{PageCache, Weigh};
use crate::sites::{HOST_BYTES, HOST_BYTES_MAX, Site};

/// The cache of versions by their labels, including labels that name no version.
pub struct Versions(PageCache<SiteLabel, Option<FoundVersion>>);

/// A version, and its number, by which it is found faster the next time.
#[derive(Clone)]
pub struct FoundVersion {
    pub seq: u32,
    pub site: Arc<Site>,
}

impl Versions {
    pub fn new(capacity_bytes: u64) -> Self {
        let bounds = Bounds { capacity_bytes, entry_bytes: HOST_BYTES, largest_bytes: HOST_BYTES_MAX };
        Self(PageCache::new(&bounds))
    }

    /// The version on top of this reading of its page, from memory or from the store. `read` gets the `seq`
    /// if the label is known. Concurrent requests for a version share one read.
    pub async fn find<F>(
        &self,
        label: &SiteLabel,
        page: &Arc<Site>,
        is_covered: impl Fn(Instant) -> bool,
        read: impl FnOnce(Option<u32>) -> F,
    ) -> anyhow::Result<Option<Arc<Site>>>
    where
        F: Future<Output = anyhow::Result<Option<FoundVersion>>>,
    {
        let artifact = page.route.artifact;
        let read = |before: Option<Option<FoundVersion>>| {
            let known = before.flatten().filter(|found| found.site.route.artifact == artifact);
            read(known.map(|found| found.seq))
        };
        let found = self.0.find(label, page, is_covered, read).await?;
        Ok(found.map(|found| found.site))
    }
}

impl Weigh for Option<FoundVersion> {
    fn weight_bytes(&self) -> u64 {
        self.as_ref().map_or(0, |found| found.site.weight_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::harness;

    fn page() -> Arc<Site> {
        Arc::new(Site::new(harness::route(vec![])))
    }

    /// Finds the version, and returns the `seq` that the store was asked for, if it was asked.
    async fn asked(versions: &Versions, page: &Arc<Site>, is_covered: bool) -> Option<Option<u32>> {
        let (label, mut asked) = ("my-page-a1b2-0z9y8x7w".parse().unwrap(), None);
        let read = |seq| {
            asked = Some(seq);
            async { Ok(Some(FoundVersion { seq: 7, site: page.clone() })) }
        };
        assert!(versions.find(&label, page, |_| is_covered, read).await.unwrap().is_some());
        asked
    }

    #[tokio::test]
    async fn version_is_read_again_with_every_reading_of_its_page() {
        let (versions, first) = (Versions::new(1 << 20), page());
        assert_eq!(asked(&versions, &first, true).await, Some(None));
        assert_eq!(asked(&versions, &first, true).await, None, "it is cached");
        assert_eq!(asked(&versions, &first, false).await, Some(Some(7)), "not without a lease");
        let second = page();
        assert_eq!(asked(&versions, &second, true).await, Some(Some(7)), "its name is known");
        assert_eq!(asked(&versions, &first, true).await, Some(Some(7)), "it belongs to the second reading");
    }

    #[tokio::test]
    async fn unknown_labels_are_cached_and_bounded() {
        let (versions, page) = (Versions::new(1 << 20), page());
        let find = async |number: u32, read: bool| {
            let label = format!("my-page-a1b2-{number:08}").parse().unwrap();
            let none = async |_| {
                assert!(read, "{number} is cached");
                Ok(None)
            };
            assert!(versions.find(&label, &page, |_| true, none).await.unwrap().is_none());
        };
        find(0, true).await;
        find(0, false).await;
        for number in 1..5_000 {
            find(number, true).await;
        }
        assert!(versions.0.weight_bytes() <= 1 << 20);
    }
}
