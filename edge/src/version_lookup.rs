//! Finds the version that a label names, in the cache of versions or in the store.

use std::sync::Arc;

use anyhow::Context;
use domain::{ArtifactId, Host, SiteLabel, VersionTag};
use poem::Request;
use tokio::task::spawn_blocking;
use tokio::time::timeout_at;

use crate::closed::{Closed, Failure};
use crate::handler::Inner;
use crate::load::LoadQueue;
use crate::patience::Patience;
use crate::sites::Site;
use crate::versions::FoundVersion;

impl Inner {
    /// The version that a label names, unless the visitor's network has guessed too many names. `page` is the
    /// page that it belongs to.
    pub async fn known_version(
        &self,
        request: &Request,
        label: &SiteLabel,
        tag: VersionTag,
        page: &Arc<Site>,
        patience: Patience,
    ) -> Result<Arc<Site>, Failure> {
        let counting = self.counted_network(request);
        if let Some((misses, network)) = counting {
            misses.admit(network, label, self.clock.now())?;
        }
        let site = self.version(label, tag, page, patience).await?;
        if let Some((misses, network)) = counting {
            misses.settle(network, label, site.is_some(), self.clock.now())?;
        }
        Ok(site.ok_or(Closed::Missing)?)
    }

    async fn version(
        &self,
        label: &SiteLabel,
        tag: VersionTag,
        page: &Arc<Site>,
        patience: Patience,
    ) -> anyhow::Result<Option<Arc<Site>>> {
        let read = |seq| self.read(patience, self.read_version(tag, page, seq));
        if page.is_live {
            let is_covered = |read_at| self.lease.covers(read_at);
            return self.versions.find(label, page, is_covered, read).await;
        }
        // No notice announces a change of a page without a route, so the page is read for each request.
        Ok(read(None).await?.map(|found| found.site))
    }

    /// The page of a host that has only staged versions.
    pub async fn staged_only(&self, host: &Host, patience: Patience) -> anyhow::Result<Option<Arc<Site>>> {
        let found = Box::pin(self.read(patience, self.store.routes().find_staged_only(host))).await?;
        Ok(found.map(|route| Arc::new(Site::staged_only(route))))
    }

    /// Reads from the store as one of the reads of routes.
    pub async fn read<T>(
        &self,
        patience: Patience,
        read: impl Future<Output = anyhow::Result<T>>,
    ) -> anyhow::Result<T> {
        let permit = self.route_reads.acquire(patience.for_permit()).await;
        let _permit = permit.map_err(|_| LoadQueue::RouteReads.shed())?;
        timeout_at(patience.for_store(), read).await.context("the database did not respond in time")?
    }

    /// Reads a version. Its `seq` is found by computing the names of all versions, newest first.
    async fn read_version(
        &self,
        tag: VersionTag,
        page: &Site,
        seq: Option<u32>,
    ) -> anyhow::Result<Option<FoundVersion>> {
        let routes = self.store.routes();
        let seq = match seq {
            Some(seq) => Some(seq),
            None => match routes.newest_seq(page.route.artifact).await? {
                Some(newest) => self.seq_of(tag, page.route.artifact, newest).await?,
                None => None,
            },
        };
        let Some(seq) = seq else { return Ok(None) };
        let live = page.is_live.then_some(page.route.version);
        let route = routes.find_version(&page.route, live, seq).await?;
        Ok(route.map(|route| FoundVersion { seq, site: Arc::new(Site::new(route)) }))
    }

    async fn seq_of(
        &self,
        tag: VersionTag,
        artifact: ArtifactId,
        newest: u32,
    ) -> anyhow::Result<Option<u32>> {
        let key = self.link_key.clone();
        Ok(spawn_blocking(move || key.seq_of(tag, artifact, newest)).await?)
    }
}
