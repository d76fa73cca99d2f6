//! The form to report a page. It accepts what `POST /v1/reports` accepts, and never says more about a page
//! than that.

use askama::Template;
use domain::ReportCategory;
use poem::http::{StatusCode, header};
use poem::web::{Data, Query};
use poem::{Request, Response, handler};
use serde::Deserialize;
use service::{ReportTaken, Service};

use crate::html::again;
use crate::html::faults::Faults;
use crate::html::fields::Fields;
use crate::html::{accepts_html, page};
use crate::http::client_ip::ClientIp;
use crate::http::refusal::RefusedCall;
use crate::http::same_site;
use crate::wire::{ReportWritten, read_report};

const FIELDS: &[&str] = &["host", "reason", "category"];
/// Where a browser is redirected after a report.
pub const THANKS: &str = "/report/thanks";
/// People paste URLs. This much of one is shown again.
const NAME_LENGTH_MAX: usize = 300;

#[derive(Template)]
#[template(path = "report.html")]
struct ReportPage<'a> {
    host: &'a str,
    reason: &'a str,
    /// The name of the chosen category.
    category: &'a str,
    faults: Faults,
}

#[derive(Template)]
#[template(path = "reported.html")]
struct ReportedPage<'a> {
    host: Option<&'a str>,
}

/// Prefills the form. The values are checked when the form is sent.
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
    category: Option<String>,
}

impl ReportPage<'_> {
    const NAME_LENGTH_MAX: usize = NAME_LENGTH_MAX;
    const REASON_LENGTH_MAX: usize = domain::ReportReason::LENGTH_MAX;
    const CATEGORIES: [ReportCategory; 6] = ReportCategory::ALL;
}

#[handler]
pub async fn show(Query(link): Query<ReportLink>) -> Result<Response, RefusedCall> {
    let host = shortened(&link.host);
    page(StatusCode::OK, &ReportPage { host: &host, reason: "", category: "", faults: Faults::default() })
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
        // Without the redirect, reloading the page would send the form again.
        Ok(_) if accepts_html(request) => Ok(seen_at(THANKS)),
        Ok(taken) => page(StatusCode::CREATED, &ReportedPage { host: Some(taken.host.as_str()) }),
        Err(RefusedCall(refusal)) if accepts_html(request) => {
            let faults = Faults::of(&refusal, FIELDS, "/report");
            let reason = form.reason.as_deref().unwrap_or_default();
            let category = form.category.as_deref().unwrap_or_default();
            again(&refusal, &ReportPage { host: &shortened(&form.host), reason, category, faults })
        }
        Err(refused) => Err(refused),
    }
}

/// The page after a report. It shows nothing that a link could put there.
#[handler]
pub fn thank() -> Result<Response, RefusedCall> {
    page(StatusCode::OK, &ReportedPage { host: None })
}

fn seen_at(path: &'static str) -> Response {
    Response::builder().status(StatusCode::SEE_OTHER).header(header::LOCATION, path).finish()
}

async fn take(form: &ReportForm, from: ClientIp, service: &Service) -> Result<ReportTaken, RefusedCall> {
    let (reason, category) = (form.reason.as_deref(), form.category.as_deref());
    let ReportWritten { label, reason, category } =
        read_report(&form.host, reason, category, service.addresses())?;
    Ok(service.report(from.0, label, reason, category).await?)
}

fn shortened(text: &str) -> String {
    text.chars().take(NAME_LENGTH_MAX).collect()
}

#[cfg(test)]
pub fn samples() -> Vec<(String, String)> {
    use domain::{Missing, Refusal};

    let refused = |refusal: Refusal| {
        let faults = Faults::of(&refusal, FIELDS, "/report");
        let page =
            ReportPage { host: "my-page-a1b2", reason: "It asks for money.", category: "phishing", faults };
        (format!("report-{}", refusal.code()), page.render().unwrap())
    };
    let form = ReportPage { host: "my-page-a1b2", reason: "", category: "", faults: Faults::default() };
    vec![
        ("report".into(), form.render().unwrap()),
        ("reported".into(), ReportedPage { host: None }.render().unwrap()),
        ("reported-to-program".into(), ReportedPage { host: Some("my-page-a1b2") }.render().unwrap()),
        refused(Refusal::NotFound(Missing::Host)),
        refused(Refusal::invalid("host", "is not the host of a page")),
        refused(Refusal::RateLimited { retry_after_seconds: 7 }),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn report_page_escapes_link_parameters() {
        let template = ReportPage {
            host: r#""><script>alert(1)</script>"#,
            reason: "",
            category: "",
            faults: Faults::default(),
        };
        let page = template.render().unwrap();
        assert!(!page.contains("<script>") && page.contains("alert(1)"), "{page}");
    }
}
