//! `/robots.txt`, `/favicon.ico` and `/.well-known/security.txt`, for crawlers, browsers and security
//! researchers.

use std::time::Duration;

use domain::{Missing, Refusal};
use poem::endpoint::make_sync;
use poem::web::Data;
use poem::{EndpointExt, Response, Route, get, handler};
use service::Service;

use super::{TEXT, respond};
use crate::http::refusal::RefusedCall;

const ICON: &[u8] = include_bytes!("../../templates/favicon.ico");

/// The front page and the documents are allowed. All other paths need a sign-in or change something. Claim
/// and invite links are allowed, because chat programs that honor the rules otherwise show no preview of a
/// link. Their pages say `noindex`.
const ROBOTS: &str = "\
User-agent: *
Allow: /$
Allow: /.well-known/
Allow: /assets/
Allow: /claim/
Allow: /docs
Allow: /invite/
Allow: /skill
Allow: /llms.txt
Allow: /openapi.json
Allow: /openapi-3.1.json
Allow: /server.json
Disallow: /
";

/// How long clients may rely on the contact. RFC 9116 recommends less than a year.
const SECURITY_TXT_VALID: Duration = Duration::from_secs(180 * 24 * 3600);

/// The operator's settings for them.
#[derive(Clone, Debug, Default)]
pub struct WellKnownFiles {
    pub contact: Option<String>,
    pub robots: Option<String>,
}

pub const SECURITY_TXT: &str = "/.well-known/security.txt";
/// Where tools looked for it before RFC 9116.
pub const SECURITY_TXT_AT_ROOT: &str = "/security.txt";

impl WellKnownFiles {
    pub fn add_to(self, routes: Route) -> Route {
        let robots = self.robots.unwrap_or_else(|| ROBOTS.to_owned());
        let contact = Contact(self.contact);
        routes
            .at("/robots.txt", get(make_sync(move |_| respond(robots.clone(), TEXT))))
            .at("/favicon.ico", get(make_sync(|_| respond(ICON, "image/x-icon"))))
            .at(SECURITY_TXT, get(security_txt).data(contact.clone()))
            .at(SECURITY_TXT_AT_ROOT, get(security_txt).data(contact))
    }
}

#[derive(Clone)]
struct Contact(Option<String>);

#[handler]
fn security_txt(contact: Data<&Contact>, service: Data<&Service>) -> Result<Response, RefusedCall> {
    let contact = contact.0.0.as_ref().ok_or(Refusal::NotFound(Missing::Endpoint))?;
    // The text is the same for a whole day, so that conditional requests get 304.
    let expires = service.clock().now().day().start().plus(SECURITY_TXT_VALID);
    let canonical = service.addresses().api(SECURITY_TXT);
    let text =
        format!("Contact: {contact}\nExpires: {expires}\nPreferred-Languages: en\nCanonical: {canonical}\n");
    Ok(respond(text, TEXT))
}
