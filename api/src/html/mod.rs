//! What all pages share: responses with their headers, refusals as text for people, form faults, figures, and
//! the path after a sign-in. It contains no page, so that the pages, the operator's pages and the documents
//! can use it without knowing each other.

pub mod ago;
pub mod error_text;
pub mod faults;
pub mod fields;
pub mod figures;
mod next_path;
pub mod qr;
mod refused;
mod site;
pub mod sparkline;

use askama::Template;
use domain::Refusal;
use domain::link::{Addresses, UrlStyle};
use poem::http::{HeaderValue, StatusCode, header};
use poem::{Request, Response};
use service::{Person, Service};

use crate::http::refusal::{PROBLEM, RefusedCall, status_of};
use crate::http::{caller, session_cookie};

pub use next_path::NextPath;
pub use refused::RefusalForm;
pub use site::Site;

/// The content security policy of our own pages: their own styles, scripts, fonts, images and forms only.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; \
     font-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// A page as a response. It must not be cached, because it may contain private data.
pub fn page(status: StatusCode, template: &impl Template) -> Result<Response, RefusedCall> {
    page_under(HeaderValue::from_static(CONTENT_SECURITY_POLICY), status, template)
}

/// A page that may show published pages in frames.
pub fn framing_page(
    status: StatusCode,
    template: &impl Template,
    addresses: &Addresses,
) -> Result<Response, RefusedCall> {
    page_framing(status, template, &origin_of_pages(addresses))
}

/// A page that may show frames from `source`, an expression of the content security policy.
pub fn page_framing(
    status: StatusCode,
    template: &impl Template,
    source: &str,
) -> Result<Response, RefusedCall> {
    let policy = format!("{CONTENT_SECURITY_POLICY}; frame-src {source}");
    let policy = HeaderValue::from_str(&policy);
    page_under(policy.unwrap_or(HeaderValue::from_static(CONTENT_SECURITY_POLICY)), status, template)
}

/// A page whose form leads to `target`, an expression of the content security policy, by a redirect.
pub fn page_leading_to(
    status: StatusCode,
    template: &impl Template,
    target: &str,
) -> Result<Response, RefusedCall> {
    let own = "form-action 'self'";
    let policy = CONTENT_SECURITY_POLICY.replace(own, &format!("{own} {target}"));
    let policy = HeaderValue::from_str(&policy);
    page_under(policy.unwrap_or(HeaderValue::from_static(CONTENT_SECURITY_POLICY)), status, template)
}

/// A page from which this service may be called, such as by a script that reloads parts of it.
pub fn live_page(status: StatusCode, template: &impl Template) -> Result<Response, RefusedCall> {
    let policy = HeaderValue::from_str(&format!("{CONTENT_SECURITY_POLICY}; connect-src 'self'"));
    page_under(policy.unwrap_or(HeaderValue::from_static(CONTENT_SECURITY_POLICY)), status, template)
}

