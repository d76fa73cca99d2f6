//! The operator's sign-in and sign-out.

use askama::Template;
use domain::Refusal;
use poem::http::StatusCode;
use poem::web::{Data, Query};
use poem::{Request, Response, handler};
use serde::Deserialize;
use service::Service;

use super::{QUEUE, SIGN_IN, cookie};
use crate::html::again;
use crate::html::faults::Faults;
use crate::html::fields::Fields;
use crate::html::{NextPath, accepts_html, found, found_at, page, with_cookie};
use crate::http::client_ip::ClientIp;
use crate::http::refusal::RefusedCall;

const FIELDS: &[&str] = &["name", "password"];

#[derive(Default, Template)]
#[template(path = "admin/signin.html")]
pub struct SignInPage<'a> {
    pub next: Option<&'a NextPath>,
    pub name: &'a str,
    /// A form was sent after the session had expired.
    pub is_lost: bool,
    pub faults: Faults,
}

#[derive(Deserialize)]
pub struct Link {
    next: Option<String>,
    lost: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct SignInForm {
    name: String,
    password: String,
    next: Option<String>,
}

#[handler]
pub fn show(Query(link): Query<Link>) -> Result<Response, RefusedCall> {
    let next = next_path(link.next.as_deref());
    page(
        StatusCode::OK,
        &SignInPage { next: next.as_ref(), is_lost: link.lost.is_some(), ..SignInPage::default() },
    )
}

#[handler]
pub async fn sign_in(
    request: &Request,
    from: ClientIp,
    Fields(form): Fields<SignInForm>,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    let next = next_path(form.next.as_deref());
    match service.sign_operator_in(&form.name, &form.password, from.0).await.map_err(RefusedCall::from) {
        Ok(session) => {
            let cookie = cookie::kept(&session, service.addresses());
            let answer = next.as_ref().map_or_else(|| found_at(QUEUE), found);
            Ok(with_cookie(answer, &cookie))
        }
        Err(RefusedCall(refusal)) if accepts_html(request) => {
            let faults = faults_of(&refusal);
            again(&refusal, &SignInPage { next: next.as_ref(), name: &form.name, is_lost: false, faults })
        }
        Err(refused) => Err(refused),
    }
}

#[handler]
pub fn sign_out(service: Data<&Service>) -> Response {
    with_cookie(found_at(SIGN_IN), &cookie::forgotten(service.addresses()))
}

/// The path after the sign-in, which must be one of the operator's pages.
fn next_path(text: Option<&str>) -> Option<NextPath> {
    text.filter(|text| text.starts_with("/admin/")).and_then(NextPath::parse)
}

pub fn faults_of(refusal: &Refusal) -> Faults {
    match refusal {
        Refusal::InvalidCredentials => Faults::beside_field("password", "Wrong name or password."),
        refusal => Faults::of(refusal, FIELDS, SIGN_IN),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operator_sign_in_redirects_only_to_admin_pages() {
        let path = |text| next_path(Some(text)).map(String::from);
        assert_eq!(path("/admin/audit").as_deref(), Some("/admin/audit"));
        for elsewhere in ["/dashboard", "//evil.example", "/admin", "https://evil.example/admin/"] {
            assert_eq!(path(elsewhere), None, "{elsewhere}");
        }
    }
}
