//! A person's own sign-in: another password, and an end of all sessions. Both end sessions that somebody else may hold, so
//! neither may leave the one in the cookie as it was.

use askama::Template;
use domain::{Password, Refusal};
use poem::web::Data;
use poem::{Request, Response, handler};
use serde::Deserialize;
use service::{PasswordWish, Service};

use super::dashboard::desk::{done, shown, to_show, to_sign_in};
use super::faults::Faults;
use super::fields::Fields;
use super::{found_at, person_if_any, with_cookie};
use crate::client_ip::ClientIp;
use crate::refusal::RefusedCall;
use crate::{caller, same_site, session_cookie};

pub const PATH: &str = "/you";

#[derive(Template)]
#[template(path = "you.html")]
struct YouPage<'a> {
    username: &'a str,
    done: Option<&'static str>,
    faults: Faults,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct PasswordForm {
    current_password: String,
    password: String,
}

#[handler]
pub async fn show(request: &Request, service: Data<&Service>) -> Result<Response, RefusedCall> {
    let Some(person) = person_if_any(request, &service).await? else { return Ok(to_sign_in(request)) };
    let template = YouPage { username: &person.username, done: done(request), faults: Faults::default() };
    shown(request, &service, None, &template)
}

/// For who looks at the address of a form, which a refused one leaves in the browser.
#[handler]
pub fn to_the_form() -> Response {
    found_at(PATH)
}

#[handler]
pub async fn change_password(
    request: &Request,
    from: ClientIp,
    Fields(form): Fields<PasswordForm>,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    same_site::demand(request, service.addresses())?;
    let person = caller::person(request, &service).await?;
    let wish =
        PasswordWish { current: Password::new(form.current_password), new: Password::new(form.password) };
    match service.change_password(&person, wish, from.0).await {
        Ok(signed_in) => {
            let cookie = session_cookie::kept(&signed_in.session, service.addresses());
            Ok(with_cookie(found_at("/you?done=password-changed"), &cookie))
        }
        Err(failure) => {
            let refusal = to_show(failure.into(), request)?;
            let template = YouPage { username: &person.username, done: None, faults: faults_of(&refusal) };
            shown(request, &service, Some(&refusal), &template)
        }
    }
}

#[handler]
pub async fn sign_out_everywhere(
    request: &Request,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    same_site::demand(request, service.addresses())?;
    service.log_out_everywhere(&caller::person(request, &service).await?).await?;
    let cookie = session_cookie::forgotten(service.addresses());
    Ok(with_cookie(found_at("/signin"), &cookie))
}

fn faults_of(refusal: &Refusal) -> Faults {
    match refusal {
        Refusal::InvalidCredentials => {
            Faults::beside_field("current_password", "This is not your present password.")
        }
        refusal => Faults::of(refusal, &["password"], PATH),
    }
}

#[cfg(test)]
pub fn samples() -> Vec<(String, String)> {
    let page = |done, faults| YouPage { username: "ada", done, faults }.render().unwrap();
    let refused = |refusal: Refusal| (format!("you-{}", refusal.code()), page(None, faults_of(&refusal)));
    vec![
        ("you".into(), page(None, Faults::default())),
        ("you-done".into(), page(Some("Done: the password is changed."), Faults::default())),
        refused(Refusal::InvalidCredentials),
        refused(Refusal::WeakPassword { rule: "it must have 10 to 200 characters".into() }),
        refused(Refusal::RateLimited { retry_after_seconds: 7 }),
    ]
}
