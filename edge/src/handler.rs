//! The request handler: the steps of a visit, in order.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use admission::Slots;
use anyhow::{Context, anyhow};
use bus::EdgeLease;
use domain::signing_key::LinkKey;
use domain::{Clock, Host, SiteLabel};
use poem::http::{Method, header};
use poem::{Endpoint, Request, Response};
use store::{RouteReader, Store};
use telemetry::{Audience, Vitals};
use tokio::time::timeout_at;
use tokio_util::sync::DropGuard;

use crate::NetworkOf;
use crate::closed::{Closed, ClosedPages, Failure, Troubles};
use crate::content::Contents;
use crate::find::{Names, SiteMatch, name_of};
use crate::former_files::FormerFilesCache;
use crate::gate::{self, Visitor};
use crate::headers::HeaderPolicy;
use crate::icon;
use crate::load::LoadQueue;
use crate::meters::{CacheLookup, Meters, WaitingMeter};
use crate::misses::Misses;
use crate::patience::Patience;
use crate::resolve::{Resolved, resolve};
use crate::response;
use crate::rules_cache::RulesCache;
use crate::sites::{Site, Sites};
use crate::tally::Tally;
use crate::versions::Versions;
use crate::visit::PageVisit;

/// The endpoint of an edge.
pub struct PageHandler(Arc<Inner>);

/// The state of an edge.
pub struct Inner {
    /// Stops following the log of route changes when the edge is dropped.
    pub _following: DropGuard,
    pub names: Names,
    pub policy: HeaderPolicy,
    pub closed_pages: ClosedPages,
    pub sites: Arc<Sites>,
    pub versions: Versions,
    pub former_files: FormerFilesCache,
    pub store: Store,
    pub lease: EdgeLease,
    pub contents: Contents,
    pub rules: RulesCache,
    pub route_reads: Slots,
    pub permit_wait_max: Duration,
    pub network_of: NetworkOf,
    pub client_network_of: NetworkOf,
    pub misses: Option<Misses>,
    /// Whether the last query got no response from the database. The next ones then have a shorter timeout.
    pub is_database_silent: Arc<AtomicBool>,
    pub routes: RouteReader,
    pub link_key: LinkKey,
    pub vitals: Vitals,
    pub meters: Meters,
    pub clock: Clock,
    pub tally: Tally,
    pub troubles: Troubles,
}

impl PageHandler {
    pub(crate) fn new(inner: Arc<Inner>) -> Self {
        Self(inner)
    }
}

impl Endpoint for PageHandler {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        let mut visitor = self.0.meters.begin(request.method());
        let closed = match self.0.respond(&request, &mut visitor).await {
            Ok(response) => Ok(response),
            Err(Failure::Closed(closed)) => Err(closed),
            Err(Failure::Trouble(error)) => Err(self.0.troubles.report(&error, &self.0.clock)),
        };
        let mut response =
            closed.unwrap_or_else(|closed| self.0.closed_pages.show(closed, request.uri().query()));
        if request.method() == Method::HEAD {
            response.take_body();
        }
        visitor.end(response.status());
        Ok(response)
    }
}

