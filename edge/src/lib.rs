//! The edge: serves published sites to visitors, at `/site/<host>/…` and at `<host>.<domain>`.
//!
//! A request passes through a fixed pipeline, whose order is in `handler`: find the site, check access,
//! resolve the path, choose the form (encoding, dress), respond. Routes are cached by host and contents by
//! hash.
//!
//! The edge reads the store and writes nothing. It hands view counts to the process that runs it. It must
//! never serve a route that its lease does not cover, never show the user's content to a visitor without
//! access, and never hold a large file whole in memory.

mod bounds;
mod charset;
mod chunks;
mod closed;
mod conditional;
mod content;
mod find;
mod follow;
mod form;
mod former_files;
mod front;
mod gate;
mod handler;
mod headers;
#[cfg(any(test, feature = "hostile"))]
pub mod hostile;
mod icon;
mod load;
mod meters;
mod misses;
mod old_tabs;
mod pack;
mod page_cache;
mod patience;
mod press;
mod range;
mod resolve;
mod response;
mod rewrite;
mod rules;
mod rules_cache;
mod show;
mod show_front;
mod sign_links;
mod site_headers;
mod sites;
mod streams;
mod tally;
mod version_lookup;
mod versions;

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use admission::Slots;
use anyhow::Context;
use bus::Bus;
use closed::{ClosedPages, Troubles};
use content::Contents;
use domain::link::UrlStyle;
use domain::signing_key::LinkKey;
use domain::{Chance, Clock, ContentPolicy, JobId, ServiceLinks, ViewsJob};
use futures::future::BoxFuture;
use poem::Request;
use store::{Blobs, ContentReader, RouteReader, Store};
use telemetry::Vitals;
use tokio_util::sync::CancellationToken;
use url::Url;

pub use closed::NO_PAGE;
pub use handler::PageHandler;
pub use load::LoadTerms;

use find::Names;
use former_files::FormerFiles;
use handler::Inner;
use headers::HeaderPolicy;
use meters::Meters;
use misses::Misses;
use rules_cache::RulesCache;
use sign_links::Origins;
use sites::Sites;
use tally::{Delivery, Tally};
use versions::Versions;

/// The settings of an edge.
#[derive(Clone)]
pub struct EdgeSettings {
    /// Sites are served at `<host>.<domain>`.
    pub domain: String,
    /// The base URL of sites that are served by path. Its host name is never taken for a site's name.
    pub serve_url: String,
    /// In host style, a site's path only redirects to the site's own name.
    pub url_style: UrlStyle,
    /// The link target of the badge and of error pages.
    pub base_url: String,
    /// The operator's contact and own pages, which error pages link to.
    pub links: ServiceLinks,
    /// The limit of cached routes and contents together. Responses in flight may hold the same amount.
    pub cache_bytes: u64,
    /// What pages may load from other hosts.
    pub policy: ContentPolicy,
    /// Verifies the `sig` of private sites and signs the links within them.
    pub link_key: LinkKey,
    /// The health and the metrics of the process.
    pub vitals: Vitals,
    /// Limits of concurrent work that is not served from memory.
    pub load: LoadTerms,
    /// The network whose fair share a request uses.
    pub network_of: NetworkOf,
    /// How many sites that do not exist a network may request in a minute. 0: no limit.
    pub misses_per_minute: u32,
    /// The network whose misses are counted. Clients on this machine have one here, unlike in `network_of`.
    pub client_network_of: NetworkOf,
}

/// The network of a request, or `None` if its clients cannot be distinguished and have no fair share.
pub type NetworkOf = Arc<dyn Fn(&Request) -> Option<IpAddr> + Send + Sync>;

/// An edge in this process.
pub struct Edge {
    inner: Arc<Inner>,
}

/// One part in `ROUTE_SHARE` of the cache is for routes, with versions at their own addresses and the rules
/// of sites. The rest is for contents.
const ROUTE_SHARE: u64 = 5;
/// One part in `VERSION_SHARE` of the routes' cache is for versions at their own addresses.
const VERSION_SHARE: u64 = 4;
/// One part in `FORMER_SHARE` of the routes' cache is for files of versions that were live until recently.
const FORMER_SHARE: u64 = 16;
/// One part in `RULES_SHARE` of the routes' cache is for the parsed rules of sites.
const RULES_SHARE: u64 = 8;

impl Edge {
    /// Registers the edge for notices. It follows the log of route changes in the background until it is
    /// dropped.
    pub fn new(
        settings: EdgeSettings,
        store: Store,
        blobs: Blobs,
        bus: &Bus,
        clock: Clock,
    ) -> anyhow::Result<Self> {
        let serve_url = Url::parse(&settings.serve_url).context("parse edge.serve_url")?;
        let route_bytes = settings.cache_bytes / ROUTE_SHARE;
        let version_bytes = route_bytes / VERSION_SHARE;
        let rules_bytes = route_bytes / RULES_SHARE;
        let former_bytes = route_bytes / FORMER_SHARE;
        let site_bytes = route_bytes - version_bytes - rules_bytes - former_bytes;
        let sites = Arc::new(Sites::new(site_bytes));
        let lease = bus.join_as_edge({
            let sites = sites.clone();
            move |host| sites.drop_host(host)
        });
        let stop_following = CancellationToken::new();
        let is_database_silent = Arc::<AtomicBool>::default();
        tokio::spawn(follow::run(
            sites.clone(),
            store.clone(),
            is_database_silent.clone(),
            stop_following.clone(),
        ));
        let load = &settings.load;
        let inner = Inner {
            _following: stop_following.drop_guard(),
            names: Names::new(&settings.domain, &serve_url, settings.url_style),
            policy: HeaderPolicy::new(&settings.policy)?,
            closed_pages: ClosedPages::new(&settings.base_url, &settings.links),
            contents: Contents::new(
                settings.cache_bytes - route_bytes,
                ContentReader::new(store.clone(), blobs),
                load,
                &settings.base_url,
                Origins::new(&serve_url, &settings.domain),
            ),
            rules: RulesCache::new(rules_bytes),
            link_key: settings.link_key,
            vitals: settings.vitals,
            meters: Meters::new(),
            tally: Tally::default(),
            troubles: Troubles::default(),
            route_reads: Slots::new(load.route_reads_max, load.waiting_max),
            permit_wait_max: load.wait_max,
            network_of: settings.network_of,
            client_network_of: settings.client_network_of,
            misses: Misses::new(settings.misses_per_minute),
            is_database_silent,
            versions: Versions::new(version_bytes),
            former_files: FormerFiles::cache(former_bytes),
            store: store.clone(),
            sites,
            lease,
            routes: RouteReader::start(store),
            clock,
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// The bare handler, because routing and middleware would each cost a tenth of the throughput.
    pub fn endpoint(&self) -> PageHandler {
        PageHandler::new(self.inner.clone())
    }

    /// Flushes view counts until cancelled, and once more after the last response. `push` stores a batch as a
    /// job with this id, idempotently.
    pub async fn run_tally<F>(&self, push: F, chance: Chance, cancel: CancellationToken)
    where
        F: Fn(JobId, ViewsJob) -> BoxFuture<'static, anyhow::Result<()>>,
    {
        let clock = self.inner.clock.clone();
        Delivery::new(&self.inner.tally, clock, chance, push).run(cancel).await;
    }

    /// Gives up the lease, so that changes do not wait for a stopped edge.
    pub async fn leave(self) {
        if let Some(inner) = Arc::into_inner(self.inner) {
            inner.lease.leave().await;
        }
    }
}

#[cfg(test)]
mod tests;
mod visit;
