//! The door for HTTP: the REST endpoints, and the documents that describe them.
//!
//! A handler parses, finds the caller, makes one call to `service` and renders the answer. It must never decide a
//! rule of the trade, name a table, or put a token, a code or a body into a log. Every error leaves with
//! `{code, message, hint}`: [`http::refusal`] alone knows the statuses, and [`door`] is what every request goes through.

mod admin;
mod detached;
mod documents;
#[cfg(feature = "hostile")]
pub mod hostile;
mod html;
mod http;
mod mcp;
mod pages;
mod probes;
mod rest;
mod routes;
pub mod told_in_json;
mod wire;

use ipnet::IpNet;
use poem::EndpointExt;
use poem::endpoint::BoxEndpoint;
use poem::middleware::CookieJarManager;
use service::Service;
use telemetry::Vitals;
use tokio_util::task::TaskTracker;

use crate::detached::DetachedRequests;
use crate::documents::Facts;
use crate::http::representation::Representation;
use crate::probes::Probes;

pub use crate::documents::ForStrangers;
pub use crate::http::body::BodyTerms;
pub use crate::http::client_ip::{TrustedProxies, network_of};
pub use crate::http::permits::PermitLimits;
pub use crate::probes::answer as answer_probe;
pub use crate::routes::openapi_document;

/// What the API needs to know beside the service.
#[derive(Clone, Default)]
pub struct ApiSettings {
    /// Networks whose `X-Forwarded-For` is believed; from anyone else it is ignored.
    pub trusted_proxies: Vec<IpNet>,
    /// The changes that are carried to their end, also when nobody listens any more. A process waits for them before it
    /// stops what they need.
    pub carried_on: TaskTracker,
    /// What the process tells of itself.
    pub vitals: Vitals,
    pub load: LoadTerms,
    /// The contact and the rules for crawlers.
    pub for_strangers: ForStrangers,
}

/// How much is taken on at a time, and how slowly.
#[derive(Clone, Copy, Debug)]
pub struct LoadTerms {
    pub permits: PermitLimits,
    pub bodies: BodyTerms,
    /// Memory for uploads. Small bodies that come slowly have a little of their own.
    pub upload_bytes_max: usize,
}

impl Default for LoadTerms {
    fn default() -> Self {
        let (permits, bodies) = (PermitLimits::default(), BodyTerms::default());
        Self { permits, bodies, upload_bytes_max: http::upload_budget::ROOM_BYTES }
    }
}

/// Every path of the control plane behind the one door.
pub fn routes(service: Service, settings: ApiSettings) -> BoxEndpoint<'static> {
    let chance = service.chance().clone();
    let (routes, paths) = routes::assemble(&Facts::of(service.addresses(), service.tariff()));
    let routes = settings.for_strangers.add_to(routes);
    let proxies = TrustedProxies::new(settings.trusted_proxies);
    let probes = Probes::new(settings.vitals, service.clone());
    let is_https = service.addresses().base_url.starts_with("https://");
    let routes = routes.with(CookieJarManager::new()).data(service);
    let routes =
        routes.map(move |response| async move { http::session_cookie::under_both_names(response, is_https) });
    let routes = routes.with(Representation::default());
    let door = DetachedRequests::new(routes, paths, chance, proxies, settings.carried_on, &settings.load);
    door.around(move |door, request| {
        let probes = probes.clone();
        async move { probes.answer_or_pass(door, request).await }
    })
    .boxed()
}

#[cfg(test)]
mod tests;
