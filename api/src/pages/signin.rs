//! Signing in and out by hand. Where a sign-in goes on to is a path of our own or the dashboard, never an address
//! that a link has brought along.

use askama::Template;
use domain::{Password, Refusal};
use poem::http::StatusCode;
use poem::web::{Data, Query};
use poem::{Request, Response, handler};
use serde::Deserialize;
use service::{Credentials, Service, SignedIn};

use super::fields::Fields;
use super::{NextPath, RefusalForm, found, found_at, page, person_if_any, with_cookie};
use crate::client_ip::ClientIp;
use crate::refusal::{RefusedCall, status_of};
use crate::rest::end_session;
use crate::{same_site, session_cookie};

#[derive(Template)]
#[template(path = "signin.html")]
struct SignInPage<'a> {
    /// What went wrong, and what to do.
    fault: Option<(String, String)>,
    username: &'a str,
    next: Option<&'a NextPath>,
    signed_in_as: Option<&'a str>,
}

/// Where the link that led here wants to go on to.
#[derive(Deserialize)]
pub struct SignInLink {
    next: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct SignInForm {
    username: String,
    password: String,
    next: Option<String>,
    action: Action,
}

/// The button that was pressed.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Action {
    #[default]
    SignIn,
    Register,
}

#[handler]
pub async fn show(
    request: &Request,
    Query(link): Query<SignInLink>,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    let next = link.next.as_deref().and_then(NextPath::parse);
    let person = person_if_any(request, &service).await?;
    let signed_in_as = person.as_ref().map(|person| person.username.as_str());
    page(StatusCode::OK, &SignInPage { fault: None, username: "", next: next.as_ref(), signed_in_as })
}

#[handler]
pub async fn sign_in(
    request: &Request,
    from: ClientIp,
    Fields(form): Fields<SignInForm>,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    same_site::demand(request, service.addresses())?;
    let next = form.next.as_deref().and_then(NextPath::parse);
    let username = form.username.clone();
    match enter(form, from, &service).await {
        Ok(signed_in) => {
            let cookie = session_cookie::kept(&signed_in.session, service.addresses());
            Ok(with_cookie(found(&next.unwrap_or_else(NextPath::dashboard)), &cookie))
        }
        Err(RefusedCall(refusal)) if RefusalForm::for_whom(request) == RefusalForm::Page => {
            again(&refusal, &username, next.as_ref())
        }
        Err(refused) => Err(refused),
    }
}

#[handler]
pub async fn sign_out(request: &Request, service: Data<&Service>) -> Result<Response, RefusedCall> {
    same_site::demand(request, service.addresses())?;
    end_session(request, &service).await?;
    let cookie = session_cookie::forgotten(service.addresses());
    Ok(with_cookie(found_at("/signin"), &cookie))
}

async fn enter(form: SignInForm, from: ClientIp, service: &Service) -> Result<SignedIn, RefusedCall> {
    let credentials = Credentials { username: form.username, password: Password::new(form.password) };
    Ok(match form.action {
        Action::SignIn => service.log_in(credentials, from.0).await?,
        Action::Register => service.register(credentials, from.0).await?,
    })
}

/// The form once more, with what was wrong and the name as it was typed.
fn again(refusal: &Refusal, username: &str, next: Option<&NextPath>) -> Result<Response, RefusedCall> {
    let fault = Some((refusal.message(), refusal.hint()));
    let mut page = page(status_of(refusal), &SignInPage { fault, username, next, signed_in_as: None })?;
    if let Some(seconds) = refusal.retry_after_seconds() {
        page.headers_mut().insert(poem::http::header::RETRY_AFTER, seconds.into());
    }
    Ok(page)
}
