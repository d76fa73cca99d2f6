//! Signing in and out. After a sign-in, the browser goes to a path of our own or to the dashboard, never to
//! an address from a link.

use askama::Template;
use domain::{Password, Refusal, Username};
use poem::http::StatusCode;
use poem::web::{Data, Query};
use poem::{Request, Response, handler};
use serde::Deserialize;
use service::{Credentials, Service, SignedIn};

use crate::html::faults::Faults;
use crate::html::fields::Fields;
use crate::html::{NextPath, accepts_html, again, found, found_at, page, person_if_any, with_cookie};
use crate::http::origin::Client;
use crate::http::refusal::RefusedCall;
use crate::http::{same_site, session_cookie};

/// The fields of every sign-in form.
const FIELDS: &[&str] = &["username", "password"];

#[derive(Default, Template)]
#[template(path = "signin.html")]
struct SignInPage<'a> {
    entering: FilledIn<'a>,
    registering: FilledIn<'a>,
    next: Option<&'a NextPath>,
    signed_in_as: Option<&'a str>,
}

impl SignInPage<'_> {
    fn person(&self) -> Option<&str> {
        self.signed_in_as
    }
}

/// The contents of one of the two forms, and its faults.
#[derive(Default)]
pub struct FilledIn<'a> {
    pub username: &'a str,
    pub faults: Faults,
}

/// The path to go to after a sign-in.
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
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    #[default]
    SignIn,
    Register,
}

impl<'a> SignInPage<'a> {
    /// The page again, with the faults of the form whose button was pressed.
    fn again(refusal: &Refusal, action: Action, username: &'a str, password: &Password) -> Self {
        let faults = with_password(faults_of(refusal, "/signin"), username, password);
        let form = FilledIn { username, faults };
        match action {
            Action::SignIn => Self { entering: form, ..Self::default() },
            Action::Register => Self { registering: form, ..Self::default() },
        }
    }

    /// The next path for a person who is already signed in.
    fn onward(&self) -> &str {
        self.next.map_or("/dashboard", NextPath::as_str)
    }

    /// The path for a person who does not want to sign in: the page they came from, if it can be seen
    /// without.
    fn back(&self) -> &str {
        const OPEN: [&str; 4] = ["/claim/", "/invite/", "/oauth/authorize?", "/device?"];
        let seen_by_anybody = |path: &&str| OPEN.iter().any(|open| path.starts_with(open));
        self.next.map(NextPath::as_str).filter(seen_by_anybody).unwrap_or("/")
    }
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
    page(StatusCode::OK, &SignInPage { next: next.as_ref(), signed_in_as, ..SignInPage::default() })
}

#[handler]
pub async fn sign_in(
    request: &Request,
    from: Client,
    Fields(form): Fields<SignInForm>,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    same_site::demand(request, service.addresses())?;
    let next = form.next.as_deref().and_then(NextPath::parse);
    let (username, action) = (form.username.clone(), form.action);
    let password = Password::new(form.password.clone());
    match enter(form, from, &service).await {
        Ok(signed_in) => {
            let cookie = session_cookie::kept(&signed_in.session, service.addresses());
            Ok(with_cookie(found(&next.unwrap_or_else(NextPath::dashboard)), &cookie))
        }
        Err(RefusedCall(refusal)) if accepts_html(request) => {
            let form = SignInPage::again(&refusal, action, &username, &password);
            again(&refusal, &SignInPage { next: next.as_ref(), ..form })
        }
        Err(refused) => Err(refused),
    }
}

#[handler]
pub async fn sign_out(request: &Request, service: Data<&Service>) -> Result<Response, RefusedCall> {
    same_site::demand(request, service.addresses())?;
    session_cookie::end(request, &service).await?;
    let cookie = session_cookie::forgotten(service.addresses());
    Ok(with_cookie(found_at("/signin"), &cookie))
}

async fn enter(form: SignInForm, from: Client, service: &Service) -> Result<SignedIn, RefusedCall> {
    let credentials = Credentials { username: form.username, password: Password::new(form.password) };
    Ok(match form.action {
        Action::SignIn => service.log_in(credentials, &from.0).await?,
        Action::Register => service.register(credentials, &from.0).await?,
    })
}

/// Wrong credentials always give the same text at the same field, whether or not the username exists.
pub fn faults_of(refusal: &Refusal, path: &str) -> Faults {
    match refusal {
        Refusal::InvalidCredentials => {
            Faults::beside_field("password", "Wrong username or password. Check both, or create an account.")
        }
        refusal => Faults::of(refusal, FIELDS, path),
    }
}

/// These faults, and that of the password if the username is at fault. No page contains a password, so it
/// must be typed again.
pub fn with_password(faults: Faults, username: &str, password: &Password) -> Faults {
    if faults.beside("username").is_none() {
        return faults;
    }
    // A username that is taken is a valid one.
    let suits = username
        .parse::<Username>()
        .map_or_else(|_| password.must_suit_anybody(), |username| password.must_suit(&username));
    let weak = suits.err().map(|weak| Faults::of(&weak, FIELDS, "/signin"));
    let text = weak.as_ref().and_then(|weak| weak.beside("password"));
    faults.and_beside("password", text.unwrap_or("Enter your password again."))
}

#[cfg(test)]
pub fn samples() -> Vec<(String, String)> {
    let next = NextPath::parse("/invite/abc");
    let refused = |refusal: Refusal, action| {
        let password = Password::new("weak".into());
        let form = SignInPage::again(&refusal, action, "ada", &password);
        let template = SignInPage { next: next.as_ref(), ..form };
        (format!("signin-{}", refusal.code()), template.render().unwrap())
    };
    let signed_in = SignInPage { signed_in_as: Some("ada"), next: next.as_ref(), ..SignInPage::default() };
    vec![
        ("signin".into(), SignInPage::default().render().unwrap()),
        ("signin-signed-in".into(), signed_in.render().unwrap()),
        refused(Refusal::InvalidCredentials, Action::SignIn),
        refused(Refusal::RateLimited { retry_after_seconds: 7 }, Action::SignIn),
        refused(Refusal::WeakPassword { rule: "it must have 10 to 200 characters".into() }, Action::Register),
        refused(Refusal::UsernameTaken { username: "ada".into() }, Action::Register),
        refused(Refusal::invalid("username", "must match a pattern"), Action::Register),
    ]
}
