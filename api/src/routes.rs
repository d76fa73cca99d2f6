//! All routes in one table, each with its terms on its own line, and the endpoint built from it.
//!
//! To add a route, add a line to [`table`]. It sets the body limit, the permit class, the 405 responses and
//! the route's name in the log. poem-openapi finds the handlers of `rest`; a page's handler is on its line.

mod table;

use std::sync::Arc;

use poem::http::Method;
use poem::{Endpoint, EndpointExt, IntoResponse, Request, Response, Route, RouteMethod};

use self::table::{ADMIN, DASHBOARD, DOCUMENTS, MANUAL, MCP, NETLIFY, OAUTH, PAGES, REST};
use crate::admin::guard;
use crate::documents::Facts;
use crate::http::operator::hide_from_strangers;
use crate::http::paths::{Paths, fits, with_encoded_rest};
use crate::http::terms::{Area, Audience, PermitClass, Terms};
use crate::{documents, mcp, rest};

/// A line of the table: one method of one path.
pub struct RouteLine {
    /// In lower case, as poem names it.
    pub method: &'static str,
    /// The pattern in poem's syntax.
    pub pattern: &'static str,
    /// Adds the page's handler to the route.
    pub page: Option<fn(RouteMethod) -> RouteMethod>,
    pub terms: Terms,
}

/// The front page. It is handled before the nested routes, because poem gives `/` to what is nested there.
const FRONT: &str = "/";

/// The pattern of a path that ends with the path of a file. The table has it as one segment.
const FILE_OF_A_VERSION: &str = "/v1/artifacts/:slug/files/*path";

/// Makes the path of a file in the request's path one segment, as the table expects it.
pub fn join_file_path(request: &mut Request) {
    let Some(path) = with_encoded_rest(FILE_OF_A_VERSION, request.uri().path()) else { return };
    let target = match request.uri().query() {
        Some(query) => format!("{path}?{query}"),
        None => path,
    };
    // The original path was valid, and so is one with encoded slashes.
    if let Ok(uri) = target.parse() {
        *request.uri_mut() = uri;
    }
}

/// All lines of the table.
pub fn all() -> impl Iterator<Item = &'static RouteLine> {
    [REST, DOCUMENTS, MANUAL, MCP, OAUTH, NETLIFY, PAGES, DASHBOARD, ADMIN].into_iter().flatten()
}

/// The lines of pages.
fn pages() -> impl Iterator<Item = &'static RouteLine> {
    [PAGES, DASHBOARD, ADMIN].into_iter().flatten()
}

/// The terms of a request. A method that the path does not have gets the terms of one that it has. An unknown
/// path gets the strictest terms.
pub fn terms_of(request: &Request) -> Terms {
    let path = request.uri().path();
    let method = if request.method() == Method::HEAD { &Method::GET } else { request.method() };
    let mut other_method = None;
    for line in all().filter(|line| fits(line.pattern, path)) {
        if line.method.eq_ignore_ascii_case(method.as_str()) {
            return line.terms;
        }
        other_method.get_or_insert(line.terms);
    }
    match other_method {
        Some(terms) if terms.permit == PermitClass::SignIn => Terms { permit: PermitClass::Request, ..terms },
        Some(terms) => terms,
        None if is_page_path(path) => Terms { area: Area::Page, ..Terms::default() },
        None => Terms::default(),
    }
}

/// Whether people, rather than programs, open this path: it is a page or shares its first segment with one.
pub fn is_page_path(path: &str) -> bool {
    pages().any(|page| first_segment(page.pattern) == first_segment(path))
}

fn first_segment(path: &str) -> Option<&str> {
    path.split('/').nth(1)
}

/// The lines grouped by pattern.
fn by_pattern(
    lines: impl Iterator<Item = &'static RouteLine>,
) -> Vec<(&'static str, Vec<&'static RouteLine>)> {
    let mut patterns: Vec<(&'static str, Vec<&'static RouteLine>)> = Vec::new();
    for line in lines {
        match patterns.last_mut() {
            Some((pattern, lines)) if *pattern == line.pattern => lines.push(line),
            _ => patterns.push((line.pattern, vec![line])),
        }
    }
    patterns
}

/// The methods of the routes outside of poem-openapi, by pattern.
pub fn methods() -> Vec<(&'static str, Vec<&'static str>)> {
    let lines = [DOCUMENTS, MANUAL, MCP, OAUTH, NETLIFY, PAGES, DASHBOARD, ADMIN].into_iter().flatten();
    let methods = |lines: Vec<&'static RouteLine>| lines.iter().map(|line| line.method).collect();
    by_pattern(lines).into_iter().map(|(pattern, lines)| (pattern, methods(lines))).collect()
}

/// The routes, and the paths of the OpenAPI document.
pub fn assemble(facts: &Facts) -> (Route, Paths) {
    let described = rest::open_api(&facts.base_url).spec();
    // Not from the served document, which leaves out some content types.
    let paths = Paths::listed_in(&described).with_pages(&methods());
    let documents = documents::routes(facts, move || documents::complete(&described, is_page_path));
    let routes = mcp::add_to(add_pages(documents));
    let rest = rest::open_api(&facts.base_url).around(hide_from_strangers);
    (routes.nest("/", with_front_page(rest)), paths)
}

/// The OpenAPI document of an API at `base_url`.
pub fn openapi_document(base_url: &str) -> String {
    documents::complete(&rest::open_api(base_url).spec(), is_page_path)
}

/// Adds the pages. Guards protect the pages of the operator's staff, including their 405 responses.
fn add_pages(mut routes: Route) -> Route {
    let handled = OAUTH.iter().chain(NETLIFY).chain(pages());
    for (pattern, lines) in by_pattern(handled.filter(|line| line.pattern != FRONT)) {
        let page = endpoint(&lines);
        routes = match lines.first().map(|line| line.terms.audience) {
            Some(Audience::StaffSignIn) => routes.at(pattern, page.around(guard::while_there_is_a_password)),
            Some(Audience::Staff) => routes.at(pattern, page.around(guard::operators_only)),
            Some(Audience::StaffOrTicket) => routes.at(pattern, page.around(guard::operators_and_tickets)),
            _ => routes.at(pattern, page),
        };
    }
    routes
}

fn endpoint(lines: &[&'static RouteLine]) -> RouteMethod {
    lines.iter().filter_map(|line| line.page).fold(RouteMethod::new(), |methods, add| add(methods))
}

fn with_front_page<E>(rest: E) -> impl Endpoint<Output = Response>
where
    E: Endpoint + 'static,
{
    let lines: Vec<&'static RouteLine> = pages().filter(|line| line.pattern == FRONT).collect();
    let front = Arc::new(Route::new().at(FRONT, endpoint(&lines)));
    rest.around(move |rest, request| {
        let front = front.clone();
        async move {
            if request.uri().path() == FRONT {
                return front.call(request).await;
            }
            rest.call(request).await.map(IntoResponse::into_response)
        }
    })
}

#[cfg(test)]
mod tests;
