//! The pages for people: made on the server, usable without script, asking nobody else for anything.
//!
//! A page does what an endpoint does: parse, find who calls, one call of `service`, render. What people have written
//! must reach a page through a template only, which escapes it.

mod assets;
mod claim;
mod dashboard;
mod home;
mod invite;
mod report;
pub mod signin;
mod time_left;
mod you;

use std::sync::Arc;

use domain::Artifact;
use poem::endpoint::make_sync;
use poem::{Endpoint, EndpointExt, IntoResponse, Response, Route, RouteMethod, get, post};
use service::Service;

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

/// Links to the pages of an account, for those who belong to it.
pub fn links_of(artifacts: &[Artifact], service: &Service) -> Vec<PageLink> {
    let link =
        |artifact: &Artifact| PageLink { slug: artifact.slug.to_string(), url: service.member_url(artifact) };
    artifacts.iter().map(link).collect()
}

#[cfg(test)]
mod tests;
