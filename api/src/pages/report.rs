//! The form by which people report a page. It takes what `POST /v1/reports` takes, and never says more of a page than
//! that does.

use askama::Template;
use poem::http::StatusCode;
use poem::web::{Data, Query};
use poem::{Response, handler};
use serde::Deserialize;
use service::Service;

use super::fields::Fields;
use super::page;
use crate::client_ip::ClientIp;
use crate::refusal::RefusedCall;
use crate::wire::read_report;

#[derive(Template)]
#[template(path = "report.html")]
struct ReportPage {
    host: String,
    host_length_max: usize,
    reason_length_max: usize,
}

#[derive(Template)]
#[template(path = "reported.html")]
struct ReportedPage {
    host: String,
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

#[handler]
pub async fn show(Query(link): Query<ReportLink>) -> Result<Response, RefusedCall> {
    let host = link.host.chars().take(domain::Host::LENGTH_MAX).collect();
    let template = ReportPage {
        host,
        host_length_max: domain::Host::LENGTH_MAX,
        reason_length_max: domain::ReportReason::LENGTH_MAX,
    };
    page(StatusCode::OK, &template)
}

#[handler]
pub async fn report(
    from: ClientIp,
    Fields(form): Fields<ReportForm>,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    let (host, reason) = read_report(form.host.trim(), form.reason.as_deref())?;
    let taken = service.report(from.0, host, reason).await?;
    page(StatusCode::CREATED, &ReportedPage { host: taken.host.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_link_says_is_shown_as_text() {
        let template = ReportPage {
            host: r#""><script>alert(1)</script>"#.into(),
            host_length_max: 45,
            reason_length_max: 2_000,
        };
        let page = template.render().unwrap();
        assert!(!page.contains("<script>") && page.contains("alert(1)"), "{page}");
    }
}