impl Inner {
    /// Runs find, gate, resolve or the site's rules, and show, in this order.
    async fn respond(&self, request: &Request, visitor: &mut WaitingMeter<'_>) -> Result<Response, Failure> {
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return Err(Closed::MethodNotAllowed.into());
        }
        let name = name_of(request.uri(), request.headers(), request.version())?;
        let found = self.names.find(request.uri(), name)?;
        visitor.requested = CacheLookup::of(&found);
        let address = match found {
            SiteMatch::Site(address) => address,
            SiteMatch::Icon => return Ok(icon::show()),
            SiteMatch::Alive => return Ok(response::health(Vitals::alive())),
            SiteMatch::Ready => {
                return Ok(response::health(Box::pin(self.vitals.readiness(Audience::Stranger)).await));
            }
        };
        let patience = Patience::new(visitor.since, self.permit_wait_max);
        let page = self.known_page(request, &address.label, patience).await?;
        let query = request.uri().query();
        let referer = request.headers().get(header::REFERER).and_then(|value| value.to_str().ok());
        let (visitor, now) = (Visitor { name, query, referer }, self.clock.now());
        let pass = gate::admit(&page.route, &address, &visitor, &self.link_key, now)?;
        let site = match address.label.version {
            None => page,
            Some(tag) => {
                let found = Box::pin(self.known_version(request, &address.label, tag, &page, patience));
                let site = found.await?;
                gate::admit_to_version(&site.route)?;
                site
            }
        };
        let live_address = self.names.live_address_of(&address);
        let visit = PageVisit { request, address, site: &site, pass, live_address, now, patience };
        if let Some(location) = self.names.own_name_of(&visit.address) {
            return Ok(response::redirect(self.policy.of_site(&visit), location, query)?);
        }
        if let Some(response) = self.show_front(&visit)? {
            return Ok(response);
        }
        match site.rules {
            None => match resolve(&site.route.manifest, visit.address.path) {
                absent if absent.is_absent() => Box::pin(self.show_absent(&visit, absent)).await,
                found => self.show_found(&visit, found).await,
            },
            Some(key) => Box::pin(self.show_by_rules(&visit, key)).await,
        }
    }

    /// Responds with what the path refers to, regardless of the site's rules.
    pub async fn show_found(&self, visit: &PageVisit<'_>, found: Resolved<'_>) -> Result<Response, Failure> {
        let (route, query) = (&visit.site.route, visit.request.uri().query());
        match found {
            Resolved::File(file) => {
                gate::admit_file(route, file, visit.now)?;
                self.show(visit, file).await
            }
            Resolved::OwnNotFound(file) => {
                gate::admit_file(route, file, visit.now)?;
                self.show_not_found(visit, file).await
            }
            Resolved::Nothing => Err(visit.no_file().into()),
            Resolved::OnlyPage(page) => {
                let (headers, root) = (self.policy.of_site(visit), visit.address.with_slash());
                Ok(response::redirect(headers, format!("{root}{}", page.path.in_url()), query)?)
            }
            Resolved::Folder => {
                let headers = self.policy.of_site(visit);
                Ok(response::redirect(headers, visit.address.with_slash(), query)?)
            }
        }
    }

    /// The site of a label's host, unless the visitor's network has requested too many sites that do not
    /// exist.
    async fn known_page(
        &self,
        request: &Request,
        label: &SiteLabel,
        patience: Patience,
    ) -> Result<Arc<Site>, Failure> {
        let (host, counting) = (&label.host, self.counted_network(request));
        if let Some((misses, network)) = counting {
            misses.admit(network, host, self.clock.now())?;
        }
        let site = match self.site(host, patience).await? {
            None if label.version.is_some() => self.staged_only(host, patience).await?,
            site => site,
        };
        if let Some((misses, network)) = counting {
            misses.settle(network, host, site.is_some(), self.clock.now())?;
        }
        Ok(site.ok_or(Closed::Missing)?)
    }

    /// The network whose misses are counted, if there is a limit.
    pub fn counted_network(&self, request: &Request) -> Option<(&Misses, IpAddr)> {
        self.misses.as_ref().and_then(|misses| Some((misses, (self.client_network_of)(request)?)))
    }

    /// Returns the site from memory if the edge lease covers its read, else from the store.
    async fn site(&self, host: &Host, patience: Patience) -> anyhow::Result<Option<Arc<Site>>> {
        let is_covered = |read_at| self.lease.covers(read_at);
        if let Some(known) = self.sites.recall(host, is_covered) {
            self.meters.routes.hits.add(1);
            return Ok(known);
        }
        self.meters.routes.misses.add(1);
        let read = async {
            let permit = self.route_reads.acquire(patience.for_permit()).await;
            let _permit = permit.map_err(|_| LoadQueue::RouteReads.shed())?;
            let route = self.routes.find(host).await;
            self.is_database_silent.store(route.is_err(), Ordering::Relaxed);
            route
        };
        let is_quick = self.sites.is_known(host) || self.is_database_silent.load(Ordering::Relaxed);
        let until = if is_quick { patience.for_known_route() } else { patience.for_store() };
        let fetch = Box::pin(self.sites.fetch(host, is_covered, read));
        match timeout_at(until, fetch).await {
            Ok(found) => found.context("read a route"),
            Err(_) => {
                self.is_database_silent.store(true, Ordering::Relaxed);
                Err(anyhow!("the database did not respond in time"))
            }
        }
    }
}
