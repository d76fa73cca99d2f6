//! What crawlers, browsers and security researchers ask every site for: `/robots.txt`, `/favicon.ico` and
//! `/.well-known/security.txt`.

use std::time::Duration;

use domain::{Missing, Refusal};
use poem::endpoint::make_sync;
use poem::web::Data;
use poem::{EndpointExt, Response, Route, get, handler};
use service::Service;

use super::{TEXT, answer};
use crate::http::refusal::RefusedCall;

const ICON: &[u8] = include_bytes!("../../templates/favicon.ico");

/// Everything else is for people who are signed in, or changes something.
const ROBOTS: &str = "\
User-agent: *
Allow: /$
Allow: /docs
Allow: /skill
Allow: /llms.txt
Allow: /openapi.json
Disallow: /
";

/// How long a client may rely on the contact. RFC 9116 asks for less than a year.
const SECURITY_TXT_VALID: Duration = Duration::from_secs(180 * 24 * 3600);

/// What the operator has set of it.
#[derive(Clone, Debug, Default)]
pub struct ForStrangers {
    pub contact: Option<String>,
    pub robots: Option<String>,
}

pub const SECURITY_TXT: &str = "/.well-known/security.txt";

impl ForStrangers {
    pub fn add_to(self, routes: Route) -> Route {
        let robots = self.robots.unwrap_or_else(|| ROBOTS.to_owned());
        routes
            .at("/robots.txt", get(make_sync(move |_| answer(robots.clone(), TEXT))))
            .at("/favicon.ico", get(make_sync(|_| answer(ICON, "image/x-icon"))))
            .at(SECURITY_TXT, get(security_txt).data(Contact(self.contact)))
    }
}

#[derive(Clone)]
struct Contact(Option<String>);

#[handler]
fn security_txt(contact: Data<&Contact>, service: Data<&Service>) -> Result<Response, RefusedCall> {
    let contact = contact.0.0.as_ref().ok_or(Refusal::NotFound(Missing::Endpoint))?;
    // The same text all day, so that a client that has it gets 304.
    let expires = service.clock().now().day().start().plus(SECURITY_TXT_VALID);
    let canonical = service.addresses().api(SECURITY_TXT);
    let text = format!("Contact: {contact}\nExpires: {expires}\nCanonical: {canonical}\n");
    Ok(answer(text, TEXT))
}
