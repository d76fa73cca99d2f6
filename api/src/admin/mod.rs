//! The pages of the operator's people: the moderators' queue, who decided what, and the queue board. They come in by a password of their
//! own, or by the operator's secret; to anybody else it must look as if these pages were not there, or be the sign-in.
//!
//! A page here begins with a [`frame::Desk`]: who looks, and what stands around the page. A new page joins [`DESK`];
//! its guard, its 405s and its line in the log follow by themselves.

mod audit;
mod bulk;
mod case;
mod contents;
mod cookie;
mod decision;
mod frame;
mod guard;
mod hints;
mod history;
mod list;
mod log;
mod preview;
mod queue;
mod queues;
mod reasons;
mod seen;
mod signin;
mod suspension;
#[cfg(test)]
pub mod tests;
mod words;

use poem::{EndpointExt, Response, Route, get, handler, post};

use crate::html::found_at;
use crate::pages::PageRoute;

/// The queue: where one lands.
const QUEUE: &str = "/admin/moderation";
const SIGN_IN: &str = "/admin/signin";

/// For who is not in yet.
const ENTRANCE: &[PageRoute] = &[PageRoute {
    pattern: SIGN_IN,
    methods: &["GET", "POST"],
    endpoint: || get(signin::show).post(signin::sign_in),
}];

/// For who is.
const DESK: &[PageRoute] = &[
    PageRoute { pattern: "/admin", methods: &["GET"], endpoint: || get(index) },
    PageRoute { pattern: "/admin/", methods: &["GET"], endpoint: || get(index) },
    PageRoute { pattern: "/admin/signout", methods: &["POST"], endpoint: || post(signin::sign_out) },
    PageRoute { pattern: QUEUE, methods: &["GET", "POST"], endpoint: || get(queue::show).post(bulk::decide) },
    PageRoute {
        pattern: "/admin/moderation/:host",
        methods: &["GET", "POST"],
        endpoint: || get(case::show).post(decision::decide),
    },
    PageRoute {
        pattern: "/admin/moderation/:host/account",
        methods: &["POST"],
        endpoint: || post(suspension::decide),
    },
    PageRoute {
        pattern: "/admin/moderation/:host/source/:seq/*path",
        methods: &["GET"],
        endpoint: || get(preview::source),
    },
    PageRoute {
        pattern: contents::PATH,
        methods: &["GET", "POST"],
        endpoint: || get(contents::show).post(contents::unblock),
    },
    PageRoute { pattern: "/admin/audit", methods: &["GET"], endpoint: || get(audit::show) },
    PageRoute {
        pattern: queues::BOARD,
        methods: &["GET", "POST"],
        endpoint: || get(queues::board::show).post(queues::board::run),
    },
    PageRoute {
        pattern: "/admin/queues/:queue",
        methods: &["GET", "POST"],
        endpoint: || get(queues::jobs::show).post(queues::jobs::steer),
    },
    PageRoute {
        pattern: "/admin/queues/:queue/:id",
        methods: &["GET", "POST"],
        endpoint: || get(queues::job::show).post(queues::job::steer),
    },
];

/// For who is, and for what a preview loads.
const PREVIEW: &[PageRoute] = &[PageRoute {
    pattern: "/admin/moderation/:host/preview/:seq/*path",
    methods: &["GET"],
    endpoint: || get(preview::show),
}];

/// Adds the pages to the routes, each behind its guard.
pub fn add_to(routes: Route) -> Route {
    let routes = ENTRANCE.iter().fold(routes, |routes, page| {
        routes.at(page.pattern, (page.endpoint)().around(guard::while_there_is_a_password))
    });
    let routes = DESK.iter().fold(routes, |routes, page| {
        routes.at(page.pattern, (page.endpoint)().around(guard::operators_only))
    });
    PREVIEW.iter().fold(routes, |routes, page| {
        routes.at(page.pattern, (page.endpoint)().around(guard::operators_and_tickets))
    })
}

/// Every page, for what is told of them all.
pub fn routes() -> impl Iterator<Item = &'static PageRoute> {
    ENTRANCE.iter().chain(DESK).chain(PREVIEW)
}

#[handler]
fn index() -> Response {
    found_at(QUEUE)
}
