//! What every page is made of: the response with its headers, the refusal in a person's words, the faults of a form,
//! figures, and where a visitor goes on to. It holds no page of its own, so that the pages for people, those of the
//! operator's people and the documents share it without knowing each other.

pub mod error_text;
pub mod faults;
pub mod fields;
pub mod figures;
mod next_path;
mod refused;

use askama::Template;
use domain::Refusal;
use domain::link::{Addresses, UrlStyle};
use poem::http::{HeaderValue, StatusCode, header};
use poem::{Request, Response};
use service::{Person, Service};

use crate::http::refusal::{RefusedCall, status_of};
use crate::http::{caller, session_cookie};

pub use next_path::NextPath;
pub use refused::RefusalForm;

/// What our own pages may do: show themselves, run their one script and post their own forms.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; \
     form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// A page as an answer. No cache may keep it: it may show what only this person may see.
pub fn page(status: StatusCode, template: &impl Template) -> Result<Response, RefusedCall> {
    page_under(HeaderValue::from_static(CONTENT_SECURITY_POLICY), status, template)
}

/// The same, and it may show published pages in frames.
pub fn framing_page(
    status: StatusCode,
    template: &impl Template,
    addresses: &Addresses,
) -> Result<Response, RefusedCall> {
    page_framing(status, template, &origin_of_pages(addresses))
}

/// The same, for frames of another source, as a content security policy names it.
pub fn page_framing(
    status: StatusCode,
    template: &impl Template,
    source: &str,
) -> Result<Response, RefusedCall> {
    let policy = format!("{CONTENT_SECURITY_POLICY}; frame-src {source}");
    let policy = HeaderValue::from_str(&policy);
    page_under(policy.unwrap_or(HeaderValue::from_static(CONTENT_SECURITY_POLICY)), status, template)
}

/// The same, and its script may ask for it again.
pub fn live_page(status: StatusCode, template: &impl Template) -> Result<Response, RefusedCall> {
    let policy = HeaderValue::from_str(&format!("{CONTENT_SECURITY_POLICY}; connect-src 'self'"));
    page_under(policy.unwrap_or(HeaderValue::from_static(CONTENT_SECURITY_POLICY)), status, template)
}

fn page_under(
    policy: HeaderValue,
    status: StatusCode,
    template: &impl Template,
) -> Result<Response, RefusedCall> {
    let text = rendered(template)?;
    Ok(Response::builder()
        .status(status)
        .content_type("text/html; charset=utf-8")
        .header(header::CONTENT_SECURITY_POLICY, policy)
        .header(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))
        .header(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"))
        // Not `no-referrer`: with it browsers tell our own forms' origin as `null`.
        .header(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"))
        .body(text))
}

/// The text of a template. Whatever keeps it from coming is a bug.
pub fn rendered(template: &impl Template) -> Result<String, RefusedCall> {
    template.render().map_err(|error| {
        RefusedCall::from(service::Failure::Bug(anyhow::Error::new(error).context("render a page")))
    })
}

/// Where published pages are served, as the sources of a content security policy.
fn origin_of_pages(addresses: &Addresses) -> String {
    let (scheme, rest) = addresses.serve_url.split_once("://").unwrap_or(("http", &addresses.serve_url));
    let authority = rest.split('/').next().unwrap_or(rest);
    match addresses.url_style {
        UrlStyle::Path => format!("{scheme}://{authority}"),
        UrlStyle::Host => {
            let port = authority.rsplit_once(':').map_or(String::new(), |(_, port)| format!(":{port}"));
            // A host that is no DNS label is served by path.
            format!("{scheme}://*.{}{port} {scheme}://{authority}", addresses.edge_domain)
        }
    }
}

/// Sends a browser on. It asks for the new path with GET, whatever the method was.
pub fn found(path: &NextPath) -> Response {
    found_at(path.as_str())
}

/// The same, to a path that we wrote ourselves.
pub fn found_at(path: &str) -> Response {
    Response::builder().status(StatusCode::FOUND).header(header::LOCATION, path).finish()
}

/// The answer, with a `Set-Cookie` of this value.
pub fn with_cookie(mut answer: Response, cookie: &str) -> Response {
    if let Some(value) = session_cookie::header_value(cookie) {
        answer.headers_mut().append(header::SET_COOKIE, value);
    }
    answer
}

/// Who is signed in, where a page also has something for those who are not.
pub async fn person_if_any(request: &Request, service: &Service) -> Result<Option<Person>, RefusedCall> {
    match caller::person(request, service).await {
        Ok(person) => Ok(Some(person)),
        Err(RefusedCall(refusal)) if *refusal == Refusal::NotSignedIn => Ok(None),
        Err(refused) => Err(refused),
    }
}

/// Whether the client names HTML among what it takes: browsers do, programs do not.
pub fn accepts_html(request: &Request) -> bool {
    accepts(request, "text/html")
}

/// Whether an answer in JSON is wanted where browsers are sent on.
pub fn asks_for_json(request: &Request) -> bool {
    accepts(request, "application/json") && !accepts_html(request)
}

fn accepts(request: &Request, kind: &str) -> bool {
    let accepted = request.headers().get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    accepted.flat_map(|value| value.split(',')).any(|range| {
        let mut parts = range.split(';').map(str::trim);
        let is_kind = parts.next().is_some_and(|name| name.eq_ignore_ascii_case(kind));
        is_kind && !parts.any(|part| matches!(part, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"))
    })
}

/// A form once more, with what was wrong; the status is that of the refusal.
pub fn again(refusal: &Refusal, template: &impl Template) -> Result<Response, RefusedCall> {
    let mut page = page(status_of(refusal), template)?;
    if let Some(seconds) = refusal.retry_after_seconds() {
        page.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    }
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_may_be_framed_from_where_they_are_served_only() {
        let addresses = |url_style| Addresses {
            base_url: "https://handbill.example".into(),
            serve_url: "https://pages.example:8443".into(),
            edge_domain: "pages.example".into(),
            url_style,
        };
        assert_eq!(origin_of_pages(&addresses(UrlStyle::Path)), "https://pages.example:8443");
        let by_host = "https://*.pages.example:8443 https://pages.example:8443";
        assert_eq!(origin_of_pages(&addresses(UrlStyle::Host)), by_host);
    }
}
