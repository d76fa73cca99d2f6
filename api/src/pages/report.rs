//! The form by which people report a page. It takes what `POST /v1/reports` takes, and never says more of a page than
//! that does.

use askama::Template;
use domain::link::Addresses;
use poem::http::{StatusCode, header};
use poem::web::{Data, Query};
use poem::{Request, Response, handler};
use serde::Deserialize;
use service::{ReportTaken, Service};

use super::faults::Faults;
use super::fields::Fields;
use super::signin::again;
use super::{accepts_html, page};
use crate::client_ip::ClientIp;
use crate::refusal::RefusedCall;
use crate::same_site;
use crate::wire::read_report;

const FIELDS: &[&str] = &["host", "reason"];
/// Where a report leads a browser.
pub const THANKS: &str = "/report/thanks";
/// People paste addresses; this much of one is shown again.
const NAME_LENGTH_MAX: usize = 300;
const ENDS_OF_A_NAME: [char; 3] = ['/', '?', '#'];

#[derive(Template)]
#[template(path = "report.html")]
struct ReportPage<'a> {
    host: &'a str,
    reason: &'a str,
    faults: Faults,
}

#[derive(Template)]
#[template(path = "reported.html")]
struct ReportedPage<'a> {
    host: Option<&'a str>,
}

/// Whatever the link says; the form shows it and the post judges it.
#[derive(Deserialize)]
pub struct ReportLink {
    #[serde(default)]
    host: String,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReportForm {
    host: String,
    reason: Option<String>,
}

impl ReportPage<'_> {
    const NAME_LENGTH_MAX: usize = NAME_LENGTH_MAX;
    const REASON_LENGTH_MAX: usize = domain::ReportReason::LENGTH_MAX;
}

#[handler]
pub async fn show(Query(link): Query<ReportLink>) -> Result<Response, RefusedCall> {
    let host = shortened(&link.host);
    page(StatusCode::OK, &ReportPage { host: &host, reason: "", faults: Faults::default() })
}

#[handler]
pub async fn report(
    request: &Request,
    from: ClientIp,
    Fields(form): Fields<ReportForm>,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    same_site::demand(request, service.addresses())?;
    match take(&form, from, &service).await {
        // A browser that shows the answer to a form sends the form again when the page is loaded again.
        Ok(_) if accepts_html(request) => Ok(seen_at(THANKS)),
        Ok(taken) => page(StatusCode::CREATED, &ReportedPage { host: Some(taken.host.as_str()) }),
        Err(RefusedCall(refusal)) if accepts_html(request) => {
            let faults = Faults::of(&refusal, FIELDS, "/report");
            let reason = form.reason.as_deref().unwrap_or_default();
            again(&refusal, &ReportPage { host: &shortened(&form.host), reason, faults })
        }
        Err(refused) => Err(refused),
    }
}

/// Where a browser goes on to. It says nothing that a link could put there.
#[handler]
pub fn thank() -> Result<Response, RefusedCall> {
    page(StatusCode::OK, &ReportedPage { host: None })
}

fn seen_at(path: &'static str) -> Response {
    Response::builder().status(StatusCode::SEE_OTHER).header(header::LOCATION, path).finish()
}

async fn take(form: &ReportForm, from: ClientIp, service: &Service) -> Result<ReportTaken, RefusedCall> {
    let host = named_in(form.host.trim(), service.addresses());
    let (host, reason) = read_report(&host, form.reason.as_deref())?;
    Ok(service.report(from.0, host, reason).await?)
}

/// The page's name, also where its address was pasted, however much of it: the name follows `/site/` where pages are
/// served by their path, and is the host's first label everywhere else.
fn named_in(text: &str, addresses: &Addresses) -> String {
    let text = text.to_ascii_lowercase();
    if !text.contains(['/', '.', ':']) {
        return text;
    }
    let (authority, path) = split(&text);
    let (ours, _) = split(&addresses.serve_url);
    let name = match path.strip_prefix("/site/") {
        Some(path) if authority.eq_ignore_ascii_case(ours) => path.split(ENDS_OF_A_NAME).next(),
        _ => authority.split(['.', ':']).next(),
    };
    name.unwrap_or_default().to_owned()
}

/// An address after its scheme, if it has one: the authority, and all that follows.
fn split(address: &str) -> (&str, &str) {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    rest.split_at(rest.find(ENDS_OF_A_NAME).unwrap_or(rest.len()))
}

fn shortened(text: &str) -> String {
    text.chars().take(NAME_LENGTH_MAX).collect()
}

#[cfg(test)]
pub fn samples() -> Vec<(String, String)> {
    use domain::{Missing, Refusal};

    let refused = |refusal: Refusal| {
        let faults = Faults::of(&refusal, FIELDS, "/report");
        let page = ReportPage { host: "my-page-a1b2", reason: "It asks for money.", faults };
        (format!("report-{}", refusal.code()), page.render().unwrap())
    };
    let form = ReportPage { host: "my-page-a1b2", reason: "", faults: Faults::default() };
    vec![
        ("report".into(), form.render().unwrap()),
        ("reported".into(), ReportedPage { host: None }.render().unwrap()),
        ("reported-to-program".into(), ReportedPage { host: Some("my-page-a1b2") }.render().unwrap()),
        refused(Refusal::NotFound(Missing::Host)),
        refused(Refusal::invalid("host", "is no host of a page")),
        refused(Refusal::RateLimited { retry_after_seconds: 7 }),
    ]
}

#[cfg(test)]
mod tests {
    use domain::link::UrlStyle;

    use super::*;

    #[test]
    fn what_a_link_says_is_shown_as_text() {
        let template =
            ReportPage { host: r#""><script>alert(1)</script>"#, reason: "", faults: Faults::default() };
        let page = template.render().unwrap();
        assert!(!page.contains("<script>") && page.contains("alert(1)"), "{page}");
    }

    #[test]
    fn a_page_is_named_by_its_name_or_by_its_address() {
        let addresses = Addresses {
            base_url: "https://handbill.example".into(),
            serve_url: "https://Pages.example:8443".into(),
            edge_domain: "pages.example".into(),
            url_style: UrlStyle::Path,
        };
        for named in [
            "my-page-a1b2",
            "My-Page-A1B2",
            "https://pages.example:8443/site/my-page-a1b2/",
            "HTTPS://PAGES.EXAMPLE:8443/site/my-page-a1b2/about?x=1#y",
            "pages.example:8443/site/my-page-a1b2",
            "pages.example:8443/site/my-page-a1b2?x",
            "https://my-page-a1b2.pages.example",
            "https://my-page-a1b2.pages.example/site/another-page/",
            "my-page-a1b2.pages.example:8443/about",
            "my-page-a1b2.pages.example?x=/site/y",
            "my-page-a1b2/",
        ] {
            assert_eq!(named_in(named, &addresses), "my-page-a1b2", "{named}");
        }
        assert_eq!(named_in("https://elsewhere.example/site/my-page-a1b2/", &addresses), "elsewhere");
        assert_eq!(named_in("https://", &addresses), "");
    }
}
