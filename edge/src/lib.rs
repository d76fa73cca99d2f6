//! The door for readers: published sites, served by `/site/<host>/…` and by `<host>.<domain>`.
//!
//! One straight pipeline, each step a module, the order in one place (`door`): find the site → gate → resolve the
//! path → choose the form (encoding, dress) → answer. What is asked for often comes from memory: routes by host,
//! contents by hash.
//!
//! It reads the store and writes nothing; what it counts it hands to whoever flushes the tally. It must never serve
//! a route that its seat does not vouch for, never show a visitor the user's content where the gate is shut, and
//! never hold a large file whole in memory.

mod bounds;
mod charset;
mod chunks;
mod closed;
mod conditional;
mod content;
mod find;
mod form;
mod freshen;
mod gate;
mod handler;
mod headers;
#[cfg(any(test, feature = "hostile"))]
pub mod hostile;
mod icon;
mod load;
mod meters;
mod misses;
mod pack;
mod patience;
mod press;
mod range;
mod resolve;
mod response;
mod rewrite;
mod show;
mod sign_links;
mod sites;
mod streams;
mod tally;

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
use domain::{Chance, Clock, JobId, ViewsJob};
use futures::future::BoxFuture;
use poem::Request;
use store::{Blobs, Store};
use telemetry::Vitals;
use tokio_util::sync::CancellationToken;
use url::Url;

pub use closed::NO_PAGE;
pub use handler::PageHandler;
pub use load::LoadTerms;

use find::Names;
use handler::Inner;
use headers::HeaderPolicy;
use meters::Meters;
use misses::Misses;
use sign_links::Origins;
use sites::Sites;
use tally::{Delivery, Tally};

/// What an edge must know besides where things are stored.
#[derive(Clone)]
pub struct EdgeSettings {
    /// Sites are served at `<host>.<domain>`.
    pub domain: String,
    /// Where sites are served by path; its own name is never taken for a site's.
    pub serve_url: String,
    /// In host style the path of a site only redirects to the site's own name.
    pub url_style: UrlStyle,
    /// Where the badge and the pages of this service point to.
    pub base_url: String,
    /// Whom visitors may write to about a page that is blocked, as a URI.
    pub contact: Option<String>,
    /// The bound of what is kept in memory, routes and contents together. As much again may live in answers on their way.
    pub cache_bytes: u64,
    /// Where pages may load web fonts from, as sources of a content security policy: `fonts.example`.
    pub font_hosts: Vec<String>,
    /// Checks the `sig` of private sites and carries it on.
    pub link_key: LinkKey,
    /// What the process tells of itself.
    pub vitals: Vitals,
    /// How much is done at a time of what is not answered from memory.
    pub load: LoadTerms,
    /// Whose share a request takes of what visitors share.
    pub network_of: NetworkOf,
    /// How many sites that do not exist a network may ask for in a minute. 0: any number.
    pub misses_per_minute: u32,
    /// The network whose misses are counted. Unlike shares, programs on this machine have one, too.
    pub client_network_of: NetworkOf,
}

/// The network that a request comes from; none where its visitors cannot be told apart, and so have no share.
pub type NetworkOf = Arc<dyn Fn(&Request) -> Option<IpAddr> + Send + Sync>;

/// An edge of this process.
pub struct Edge {
    inner: Arc<Inner>,
}

/// The part of the cache that is for routes; the rest is for contents.
const ROUTE_SHARE: u64 = 8;

impl Edge {
    /// Takes a seat among the edges and is ready to serve. Its routes are kept fresh for as long as it lives.
    pub fn new(
        settings: EdgeSettings,
        store: Store,
        blobs: Blobs,
        bus: &Bus,
        clock: Clock,
    ) -> anyhow::Result<Self> {
        let serve_url = Url::parse(&settings.serve_url).context("the edge's serve_url")?;
        let route_bytes = settings.cache_bytes / ROUTE_SHARE;
        let sites = Arc::new(Sites::new(route_bytes));
        let lease = bus.join_as_edge({
            let sites = sites.clone();
            move |host| sites.drop_host(host)
        });
        let stop_freshening = CancellationToken::new();
        tokio::spawn(freshen::run(sites.clone(), store.clone(), stop_freshening.clone()));
        let load = &settings.load;
        let inner = Inner {
            _freshening: stop_freshening.drop_guard(),
            names: Names::new(&settings.domain, &serve_url, settings.url_style),
            policy: HeaderPolicy::new(&settings.font_hosts)?,
            closed_pages: ClosedPages::new(&settings.base_url, settings.contact.as_deref()),
            contents: Contents::new(
                settings.cache_bytes - route_bytes,
                blobs,
                load,
                &settings.base_url,
                Origins::new(&serve_url, &settings.domain),
            ),
            link_key: settings.link_key,
            vitals: settings.vitals,
            meters: Meters::new(),
            tally: Tally::default(),
            troubles: Troubles::default(),
            route_reads: Slots::new(load.route_reads_max, load.waiting_max),
            turn_wait_max: load.wait_max,
            network_of: settings.network_of,
            client_network_of: settings.client_network_of,
            misses: Misses::new(settings.misses_per_minute),
            is_database_silent: AtomicBool::default(),
            sites,
            lease,
            store,
            clock,
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// What a server runs: bare, because routes and middleware cost a tenth of the speed each.
    pub fn endpoint(&self) -> PageHandler {
        PageHandler::new(self.inner.clone())
    }

    /// Flushes the counted views until cancelled, and once more at the end, after the last answer was given. `push`
    /// keeps a batch as a job of this id: once, however often it is called.
    pub async fn run_tally<F>(&self, push: F, chance: Chance, cancel: CancellationToken)
    where
        F: Fn(JobId, ViewsJob) -> BoxFuture<'static, anyhow::Result<()>>,
    {
        let clock = self.inner.clock.clone();
        Delivery::new(&self.inner.tally, clock, chance, push).run(cancel).await;
    }

    /// Gives the seat up, so that changes need not wait for an edge that has stopped.
    pub async fn leave(self) {
        if let Some(inner) = Arc::into_inner(self.inner) {
            inner.lease.leave().await;
        }
    }
}

#[cfg(test)]
mod tests;
mod visit;
