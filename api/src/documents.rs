//! The documents of the API: `/openapi.json` and `/openapi-3.1.json` for programs, the pages at `/docs` for
//! people, `/skill`, `/skill/reference.md` (whole, and by section) and `/llms.txt` for agents. They load
//! nothing from other sites.
//!
//! Documents must not repeat facts by hand: endpoints come from the OpenAPI document, error codes from the
//! catalogue, prices and limits from the settings.

mod complete;
mod discovery;
mod errors;
mod examples;
mod extra_operations;
mod facts;
mod llms;
mod manual;
mod newer;
mod portable;
mod reference;
mod skill;
mod well_known;

use std::sync::{Arc, LazyLock};

use askama::Template;
use bytes::Bytes;
use domain::{Missing, Refusal};
use poem::endpoint::make_sync;
use poem::http::{HeaderValue, header};
use poem::{Request, Response, Route, RouteMethod, get};

use self::llms::Llms;
use self::manual::Manual;
use self::reference::{Reference, ReferencePages};
use self::skill::Skill;
use crate::html;
use crate::http::refusal::RefusedCall;

pub use complete::complete;
pub use discovery::{AGENT_SKILLS, API_CATALOG, SERVER_JSON};
pub use facts::Facts;
pub use well_known::{SECURITY_TXT, SECURITY_TXT_AT_ROOT, WellKnownFiles};

const JSON: &str = "application/json; charset=utf-8";
const HTML: &str = "text/html; charset=utf-8";
const MARKDOWN: &str = "text/markdown; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";

/// The routes of the documents. `complete` returns the OpenAPI document.
pub fn routes(facts: &Facts, complete: impl FnOnce() -> String + Send + 'static) -> Route {
    let skill = Skill::new(facts.clone()).render().unwrap_or_default();
    let (server, catalog) = (discovery::server(facts), discovery::catalog(facts));
    let skills = discovery::skills(facts, &skill);
    let own = facts.clone();
    let openapi = lazy(move || examples::with_addresses(&own, &complete()));
    let of_openapi = |make: fn(&str) -> String| {
        let openapi = openapi.clone();
        lazy(move || make(&openapi))
    };
    let (newer, reference) = (of_openapi(newer::in_3_1), of_openapi(self::reference));
    let pages = lazy({
        let (reference, base_url) = (reference.clone(), facts.base_url.clone());
        move || ReferencePages::of(&reference, &base_url)
    });
    let manual = lazy({
        let (openapi, facts) = (openapi.clone(), facts.clone());
        move || Manual::of(&facts, &openapi)
    });
    add_manual(Route::new(), &manual)
        .at("/openapi.json", lazy_document(openapi, JSON))
        .at("/openapi-3.1.json", lazy_document(newer, JSON))
        .at("/skill", get(make_sync(move |request| skill_for(&request, &skill, &manual))))
        .at("/skill/reference.md", lazy_document(reference, MARKDOWN))
        .at("/skill/reference/:page", get(make_sync(move |request| section(&pages, &request))))
        .at("/llms.txt", template(Llms { facts: facts.clone() }, TEXT))
        .at(SERVER_JSON, document(server, JSON))
        .at(AGENT_SKILLS, document(skills, JSON))
        .at(API_CATALOG, document(catalog, discovery::LINKS))
}

/// A value that is made on first use, because it takes more memory or time than everything else when the
/// service starts.
type Lazy<T> = Arc<LazyLock<T, Box<dyn FnOnce() -> T + Send>>>;

fn lazy<T>(make: impl FnOnce() -> T + Send + 'static) -> Lazy<T> {
    Arc::new(LazyLock::new(Box::new(make)))
}

/// Caches get the documents of a new release within minutes.
const FRESH: HeaderValue = HeaderValue::from_static("public, max-age=300");

/// Adds the pages for people.
fn add_manual(routes: Route, manual: &Lazy<Manual>) -> Route {
    let page = || {
        let manual = manual.clone();
        get(make_sync(move |request: Request| manual.respond(&request)))
    };
    let (searched, index) = (manual.clone(), manual.clone());
    routes
        .at("/docs", page())
        .at("/docs/errors", page())
        .at("/docs/search", get(make_sync(move |request| searched.search(&request))))
        .at("/docs/search.json", get(make_sync(move |_| respond(index.index(), JSON))))
        .at("/docs/reference", page())
        .at("/docs/reference/:group", page())
        .at("/docs/:guide", page())
}

/// Agents get the Markdown itself, and browsers a page.
fn skill_for(request: &Request, skill: &str, manual: &Lazy<Manual>) -> Result<Response, RefusedCall> {
    let mut response = if html::prefers_html(request) {
        manual.page(manual::SKILL)?
    } else {
        respond(skill.to_owned(), MARKDOWN)
    };
    response.headers_mut().insert(header::VARY, HeaderValue::from_static("Accept"));
    Ok(response)
}

/// The whole reference.
fn reference(openapi: &str) -> String {
    Reference::of(openapi).render().unwrap_or_default()
}

fn section(pages: &ReferencePages, request: &Request) -> Result<Response, RefusedCall> {
    let file = request.raw_path_param("page").unwrap_or_default();
    let page = pages.find(file).ok_or(Refusal::NotFound(Missing::Endpoint))?;
    Ok(respond(page, MARKDOWN))
}

fn document(text: Bytes, content_type: &'static str) -> RouteMethod {
    get(make_sync(move |_| respond(text.clone(), content_type)))
}

fn lazy_document(text: Lazy<String>, content_type: &'static str) -> RouteMethod {
    get(make_sync(move |_| respond(text.to_string(), content_type)))
}

fn template(template: impl Template + Send + Sync + 'static, content_type: &'static str) -> RouteMethod {
    get(make_sync(move |_| html::rendered(&template).map(|text| respond(text, content_type))))
}

fn respond(text: impl Into<poem::Body>, content_type: &'static str) -> Response {
    Response::builder()
        .content_type(content_type)
        .header(header::CACHE_CONTROL, FRESH)
        .header(header::LINK, discovery::link_to_catalog())
        .body(text)
}

#[cfg(test)]
pub use manual::tests::samples;

#[cfg(test)]
mod tests;
