//! Access to `/admin`, decided before a page's handler and method.

use std::sync::Arc;

use domain::{Host, Missing, OperatorName, PreviewTicket, Refusal};
use poem::http::{Method, StatusCode};
use poem::{Endpoint, Request, Response};
use service::{OperatorAccess, Service};

use super::preview::in_frame;
use super::{SIGN_IN, cookie};
use crate::html::{accepts_html, found_at};
use crate::http::dev_mode;
use crate::http::operator::{is_operator, operator_name};
use crate::http::refusal::RefusedCall;
use crate::http::same_site;
use crate::http::service_of::service_of;

const LAPSED: &str = "This preview has expired. Reload the page.";

/// A person of the operator's staff, in the data of a request.
#[derive(Clone, Debug)]
pub struct SignedInOperator {
    pub name: OperatorName,
    /// Whether the person has a session, which they can end.
    pub has_session: bool,
}

/// Lets operators in and redirects others to the sign-in.
pub async fn operators_only<E>(page: Arc<E>, mut request: Request) -> poem::Result<Response>
where
    E: Endpoint<Output = Response>,
{
    let service = service_of(&request)?;
    let Some(operator) = authenticated(&request, service)? else {
        demand_access(service)?;
        return Ok(to_sign_in(&request));
    };
    same_site::demand(&request, service.addresses()).map_err(RefusedCall::from)?;
    request.set_data(operator);
    page.call(request).await
}

/// Lets operators in, and URLs with a preview ticket.
pub async fn operators_and_tickets<E>(page: Arc<E>, mut request: Request) -> poem::Result<Response>
where
    E: Endpoint<Output = Response>,
{
    let service = service_of(&request)?;
    if let Some(ticketed) = behind_ticket(&request, service) {
        request.set_data(ticketed);
        return page.call(request).await;
    }
    if has_ticket(&request) && accepts_html(&request) && authenticated(&request, service)?.is_none() {
        demand_access(service)?;
        // The sign-in page cannot be shown in a frame.
        return Ok(in_frame(StatusCode::FORBIDDEN, LAPSED));
    }
    operators_only(page, request).await
}

/// The sign-in, which exists only when there is a password.
pub async fn while_there_is_a_password<E>(page: Arc<E>, request: Request) -> poem::Result<Response>
where
    E: Endpoint<Output = Response>,
{
    let service = service_of(&request)?;
    match access_for(&request, service)? {
        OperatorAccess::Password => {}
        OperatorAccess::Open => return Ok(found_at(super::QUEUE)),
        OperatorAccess::Closed => return Err(not_found().into()),
    }
    same_site::demand(&request, service.addresses()).map_err(RefusedCall::from)?;
    page.call(request).await
}

/// A file's path without the preview ticket before it, in the data of a request.
#[derive(Clone, Debug)]
pub struct Ticketed(pub String);

fn behind_ticket(request: &Request, service: &Service) -> Option<Ticketed> {
    let host: Host = request.raw_path_param("host")?.parse().ok()?;
    let seq = request.raw_path_param("seq")?.parse().ok()?;
    let (ticket, path) = request.raw_path_param("path")?.split_once('/')?;
    service.is_preview_ticket(ticket, &host, seq).then(|| Ticketed(path.to_owned()))
}

/// Whether the path contains something like a preview ticket.
fn has_ticket(request: &Request) -> bool {
    request.raw_path_param("path").is_some_and(|path| path.starts_with(PreviewTicket::MARK))
}

fn authenticated(request: &Request, service: &Service) -> Result<Option<SignedInOperator>, RefusedCall> {
    if is_operator(request)? {
        return Ok(Some(SignedInOperator {
            name: operator_name(request).unwrap_or_else(OperatorName::unnamed),
            has_session: false,
        }));
    }
    Ok(match access_for(request, service)? {
        OperatorAccess::Closed => None,
        OperatorAccess::Open => Some(SignedInOperator { name: OperatorName::unnamed(), has_session: false }),
        OperatorAccess::Password => cookie::session(request)
            .and_then(|session| service.operator_of(&session))
            .map(|name| SignedInOperator { name, has_session: true }),
    })
}

/// Open access is limited to this machine, whatever address the API listens on.
fn access_for(request: &Request, service: &Service) -> Result<OperatorAccess, RefusedCall> {
    let access = service.operator_access();
    if access == OperatorAccess::Open {
        dev_mode::demand_from_here(request, service)?;
    }
    Ok(access)
}

/// Refuses when the operator's pages are switched off.
fn demand_access(service: &Service) -> Result<(), RefusedCall> {
    match service.operator_access() {
        OperatorAccess::Closed => Err(not_found()),
        OperatorAccess::Open | OperatorAccess::Password => Ok(()),
    }
}

fn not_found() -> RefusedCall {
    Refusal::NotFound(Missing::Endpoint).into()
}

/// Redirects to the sign-in, which leads back to this path if it can be opened.
fn to_sign_in(request: &Request) -> Response {
    let path = request.uri().path();
    // Other characters would need escaping in a query.
    let is_plain = path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/_-".contains(&byte));
    let is_page = is_plain && !path.ends_with("/signout");
    let next = if is_page { path } else { super::QUEUE };
    let lost = if request.method() == Method::POST { "&lost=true" } else { "" };
    found_at(&format!("{SIGN_IN}?next={next}{lost}"))
}