/// A page that is the same for everybody and contains nothing secret. Its script may load data.
pub fn public_page(text: impl Into<poem::Body>) -> Response {
    let policy = HeaderValue::from_str(&format!("{CONTENT_SECURITY_POLICY}; connect-src 'self'"));
    Response::builder()
        .content_type("text/html; charset=utf-8")
        .header(
            header::CONTENT_SECURITY_POLICY,
            policy.unwrap_or(HeaderValue::from_static(CONTENT_SECURITY_POLICY)),
        )
        // Caches get the pages of a new release within minutes.
        .header(header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=300"))
        .header(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"))
        .header(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"))
        .body(text)
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
        // Not `no-referrer`: with it browsers send `Origin: null` with our own forms.
        .header(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"))
        .body(text))
}

/// The text of a template. A failure is a bug.
pub fn rendered(template: &impl Template) -> Result<String, RefusedCall> {
    template.render().map_err(|error| {
        RefusedCall::from(service::Failure::Bug(anyhow::Error::new(error).context("render a page")))
    })
}

/// The origins of published pages, as sources of a content security policy.
fn origin_of_pages(addresses: &Addresses) -> String {
    let (scheme, rest) = addresses.serve_url.split_once("://").unwrap_or(("http", &addresses.serve_url));
    let authority = rest.split('/').next().unwrap_or(rest);
    match addresses.url_style {
        UrlStyle::Path => format!("{scheme}://{authority}"),
        UrlStyle::Host => {
            let port = authority.rsplit_once(':').map_or(String::new(), |(_, port)| format!(":{port}"));
            // A host that is not a DNS label is served by path.
            format!("{scheme}://*.{}{port} {scheme}://{authority}", addresses.edge_domain)
        }
    }
}

/// Redirects with a 302, so that the browser uses GET for the new path.
pub fn found(path: &NextPath) -> Response {
    found_at(path.as_str())
}

/// Redirects to a path that is not from a request.
pub fn found_at(path: &str) -> Response {
    Response::builder().status(StatusCode::FOUND).header(header::LOCATION, path).finish()
}

/// The response with this `Set-Cookie` value.
pub fn with_cookie(mut response: Response, cookie: &str) -> Response {
    if let Some(value) = session_cookie::header_value(cookie) {
        response.headers_mut().append(header::SET_COOKIE, value);
    }
    response
}

/// The signed-in person, for a page that also serves signed-out visitors.
pub async fn person_if_any(request: &Request, service: &Service) -> Result<Option<Person>, RefusedCall> {
    match caller::person(request, service).await {
        Ok(person) => Ok(Some(person)),
        Err(RefusedCall(refusal)) if *refusal == Refusal::NotSignedIn => Ok(None),
        Err(refused) => Err(refused),
    }
}

/// Whether `Accept` names HTML: browsers do that, programs do not.
pub fn accepts_html(request: &Request) -> bool {
    accepts(request, "text/html")
}

/// Whether `Accept` prefers HTML to Markdown. Both must be named: programs that accept anything get Markdown.
pub fn prefers_html(request: &Request) -> bool {
    let html = quality(request, "text/html");
    html > 0.0 && html > quality(request, "text/markdown")
}

/// The weight of a content type that `Accept` names, or 0.
fn quality(request: &Request, kind: &str) -> f32 {
    let accepted = request.headers().get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let weights = accepted.flat_map(|value| value.split(',')).filter_map(|range| {
        let mut parts = range.split(';').map(str::trim);
        let is_kind = parts.next().is_some_and(|name| name.eq_ignore_ascii_case(kind));
        let weight = parts.find_map(|part| part.strip_prefix("q="));
        is_kind.then(|| weight.map_or(1.0, |weight| weight.parse().unwrap_or(0.0)))
    });
    weights.fold(0.0, f32::max)
}

/// Whether `Accept` prefers JSON to a redirect.
pub fn asks_for_json(request: &Request) -> bool {
    accepts(request, "application/json") && !accepts_html(request)
}

/// Whether `Accept` prefers problems (RFC 9457) to JSON. Of two with the same weight, the first is preferred.
pub fn prefers_problem(request: &Request) -> bool {
    let Some((problem_at, problem)) = weight(request, PROBLEM) else { return false };
    let json = weight(request, "application/json");
    problem > 0.0 && json.is_none_or(|(at, json)| problem > json || (problem == json && problem_at < at))
}

fn accepts(request: &Request, kind: &str) -> bool {
    weight(request, kind).is_some_and(|(_, weight)| weight > 0.0)
}

/// Where `Accept` names the media type, and with which weight.
fn weight(request: &Request, kind: &str) -> Option<(usize, f32)> {
    let accepted = request.headers().get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    accepted.flat_map(|value| value.split(',')).enumerate().find_map(|(at, range)| {
        let mut parts = range.split(';').map(str::trim);
        let is_kind = parts.next().is_some_and(|name| name.eq_ignore_ascii_case(kind));
        let weight = parts.find_map(|part| part.strip_prefix("q=")?.parse().ok());
        is_kind.then_some((at, weight.unwrap_or(1.0)))
    })
}

/// The form again, with its faults and the status of the refusal.
pub fn again(refusal: &Refusal, template: &impl Template) -> Result<Response, RefusedCall> {
    Ok(with_retry_after(refusal, page(status_of(refusal), template)?))
}

/// As [`again`], for a page that may show published pages in frames.
pub fn framing_again(
    refusal: &Refusal,
    template: &impl Template,
    addresses: &Addresses,
) -> Result<Response, RefusedCall> {
    Ok(with_retry_after(refusal, framing_page(status_of(refusal), template, addresses)?))
}

fn with_retry_after(refusal: &Refusal, mut page: Response) -> Response {
    if let Some(seconds) = refusal.retry_after_seconds() {
        page.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_prefer_html_and_programs_get_markdown() {
        let prefers = |accept| prefers_html(&Request::builder().header("accept", accept).finish());
        for browser in [
            "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
            "text/html",
            "text/markdown;q=0.5, text/html;q=0.9",
        ] {
            assert!(prefers(browser), "{browser}");
        }
        for program in [
            "*/*",
            "",
            "text/*",
            "text/markdown, text/html, */*",
            "text/markdown, text/html;q=0.9",
            "text/html;q=0, */*",
            "application/json",
        ] {
            assert!(!prefers(program), "{program}");
        }
    }

    #[test]
    fn frames_may_only_load_from_the_edge_origin() {
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
