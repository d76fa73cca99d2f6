//! Joining an account as a person: the page behind an invite link, and its button. A signed-out visitor signs
//! in first and then comes back.

use askama::Template;
use domain::Role;
use poem::http::StatusCode;
use poem::web::{Data, Path};
use poem::{Request, Response, handler};
use service::Service;

use super::dashboard::arrival::{Arrival, How};
use crate::html::{NextPath, found, page, person_if_any};
use crate::http::caller;
use crate::http::refusal::RefusedCall;

#[derive(Template)]
#[template(path = "invite.html")]
struct InvitePage<'a> {
    handle: &'a str,
    role: Role,
    code: &'a str,
    signed_in_as: Option<&'a str>,
}

#[handler]
pub async fn show(
    request: &Request,
    Path(code): Path<String>,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    let opened = service.open_invite(&code).await?;
    let person = person_if_any(request, &service).await?;
    let template = InvitePage {
        handle: &opened.account.handle,
        role: opened.invite.role,
        code: opened.invite.code.as_str(),
        signed_in_as: person.as_ref().map(|person| person.username.as_str()),
    };
    page(StatusCode::OK, &template)
}

#[handler]
pub async fn join(
    request: &Request,
    Path(code): Path<String>,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    let person = caller::person(request, &service).await?;
    let handle = service.join(&person, &code).await?;
    Ok(Arrival::set_on(found(&NextPath::dashboard()), &handle, How::Joined, service.addresses()))
}

#[cfg(test)]
pub fn samples() -> Vec<(String, String)> {
    let of = |role, signed_in_as| {
        InvitePage { handle: "acct_k3x9m2", role, code: "abc", signed_in_as }.render().unwrap()
    };
    vec![("invite".into(), of(Role::Member, None)), ("invite-signed-in".into(), of(Role::Admin, Some("ada")))]
}
