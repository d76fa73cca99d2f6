//! The account dashboard: pages, usage, credit, team, tokens and the audit log.
//!
//! Every page of an account begins with a [`page::DashboardPage`]: who is signed in, in which role, on which
//! account. A role does not see buttons that it cannot use, but only the service decides whether a call is
//! allowed.

pub mod amounts;
pub mod arrival;
pub mod artifact_page;
mod artifact_rows;
pub mod artifacts;
pub mod audit;
pub mod bulk;
pub mod changes;
pub mod chart;
pub mod credit;
pub mod deleted;
pub mod duplicate;
pub mod export;
pub mod ledger;
pub mod list_query;
pub mod mint_form;
pub mod naming;
pub mod page;
pub mod pager;
pub mod private_link;
pub mod question;
pub mod rename;
pub mod team;
#[cfg(test)]
pub mod tests;
pub mod tokens;
pub mod usage;
pub mod version_deletion;
pub mod visibility;

use askama::Template;
use poem::web::Data;
use poem::{Request, Response, handler};
use service::Service;

use crate::html::error_text::page_to_open;
use crate::html::{found_at, person_if_any};
use crate::http::refusal::RefusedCall;
use arrival::{Arrival, How};
use page::{done, render_page, to_sign_in};

/// The dashboard of a person who has no account.
#[derive(Template)]
#[template(path = "dashboard/none.html")]
struct NoAccountPage<'a> {
    username: &'a str,
    done: Option<&'static str>,
    base_url: &'a str,
}

/// Redirects to the account that the person has just claimed or joined, otherwise to the one with their
/// highest role.
#[handler]
pub async fn index(request: &Request, service: Data<&Service>) -> Result<Response, RefusedCall> {
    let Some(person) = person_if_any(request, &service).await? else { return Ok(to_sign_in(request)) };
    let memberships = service.memberships(&person).await?;
    let Some(first) = memberships.first() else {
        let base_url = &service.addresses().base_url;
        let template = NoAccountPage { username: &person.username, done: done(request), base_url };
        return render_page(request, &service, None, &template);
    };
    let arrival = Arrival::of(request);
    let arrived =
        arrival.as_ref().filter(|one| memberships.iter().any(|own| own.account.handle == one.handle));
    let answer = match arrived {
        Some(Arrival { handle, how: How::Claimed }) => {
            found_at(&format!("/dashboard/{handle}/welcome?done=claimed"))
        }
        Some(Arrival { handle, how }) => found_at(&format!("/dashboard/{handle}?done={}", how.as_str())),
        None => {
            // Keeps the query, so that the next page shows what was done.
            let query = request.uri().query().map_or(String::new(), |query| format!("?{query}"));
            found_at(&format!("/dashboard/{}{query}", first.account.handle))
        }
    };
    Ok(match arrival {
        Some(_) => Arrival::clear_on(answer, service.addresses()),
        None => answer,
    })
}

/// Redirects a GET for the path of a form, which a refused form leaves in the address bar, to the page with
/// the form.
#[handler]
pub fn to_the_form(request: &Request) -> Response {
    found_at(page_to_open(request.uri().path()))
}
