//! The HTTP API: REST, MCP, the pages for people, and the documents that describe them.
//!
//! A handler parses the request, finds the caller, calls `service` once and renders the response. It must not
//! contain business rules, know database tables, or log a token, a code or a body. Every error is
//! `{code, message, hint}`; only [`http::refusal`] knows the statuses. Every request passes [`detached`].

mod admin;
mod detached;
mod documents;
#[cfg(feature = "hostile")]
pub mod hostile;
mod html;
mod http;
mod mcp;
mod netlify;
mod oauth;
pub mod operator_json;
mod pages;
mod probes;
mod rest;
mod routes;
mod wire;

use std::sync::Arc;

use domain::ServiceLinks;
use ipnet::IpNet;
use poem::EndpointExt;
use poem::endpoint::BoxEndpoint;
use service::Service;
use telemetry::Vitals;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::detached::{BackgroundTasks, DetachedRequests};
use crate::documents::{Facts, WellKnownFiles};
use crate::html::Site;
use crate::http::cors;
use crate::http::refusal::BaseUrl;
use crate::http::representation::Representation;
use crate::probes::Probes;

pub use crate::http::body::BodyTerms;
pub use crate::http::client_ip::{TrustedProxies, network_of};
pub use crate::http::permits::PermitLimits;
pub use crate::http::refusal::linked_json_of;
pub use crate::probes::answer as answer_probe;
pub use crate::routes::openapi_document;

/// What the API needs besides the service.
#[derive(Clone, Default)]
pub struct ApiSettings {
    /// The networks whose `X-Forwarded-For` is trusted. It is ignored from any other address.
    pub trusted_proxies: Vec<IpNet>,
    /// Changes that run to completion even after their client disconnects. The process waits for them before
    /// it stops what they need.
    pub background_tasks: TaskTracker,
    /// Cancelled when the process stops. Responses that wait for something optional are then sent without it.
    pub stop: CancellationToken,
    /// The health and metrics of the process.
    pub vitals: Vitals,
    pub load: LoadTerms,
    /// The operator's contact and own pages.
    pub links: ServiceLinks,
    /// The whole text of `/robots.txt`, unless it is the default.
    pub robots: Option<String>,
}

/// The limits on concurrent and slow requests.
#[derive(Clone, Copy, Debug)]
pub struct LoadTerms {
    pub permits: PermitLimits,
    pub bodies: BodyTerms,
    /// The memory for uploads. Small, slow bodies have a small budget of their own.
    pub upload_bytes_max: usize,
}

impl Default for LoadTerms {
    fn default() -> Self {
        let (permits, bodies) = (PermitLimits::default(), BodyTerms::default());
        Self { permits, bodies, upload_bytes_max: http::upload_budget::UPLOAD_MEMORY_BYTES }
    }
}

/// All routes of the API, with their middleware.
pub fn routes(service: Service, settings: ApiSettings) -> BoxEndpoint<'static> {
    let chance = service.chance().clone();
    let (routes, paths) = routes::assemble(&Facts::of(service.addresses(), service.tariff()));
    let (contact, robots) = (settings.links.contact.clone(), settings.robots);
    let routes = WellKnownFiles { contact, robots }.add_to(routes);
    let proxies = TrustedProxies::new(settings.trusted_proxies);
    let probes = Probes::new(settings.vitals, service.clone());
    let base_url: Arc<str> = service.addresses().base_url.as_str().into();
    let is_https = base_url.starts_with("https://");
    let routes = routes.data(service);
    let routes =
        routes.map(move |response| async move { http::session_cookie::under_both_names(response, is_https) });
    let routes = routes.with(Representation::default());
    let tasks = BackgroundTasks { tracker: settings.background_tasks, stop: settings.stop };
    let site = Site { base_url: base_url.to_string(), links: settings.links }.into();
    let requests = DetachedRequests::new(routes, paths, chance, proxies, tasks, &settings.load, site);
    requests
        .around(move |requests, mut request| {
            routes::join_file_path(&mut request);
            request.set_data(BaseUrl(base_url.clone()));
            let (probes, base_url) = (probes.clone(), base_url.clone());
            let path = request.uri().path().to_owned();
            async move {
                let response = probes.respond_or_pass(requests, request).await?;
                Ok(oauth::challenged(response, &path, &base_url))
            }
        })
        .around(|routes, request| async move { cors::respond_or_pass(&*routes, request).await })
        .boxed()
}

#[cfg(test)]
mod tests;
