//! What people see and do of their accounts: pages, use, credit, team and tokens.
//!
//! Every page of an account begins with a [`desk::Desk`]: who looks, in which role, at which account. A button that a role
//! has no use for is not shown; whether a call is allowed the service alone decides.

pub mod arrival;
mod artifact_page;
mod artifacts;
pub mod audit;
mod credit;
pub mod desk;
mod ledger;
mod pager;
mod question;
mod team;
#[cfg(test)]
pub mod tests;
pub mod tokens;
mod usage;

use askama::Template;
use poem::web::Data;
use poem::{Request, Response, get, handler};
use service::Service;

use super::PageRoute;
use crate::html::told::page_to_open;
use crate::html::{found_at, person_if_any};
use crate::http::refusal::RefusedCall;
use arrival::Arrival;
use desk::{done, shown, to_sign_in};

/// The pages of the dashboard. What changes something lies below the page that has its form.
pub const ROUTES: &[PageRoute] = &[
    PageRoute { pattern: "/dashboard", methods: &["GET"], endpoint: || get(index) },
    PageRoute { pattern: "/dashboard/", methods: &["GET"], endpoint: || get(index) },
    PageRoute { pattern: "/dashboard/:handle", methods: &["GET"], endpoint: || get(artifacts::show) },
    PageRoute {
        pattern: "/dashboard/:handle/pages/:slug",
        methods: &["GET"],
        endpoint: || get(artifact_page::show),
    },
    PageRoute {
        pattern: "/dashboard/:handle/pages/:slug/activate",
        methods: &["GET", "POST"],
        endpoint: || get(to_the_form).post(artifact_page::activate),
    },
    PageRoute {
        pattern: "/dashboard/:handle/pages/:slug/appeal",
        methods: &["GET", "POST"],
        endpoint: || get(to_the_form).post(artifact_page::send_appeal),
    },
    PageRoute {
        pattern: "/dashboard/:handle/pages/:slug/visibility",
        methods: &["GET", "POST"],
        endpoint: || get(to_the_form).post(artifact_page::set_visibility),
    },
    PageRoute {
        pattern: "/dashboard/:handle/pages/:slug/delete",
        methods: &["GET", "POST"],
        endpoint: || get(artifact_page::ask_to_delete).post(artifact_page::delete),
    },
    PageRoute { pattern: "/dashboard/:handle/usage", methods: &["GET"], endpoint: || get(usage::show) },
    PageRoute { pattern: "/dashboard/:handle/credit", methods: &["GET"], endpoint: || get(credit::show) },
    PageRoute {
        pattern: "/dashboard/:handle/credit/top-up",
        methods: &["GET", "POST"],
        endpoint: || get(to_the_form).post(credit::top_up),
    },
    PageRoute {
        pattern: "/dashboard/:handle/credit/checkout",
        methods: &["GET", "POST"],
        endpoint: || get(to_the_form).post(credit::check_out),
    },
    PageRoute { pattern: "/dashboard/:handle/team", methods: &["GET"], endpoint: || get(team::show) },
    PageRoute {
        pattern: "/dashboard/:handle/team/agent-join",
        methods: &["GET", "POST"],
        endpoint: || get(to_the_form).post(team::set_agent_join),
    },
    PageRoute {
        pattern: "/dashboard/:handle/team/invites",
        methods: &["GET", "POST"],
        endpoint: || get(to_the_form).post(team::make_invite),
    },
    PageRoute {
        pattern: "/dashboard/:handle/team/invites/:code/revoke",
        methods: &["GET", "POST"],
        endpoint: || get(team::ask_to_revoke).post(team::revoke),
    },
    PageRoute {
        pattern: "/dashboard/:handle/team/members/:id/remove",
        methods: &["GET", "POST"],
        endpoint: || get(team::ask_to_remove).post(team::remove),
    },
    PageRoute { pattern: "/dashboard/:handle/audit", methods: &["GET"], endpoint: || get(audit::show) },
    PageRoute { pattern: "/dashboard/:handle/tokens", methods: &["GET"], endpoint: || get(tokens::show) },
    PageRoute {
        pattern: "/dashboard/:handle/tokens/mint",
        methods: &["GET", "POST"],
        endpoint: || get(to_the_form).post(tokens::mint),
    },
    PageRoute {
        pattern: "/dashboard/:handle/tokens/:id/revoke",
        methods: &["GET", "POST"],
        endpoint: || get(tokens::ask_to_revoke).post(tokens::revoke),
    },
];

/// For who is on no account.
#[derive(Template)]
#[template(path = "dashboard/none.html")]
struct NoAccountPage<'a> {
    username: &'a str,
    done: Option<&'static str>,
    base_url: &'a str,
}

/// Leads to the account that the person has just come by, else to the one in which their role is highest.
#[handler]
async fn index(request: &Request, service: Data<&Service>) -> Result<Response, RefusedCall> {
    let Some(person) = person_if_any(request, &service).await? else { return Ok(to_sign_in(request)) };
    let memberships = service.memberships(&person).await?;
    let Some(first) = memberships.first() else {
        let base_url = &service.addresses().base_url;
        let template = NoAccountPage { username: &person.username, done: done(request), base_url };
        return shown(request, &service, None, &template);
    };
    let arrival = Arrival::of(request);
    let arrived =
        arrival.as_ref().filter(|one| memberships.iter().any(|own| own.account.handle == one.handle));
    let answer = match arrived {
        Some(Arrival { handle, how }) => found_at(&format!("/dashboard/{handle}?done={}", how.as_str())),
        None => {
            // What has just been done is told where they go on to.
            let query = request.uri().query().map_or(String::new(), |query| format!("?{query}"));
            found_at(&format!("/dashboard/{}{query}", first.account.handle))
        }
    };
    Ok(match arrival {
        Some(_) => Arrival::forgotten_with(answer, service.addresses()),
        None => answer,
    })
}

/// For who looks at the address of a form, which a refused one leaves in the browser: the page that has it.
#[handler]
fn to_the_form(request: &Request) -> Response {
    found_at(page_to_open(request.uri().path()))
}
