//! The door for HTTP: the REST endpoints, and the documents that describe them.
//!
//! A handler parses, finds the caller, makes one call to `service` and renders the answer. It must never decide a
//! rule of the trade, name a table, or put a token, a code or a body into a log. Every error leaves with
//! `{code, message, hint}`: [`refusal`] alone knows the statuses, and [`door`] is what every request goes through.

mod answer;
mod body;
mod call_header;
mod caller;
mod catch_all;
mod client_ip;
mod dev_mode;
mod documents;
mod door;
mod json_body;
mod operator;
mod pages;
mod path_part;
mod paths;
mod refusal;
mod rest;
mod same_site;
mod service_of;
mod session_cookie;
mod upload;
mod wire;

use ipnet::IpNet;
use poem::endpoint::BoxEndpoint;
use poem::middleware::CookieJarManager;
use poem::{EndpointExt, Route};
use service::Service;

use crate::client_ip::TrustedProxies;
use crate::documents::Documents;
use crate::door::Door;
use crate::paths::Paths;
use crate::upload::UploadRoom;

pub use crate::documents::openapi_document;

/// What the API needs to know beside the service.
#[derive(Clone, Debug, Default)]
pub struct ApiSettings {
    /// Networks whose `X-Forwarded-For` is believed; from anyone else it is ignored.
    pub trusted_proxies: Vec<IpNet>,
}

/// Every path of the control plane behind the one door.
pub fn routes(service: Service, settings: ApiSettings) -> BoxEndpoint<'static> {
    let chance = service.chance().clone();
    let (routes, paths) = paths_of(&service.addresses().base_url);
    let routes = routes
        .with(CookieJarManager::new())
        .data(UploadRoom::new())
        .data(TrustedProxies::new(settings.trusted_proxies))
        .data(service);
    Door::new(routes, paths, chance).boxed()
}

fn paths_of(base_url: &str) -> (Route, Paths) {
    let documents = Documents::new(base_url);
    let paths = Paths::listed_in(documents.openapi()).with_pages(pages::METHODS);
    let routes = pages::add_to(documents.routes())
        .nest("/", rest::open_api(base_url).around(operator::hide_from_strangers));
    (routes, paths)
}

#[cfg(test)]
mod tests;
