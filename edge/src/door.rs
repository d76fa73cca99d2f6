//! The door: the steps of a visit, in their order.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use bus::EdgeSeat;
use domain::link::LinkKey;
use domain::{Clock, Host, Time};
use poem::http::{Method, header};
use poem::{Endpoint, Request, Response};
use store::Store;
use telemetry::{Audience, Vitals};
use tokio::time::timeout_at;
use tokio_util::sync::DropGuard;

use crate::NetworkOf;
use crate::answer;
use crate::closed::{Closed, ClosedPages, Failure, Troubles};
use crate::content::Contents;
use crate::find::{Address, Found, Names, name_of};
use crate::gate::{self, Pass, Visitor};
use crate::headers::HeaderPolicy;
use crate::meters::{Asked, Meters, Waiting};
use crate::patience::Patience;
use crate::resolve::{Resolved, resolve};
use crate::sites::{Site, Sites};
use crate::tally::Tally;
use crate::turns::{Line, Turns};

/// The endpoint of an edge.
pub struct Door(Arc<Inner>);

/// All that an edge is made of.
pub struct Inner {
    /// Ends with it.
    pub _freshening: DropGuard,
    pub names: Names,
    pub policy: HeaderPolicy,
    pub closed_pages: ClosedPages,
    pub sites: Arc<Sites>,
    pub seat: EdgeSeat,
    pub contents: Contents,
    pub route_reads: Turns,
    pub turn_wait_max: Duration,
    pub network_of: NetworkOf,
    pub store: Store,
    pub link_key: LinkKey,
    pub vitals: Vitals,
    pub meters: Meters,
    pub clock: Clock,
    pub tally: Tally,
    pub troubles: Troubles,
}

/// A visitor who was let in to a site.
pub struct Visit<'r> {
    pub request: &'r Request,
    pub address: Address<'r>,
    pub site: &'r Site,
    pub pass: Pass,
    pub now: Time,
    pub patience: Patience,
}

impl Door {
    pub(crate) fn new(inner: Arc<Inner>) -> Self {
        Self(inner)
    }
}

impl Endpoint for Door {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        let mut visitor = self.0.meters.begin(request.method());
        let mut response = match self.0.answer(&request, &mut visitor).await {
            Ok(response) => response,
            Err(Failure::Closed(closed)) => self.0.closed_pages.show(closed),
            Err(Failure::Trouble(error)) => {
                self.0.closed_pages.show(self.0.troubles.report(&error, &self.0.clock))
            }
        };
        if request.method() == Method::HEAD {
            response.take_body();
        }
        visitor.end(response.status());
        Ok(response)
    }
}

impl Inner {
    /// Find → gate → resolve → show: the order is here, the steps are in the modules.
    async fn answer(&self, request: &Request, visitor: &mut Waiting<'_>) -> Result<Response, Failure> {
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return Err(Closed::MethodNotAllowed.into());
        }
        let name = name_of(request.uri(), request.headers(), request.version())?;
        let found = self.names.find(request.uri(), name)?;
        visitor.asked = Asked::of(&found);
        let address = match found {
            Found::Site(address) => address,
            Found::Alive => return Ok(answer::vital(Vitals::alive())),
            Found::Ready => {
                return Ok(answer::vital(Box::pin(self.vitals.readiness(Audience::Stranger)).await));
            }
        };
        let patience = Patience::new(visitor.since, self.turn_wait_max);
        let site = self.site(&address.host, patience).await?.ok_or(Closed::Missing)?;
        let query = request.uri().query();
        let referer = request.headers().get(header::REFERER).and_then(|value| value.to_str().ok());
        let (visitor, now) = (Visitor { name, query, referer }, self.clock.now());
        let pass = gate::admit(&site.route, &address, &visitor, &self.link_key, now)?;
        let visit = Visit { request, address, site: &site, pass, now, patience };
        match resolve(&site.route.manifest, visit.address.path) {
            Resolved::File(file) => self.show(&visit, file).await,
            Resolved::OwnNotFound(file) => self.show_not_found(&visit, file).await,
            Resolved::Nothing => Err(Closed::Missing.into()),
            Resolved::Folder => {
                let headers = self.policy.of_site(&visit);
                Ok(answer::redirect(headers, visit.address.with_slash(), query)?)
            }
        }
    }

    /// From memory when the seat vouches for it, else from the store.
    async fn site(&self, host: &Host, patience: Patience) -> anyhow::Result<Option<Arc<Site>>> {
        let vouch = |read_at| self.seat.vouches_for(read_at);
        if let Some(known) = self.sites.recall(host, vouch) {
            self.meters.routes.hits.add(1);
            return Ok(known);
        }
        self.meters.routes.misses.add(1);
        let read = async {
            let turn = self.route_reads.take(patience.for_turn()).await;
            let _turn = turn.ok_or_else(|| Line::RouteReads.shed())?;
            self.store.route(host).await
        };
        let look = Box::pin(self.sites.look(host, vouch, read));
        timeout_at(patience.for_store(), look)
            .await
            .context("the database stays silent")?
            .context("read a route")
    }
}
