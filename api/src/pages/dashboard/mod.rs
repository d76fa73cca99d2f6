//! What people see and do of their accounts: pages, use, credit, team and tokens.
//!
//! Every page of an account begins with a [`desk::Desk`]: who looks, in which role, at which account. A button that a role
//! has no use for is not shown; whether a call is allowed the service alone decides.

pub mod arrival;
pub mod artifact_page;
pub mod artifacts;
pub mod audit;
pub mod credit;
pub mod ledger;
pub mod page;
pub mod pager;
pub mod question;
pub mod team;
#[cfg(test)]
pub mod tests;
pub mod tokens;
pub mod usage;

use askama::Template;
use poem::web::Data;
use poem::{Request, Response, handler};
use service::Service;

use crate::html::error_text::page_to_open;
use crate::html::{found_at, person_if_any};
use crate::http::refusal::RefusedCall;
use arrival::Arrival;
use page::{done, shown, to_sign_in};

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
pub async fn index(request: &Request, service: Data<&Service>) -> Result<Response, RefusedCall> {
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
pub fn to_the_form(request: &Request) -> Response {
    found_at(page_to_open(request.uri().path()))
}
