//! Who comes in at `/admin`, decided before a page is asked anything, its methods included.

use std::sync::Arc;

use domain::{Host, Missing, OperatorName, PreviewTicket, Refusal};
use poem::http::{Method, StatusCode};
use poem::{Endpoint, Request, Response};
use service::{OperatorAccess, Service};

use super::preview::in_frame;
use super::{SIGN_IN, cookie};
use crate::html::{accepts_html, found_at};
use crate::http::dev_mode;
use crate::http::operator::{is_operator, name_told};
use crate::http::refusal::RefusedCall;
use crate::http::same_site;
use crate::http::service_of::service_of;

const LAPSED: &str = "This preview has had its hour. Open the page around it again.";

/// One of the operator's people, as the data of a request.
#[derive(Clone, Debug)]
pub struct SignedInOperator {
    pub name: OperatorName,
    /// Whether a session brought them, which they can end.
    pub has_session: bool,
}

/// Pages for the operator's people. Others are led to the sign-in.
pub async fn operators_only<E>(page: Arc<E>, mut request: Request) -> poem::Result<Response>
where
    E: Endpoint<Output = Response>,
{
    let service = service_of(&request)?;
    let Some(operator) = who(&request, service)? else {
        demand_door(service)?;
        return Ok(to_sign_in(&request));
    };
    same_site::demand(&request, service.addresses()).map_err(RefusedCall::from)?;
    request.set_data(operator);
    page.call(request).await
}

/// The files of a preview: for the operator's people, and for an address that holds a ticket.
pub async fn operators_and_tickets<E>(page: Arc<E>, mut request: Request) -> poem::Result<Response>
where
    E: Endpoint<Output = Response>,
{
    let service = service_of(&request)?;
    if let Some(untold) = behind_ticket(&request, service) {
        request.set_data(untold);
        return page.call(request).await;
    }
    if has_ticket(&request) && accepts_html(&request) && who(&request, service)?.is_none() {
        demand_door(service)?;
        // The sign-in would not be shown in the frame.
        return Ok(in_frame(StatusCode::FORBIDDEN, LAPSED));
    }
    operators_only(page, request).await
}

/// The sign-in, where there is something to sign in with.
pub async fn while_there_is_a_password<E>(page: Arc<E>, request: Request) -> poem::Result<Response>
where
    E: Endpoint<Output = Response>,
{
    let service = service_of(&request)?;
    match door_for(&request, service)? {
        OperatorAccess::Password => {}
        OperatorAccess::Open => return Ok(found_at(super::QUEUE)),
        OperatorAccess::Closed => return Err(nothing_here().into()),
    }
    same_site::demand(&request, service.addresses()).map_err(RefusedCall::from)?;
    page.call(request).await
}

/// A path of a version without the ticket that stood before it, as the data of a request.
#[derive(Clone, Debug)]
pub struct Ticketed(pub String);

fn behind_ticket(request: &Request, service: &Service) -> Option<Ticketed> {
    let host: Host = request.raw_path_param("host")?.parse().ok()?;
    let seq = request.raw_path_param("seq")?.parse().ok()?;
    let (ticket, path) = request.raw_path_param("path")?.split_once('/')?;
    service.is_preview_ticket(ticket, &host, seq).then(|| Ticketed(path.to_owned()))
}

/// Whether the path holds something like a ticket.
fn has_ticket(request: &Request) -> bool {
    request.raw_path_param("path").is_some_and(|path| path.starts_with(PreviewTicket::MARK))
}

fn who(request: &Request, service: &Service) -> Result<Option<SignedInOperator>, RefusedCall> {
    if is_operator(request)? {
        return Ok(Some(SignedInOperator {
            name: name_told(request).unwrap_or_else(OperatorName::unnamed),
            has_session: false,
        }));
    }
    Ok(match door_for(request, service)? {
        OperatorAccess::Closed => None,
        OperatorAccess::Open => Some(SignedInOperator { name: OperatorName::unnamed(), has_session: false }),
        OperatorAccess::Password => cookie::session(request)
            .and_then(|session| service.operator_behind(&session))
            .map(|name| SignedInOperator { name, has_session: true }),
    })
}

/// What is open to anybody is open on this machine only, wherever the API listens.
fn door_for(request: &Request, service: &Service) -> Result<OperatorAccess, RefusedCall> {
    let door = service.admin_door();
    if door == OperatorAccess::Open {
        dev_mode::demand_from_here(request, service)?;
    }
    Ok(door)
}

/// Without a door there is nothing here.
fn demand_door(service: &Service) -> Result<(), RefusedCall> {
    match service.admin_door() {
        OperatorAccess::Closed => Err(nothing_here()),
        OperatorAccess::Open | OperatorAccess::Password => Ok(()),
    }
}

fn nothing_here() -> RefusedCall {
    Refusal::NotFound(Missing::Endpoint).into()
}

/// And back to where they wanted to go, if that can be opened.
fn to_sign_in(request: &Request) -> Response {
    let path = request.uri().path();
    // In a query no other character of a path would be sure to stand for itself.
    let is_plain = path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/_-".contains(&byte));
    let is_page = is_plain && !path.ends_with("/signout");
    let next = if is_page { path } else { super::QUEUE };
    let lost = if request.method() == Method::POST { "&lost=true" } else { "" };
    found_at(&format!("{SIGN_IN}?next={next}{lost}"))
}
