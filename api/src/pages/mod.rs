//! The pages for people: made on the server, usable without script, asking nobody else for anything.
//!
//! A page does what an endpoint does: parse, find who calls, one call of `service`, render. What people have written
//! must reach a page through a template only, which escapes it.

mod assets;
mod claim;
mod dashboard;
pub mod faults;
pub mod fields;
mod home;
mod invite;
mod next_path;
mod refused;
mod report;
pub mod signin;
mod time_left;
mod told;
mod you;

use std::sync::Arc;

use askama::Template;
use domain::link::{Addresses, UrlStyle};
use domain::{Artifact, Refusal};
use poem::endpoint::make_sync;
use poem::http::{HeaderValue, StatusCode, header};
use poem::{Endpoint, EndpointExt, IntoResponse, Request, Response, Route, RouteMethod, get, post};
use service::{Person, Service};

use crate::caller;
use crate::refusal::RefusedCall;
use crate::session_cookie;

pub use dashboard::figures;
pub use next_path::NextPath;
pub use refused::RefusalForm;

/// What our own pages may do: show themselves, run their one script and post their own forms.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; \
     form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// A page, or the address of a form.
pub struct PageRoute {
    /// As poem routes it.
    pub pattern: &'static str,
    /// Those that it answers: what a 405 tells.
    pub methods: &'static [&'static str],
    pub endpoint: fn() -> RouteMethod,
}

/// The one page that stands before all other routes.
const FRONT: PageRoute =
    PageRoute { pattern: "/", methods: &["GET", "POST"], endpoint: || get(home::show).post(home::publish) };

/// All others but those of the dashboard, which lists its own.
const ROUTES: &[PageRoute] = &[
    PageRoute {
        pattern: "/assets/page.css",
        methods: &["GET"],
        endpoint: || get(make_sync(|_| assets::stylesheet())),
    },
    PageRoute {
        pattern: "/assets/page.js",
        methods: &["GET"],
        endpoint: || get(make_sync(|_| assets::script())),
    },
    PageRoute {
        pattern: "/claim/:code",
        methods: &["GET", "POST"],
        endpoint: || get(claim::show).post(claim::claim),
    },
    PageRoute {
        pattern: "/invite/:code",
        methods: &["GET", "POST"],
        endpoint: || get(invite::show).post(invite::join),
    },
    PageRoute {
        pattern: "/report",
        methods: &["GET", "POST"],
        endpoint: || get(report::show).post(report::report),
    },
    PageRoute { pattern: report::THANKS, methods: &["GET"], endpoint: || get(report::thank) },
    PageRoute {
        pattern: "/signin",
        methods: &["GET", "POST"],
        endpoint: || get(signin::show).post(signin::sign_in),
    },
    PageRoute { pattern: "/signout", methods: &["POST"], endpoint: || post(signin::sign_out) },
    PageRoute { pattern: you::PATH, methods: &["GET"], endpoint: || get(you::show) },
    PageRoute {
        pattern: "/you/password",
        methods: &["GET", "POST"],
        endpoint: || get(you::to_the_form).post(you::change_password),
    },
    PageRoute {
        pattern: "/you/sessions/:id/end",
        methods: &["GET", "POST"],
        endpoint: || get(you::to_the_form).post(you::end_session),
    },
    PageRoute {
        pattern: "/you/sign-out-everywhere",
        methods: &["GET", "POST"],
        endpoint: || get(you::to_the_form).post(you::sign_out_everywhere),
    },
];

/// A published page, as a list shows it.
pub struct PageLink {
    pub slug: String,
    pub url: String,
}

/// Adds the pages to the routes. The ones that the specification lists are among the extra operations of the documents.
pub fn add_to(routes: Route) -> Route {
    let pages = ROUTES.iter().chain(dashboard::ROUTES);
    pages.fold(routes, |routes, page| routes.at(page.pattern, (page.endpoint)()))
}

/// The front page before what is nested at `/`: poem would give its path to that.
pub fn with_front_page<E>(rest: E) -> impl Endpoint<Output = Response>
where
    E: Endpoint + 'static,
{
    let front = Arc::new(Route::new().at(FRONT.pattern, (FRONT.endpoint)()));
    rest.around(move |rest, request| {
        let front = front.clone();
        async move {
            if request.uri().path() == FRONT.pattern {
                return front.call(request).await;
            }
            rest.call(request).await.map(IntoResponse::into_response)
        }
    })
}

/// The pages by pattern, and the methods that each answers.
pub fn methods() -> Vec<(&'static str, &'static [&'static str])> {
    all().map(|page| (page.pattern, page.methods)).collect()
}

/// Whether a path is one of the pages, or lies where pages lie: people open such a path, not programs.
pub fn is_page_path(path: &str) -> bool {
    all().any(|page| first_segment(page.pattern) == first_segment(path))
}

fn all() -> impl Iterator<Item = &'static PageRoute> {
    std::iter::once(&FRONT).chain(ROUTES).chain(dashboard::ROUTES).chain(crate::admin::routes())
}

fn first_segment(path: &str) -> Option<&str> {
    path.split('/').nth(1)
}

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

/// Links to the pages of an account, for those who belong to it.
pub fn links_of(artifacts: &[Artifact], service: &Service) -> Vec<PageLink> {
    let link =
        |artifact: &Artifact| PageLink { slug: artifact.slug.to_string(), url: service.member_url(artifact) };
    artifacts.iter().map(link).collect()
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

#[cfg(test)]
mod tests;
