//! The pages for people: made on the server, usable without script, asking nobody else for anything.
//!
//! A page does what an endpoint does: parse, find who calls, one call of `service`, render. What people have written
//! must reach a page through a template only, which escapes it.

mod claim;
mod dashboard;
mod fields;
mod invite;
mod next_path;
mod refused;
mod report;
mod signin;

use askama::Template;
use domain::{Artifact, Refusal};
use poem::endpoint::make_sync;
use poem::http::{HeaderValue, StatusCode, header};
use poem::{Request, Response, Route, get, post};
use service::{Person, Service};

use crate::caller;
use crate::refusal::RefusedCall;
use crate::session_cookie;

pub use next_path::NextPath;
pub use refused::RefusalForm;

/// What our own pages may do: show themselves and post their own forms.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self' data:; \
     form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const STYLESHEET: &str = include_str!("../../templates/page.css");

/// The pages by the pattern under which poem routes them, and the methods that each answers: what a 405 tells.
pub const METHODS: &[(&str, &[&str])] = &[
    ("/assets/page.css", &["GET"]),
    ("/claim/:code", &["GET", "POST"]),
    ("/dashboard", &["GET"]),
    ("/invite/:code", &["GET", "POST"]),
    ("/report", &["GET", "POST"]),
    ("/signin", &["GET", "POST"]),
    ("/signout", &["POST"]),
];

/// A published page, as a list shows it.
pub struct PageLink {
    pub slug: String,
    pub url: String,
}

/// Adds the pages to the routes. They are not in the API's document, which is for programs.
pub fn add_to(routes: Route) -> Route {
    routes
        .at("/assets/page.css", get(make_sync(|_| stylesheet())))
        .at("/claim/:code", get(claim::show).post(claim::claim))
        .at("/dashboard", get(dashboard::show))
        .at("/invite/:code", get(invite::show).post(invite::join))
        .at("/report", get(report::show).post(report::report))
        .at("/signin", get(signin::show).post(signin::sign_in))
        .at("/signout", post(signin::sign_out))
}

/// A page as an answer. No cache may keep it: it may show what only this person may see.
pub fn page(status: StatusCode, template: &impl Template) -> Result<Response, RefusedCall> {
    let text = template.render().map_err(|error| {
        RefusedCall::from(service::Failure::Bug(anyhow::Error::new(error).context("render a page")))
    })?;
    Ok(Response::builder()
        .status(status)
        .content_type("text/html; charset=utf-8")
        .header(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(CONTENT_SECURITY_POLICY))
        .header(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))
        .header(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"))
        // Not `no-referrer`: with it browsers tell our own forms' origin as `null`.
        .header(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"))
        .body(text))
}

fn stylesheet() -> Response {
    Response::builder()
        .content_type("text/css; charset=utf-8")
        .header(header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=3600"))
        .body(STYLESHEET)
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
    if let Some(value) = session_cookie::header(cookie) {
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
