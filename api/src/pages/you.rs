//! A person's own sign-in: another password, and an end of all sessions. Both end sessions that somebody else may hold, so
//! neither may leave the one in the cookie as it was.

use askama::Template;
use domain::{Password, Refusal};
use poem::web::Data;
use poem::{Request, Response, handler};
use serde::Deserialize;
use service::{PasswordWish, Person, Service, SignedIn};

use super::dashboard::desk::{done, shown, to_show, to_sign_in};
use super::faults::Faults;
use super::fields::Fields;
use super::{found_at, person_if_any, with_cookie};
use crate::client_ip::ClientIp;
use crate::refusal::RefusedCall;
use crate::{caller, same_site, session_cookie};

pub const PATH: &str = "/you";
/// The field that says whom a page was of.
const PAGE_OF: &str = "username";

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
    /// Whom the page was of. A program that has no page leaves it out.
    username: Option<String>,
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
    match change(&person, form, from, &service).await {
        Ok(signed_in) => {
            let cookie = session_cookie::kept(&signed_in.session, service.addresses());
            Ok(with_cookie(found_at("/you?done=password-changed"), &cookie))
        }
        Err(refused) => {
            let refusal = to_show(refused, request)?;
            let template = YouPage { username: &person.username, done: None, faults: faults_of(&refusal) };
            shown(request, &service, Some(&refusal), &template)
        }
    }
}

/// Another tab may have signed in somebody else since the page was opened: nobody's password is changed by a page that
/// named another.
async fn change(
    person: &Person,
    form: PasswordForm,
    from: ClientIp,
    service: &Service,
) -> Result<SignedIn, RefusedCall> {
    if form.username.is_some_and(|username| username != person.username) {
        return Err(Refusal::invalid(PAGE_OF, "is not who is signed in here by now").into());
    }
    let wish =
        PasswordWish { current: Password::new(form.current_password), new: Password::new(form.password) };
    Ok(service.change_password(person, wish, from.0).await?)
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
        Refusal::InvalidRequest { field, .. } if field == PAGE_OF => Faults::beside_field(
            "current_password",
            "Somebody else is signed in here by now, as told above. Sign out to change another's password.",
        ),
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
        refused(Refusal::invalid(PAGE_OF, "is not who is signed in here by now")),
        refused(Refusal::WeakPassword { rule: "it must have 10 to 200 characters".into() }),
        refused(Refusal::RateLimited { retry_after_seconds: 7 }),
    ]
}
