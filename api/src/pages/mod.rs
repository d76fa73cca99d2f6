//! The pages for people: made on the server, usable without script, asking nobody else for anything.
//!
//! A page does what an endpoint does: parse, find who calls, one call of `service`, render. What people have written
//! must reach a page through a template only, which escapes it.

use askama::Template;
use poem::endpoint::make_sync;
use poem::http::{HeaderValue, StatusCode, header};
use poem::{Response, Route, get};

use crate::refusal::RefusedCall;

/// What our own pages may do: show themselves and post their own forms.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self' data:; \
     form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const STYLESHEET: &str = include_str!("../../templates/page.css");

/// Adds the pages to the routes. They are not in the API's document, which is for programs.
pub fn add_to(routes: Route) -> Route {
    routes.at("/assets/page.css", get(make_sync(|_| stylesheet())))
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
