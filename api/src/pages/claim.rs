//! Claiming an account: the page behind a claim link, and its form. A visitor who is signed out can sign in
//! or register in the same form.

use askama::Template;
use domain::{Account, Password, Refusal, Time, Token};
use poem::http::StatusCode;
use poem::web::{Data, Path};
use poem::{IntoResponse, Request, Response, handler};
use poem_openapi::payload::Json;
use serde::Deserialize;
use service::{Claimable, Credentials, PageGlance, Person, Service, TokenFate};

use super::dashboard::arrival::{Arrival, How};
use super::dashboard::tokens::minter_label;
use super::signin::{self, Action, FilledIn};
use super::time_left::TimeLeft;
use super::{PageLink, links_of, names_of};
use crate::html::ago::Ago;
use crate::html::faults::Faults;
use crate::html::fields::Fields;
use crate::html::figures::Count;
use crate::html::{
    NextPath, RefusalForm, accepts_html, asks_for_json, found, framing_again, framing_page, person_if_any,
    with_cookie,
};
use crate::http::origin::Client;
use crate::http::refusal::RefusedCall;
use crate::http::{same_site, session_cookie};
use crate::wire;

#[derive(Template)]
#[template(path = "claim.html")]
struct ClaimPage<'a> {
    handle: &'a str,
    code: &'a str,
    time_left: TimeLeft,
    /// The names of the pages, such as `demo-deck and 1 more`. Empty if there are none.
    named: String,
    newest: Option<&'a PageGlance>,
    links: Vec<PageLink>,
    /// The number of pages, of which the newest are linked.
    pages: Count,
    tokens: Vec<TokenLine>,
    /// The number of tokens that are not listed.
    tokens_more: u64,
    revokes_tokens: bool,
    signed_in_as: Option<&'a str>,
    /// Whether the form is set to an existing user account.
    signs_in: bool,
    filled: FilledIn<'a>,
}

/// A token that keeps working after the claim, unless it is revoked with it.
struct TokenLine {
    name: String,
    made_by: String,
    last_used_at: Option<Ago>,
}

/// A program sends no `action`: it signs in if the username exists, and registers otherwise.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct ClaimForm {
    username: Option<String>,
    password: Option<String>,
    action: Option<Action>,
    /// Revokes the account's existing tokens.
    revoke_tokens: bool,
}

impl<'a> ClaimPage<'a> {
    fn new(offer: &'a Claimable, code: &'a str, service: &Service) -> Self {
        let (tokens, now) = (&offer.tokens.rows, service.clock().now());
        Self {
            handle: &offer.account.handle,
            code,
            time_left: TimeLeft(offer.time_left),
            named: names_of(&offer.artifacts),
            newest: offer.newest.as_ref(),
            links: links_of(&offer.artifacts.rows, service),
            pages: Count(offer.artifacts.total.unwrap_or_default()),
            tokens: tokens.iter().map(|token| TokenLine::new(token, offer, now)).collect(),
            tokens_more: tokens_more(offer),
            revokes_tokens: false,
            signed_in_as: None,
            signs_in: false,
            filled: FilledIn::default(),
        }
    }

    /// The page again, with the faults of its form. Without `action`, the username decided.
    fn again(self, refusal: &Refusal, action: Option<Action>, filled: FilledIn<'a>) -> Self {
        let signs_in = match action {
            Some(action) => action == Action::SignIn,
            None => *refusal == Refusal::InvalidCredentials,
        };
        Self { signs_in, filled, ..self }
    }

    fn kept(&self) -> &'static str {
        match self.pages.0 {
            0 => "this account",
            1 => "this page",
            _ => "these pages",
        }
    }

    fn person(&self) -> Option<&str> {
        self.signed_in_as
    }
}

impl TokenLine {
    fn new(token: &Token, offer: &Claimable, now: Time) -> Self {
        Self {
            name: token.name.without_code().to_string(),
            made_by: match token.made_by.token {
                Some(minter) => format!("created with {}", minter_label(minter, &offer.minters)),
                None => "created at sign-up".to_owned(),
            },
            last_used_at: token.last_used_at.map(|at| Ago::new(at, now)),
        }
    }
}

fn tokens_more(offer: &Claimable) -> u64 {
    offer.tokens.total.unwrap_or_default().saturating_sub(offer.tokens.rows.len() as u64)
}

#[handler]
pub async fn show(
    request: &Request,
    Path(code): Path<String>,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    let offer = service.claimable(&code).await?;
    let person = person_if_any(request, &service).await?;
    let signed_in_as = person.as_ref().map(|person| person.username.as_str());
    let page = ClaimPage { signed_in_as, ..ClaimPage::new(&offer, &code, &service) };
    framing_page(StatusCode::OK, &page, service.addresses())
}

#[handler]
pub async fn claim(
    request: &Request,
    Path(code): Path<String>,
    from: Client,
    Fields(form): Fields<ClaimForm>,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    same_site::demand(request, service.addresses())?;
    // An account that cannot be claimed is refused before anyone enters a password.
    service.check_claim(&code).await?;
    let (username, action) = (form.username.clone().unwrap_or_default(), form.action);
    let password = Password::new(form.password.clone().unwrap_or_default());
    let revokes_tokens = form.revoke_tokens;
    let tokens = if revokes_tokens { TokenFate::Revoke } else { TokenFate::Keep };
    let entered = match person_if_any(request, &service).await? {
        Some(person) => Ok((person, None)),
        None => enter(form, &from.0, &service).await,
    };
    let (claimer, session) = match entered {
        Ok(entered) => entered,
        Err(RefusedCall(refusal)) if accepts_html(request) => {
            let offer = service.claimable(&code).await?;
            let faults = faults_of(&refusal, action, request.uri().path());
            let faults = signin::with_password(faults, &username, &password);
            let page = ClaimPage { revokes_tokens, ..ClaimPage::new(&offer, &code, &service) };
            let page = page.again(&refusal, action, FilledIn { username: &username, faults });
            return framing_again(&refusal, &page, service.addresses());
        }
        Err(refused) => return Err(refused),
    };
    let answer = match service.claim(&code, &claimer, tokens, from.0.address).await {
        Ok(account) => claimed(request, &account, &service),
        // A person who has just signed in stays signed in, even if somebody else claimed the account first.
        Err(failure) => RefusalForm::for_request(request).respond(&RefusedCall::from(failure).0),
    };
    Ok(match session {
        Some(secret) => with_cookie(answer, &session_cookie::kept(&secret, service.addresses())),
        None => answer,
    })
}

fn claimed(request: &Request, account: &Account, service: &Service) -> Response {
    if asks_for_json(request) {
        Json(wire::Claimed { account: account.into() }).into_response()
    } else {
        let way = found(&NextPath::dashboard());
        Arrival::set_on(way, &account.handle, How::Claimed, service.addresses())
    }
}

/// Signs in or registers with the form's credentials, if there are any.
async fn enter(
    form: ClaimForm,
    from: &service::Client,
    service: &Service,
) -> Result<(Person, Option<String>), RefusedCall> {
    let (username, password) = match (form.username, form.password) {
        (Some(username), Some(password)) => (username, password),
        (None, None) => return Err(Refusal::NotSignedIn.into()),
        (None, Some(_)) => return Err(Refusal::invalid("username", "is missing").into()),
        (Some(_), None) => return Err(Refusal::invalid("password", "is missing").into()),
    };
    let credentials = Credentials { username, password: Password::new(password) };
    let signed_in = match form.action {
        Some(Action::Register) => service.register(credentials, from).await?,
        Some(Action::SignIn) => service.log_in(credentials, from).await?,
        None => service.log_in_or_register(credentials, from).await?,
    };
    Ok((signed_in.person, Some(signed_in.session)))
}

/// Without `action`, the username was looked up first, so invalid credentials mean a wrong password.
fn faults_of(refusal: &Refusal, action: Option<Action>, path: &str) -> Faults {
    match (refusal, action) {
        (Refusal::InvalidCredentials, None) => Faults::beside_field(
            "password",
            "Wrong password for this username. If the username is not yours, choose another one.",
        ),
        (refusal, _) => signin::faults_of(refusal, path),
    }
}

#[cfg(test)]
pub fn samples() -> Vec<(String, String)> {
    use std::time::Duration;

    let used_at = Ago::new(Time::from_millis(1_790_000_000_000), Time::from_millis(1_790_000_300_000));
    let links = || {
        ["my-page", "another-page"].map(|slug| PageLink {
            slug: slug.into(),
            url: format!("http://127.0.0.1:8081/site/{slug}-a1b2/"),
        })
    };
    let token = |name: &str, made_by: &str, last_used_at| TokenLine {
        name: name.into(),
        made_by: made_by.into(),
        last_used_at,
    };
    let glance = super::samples::page_glance();
    let sample = || ClaimPage {
        handle: "acct_k3x9m2",
        code: "abc",
        time_left: TimeLeft(Duration::from_secs(1_754)),
        named: "my-page and 1 more".into(),
        newest: Some(&glance),
        links: links().into(),
        pages: Count(2),
        tokens: vec![
            token("deploy bot", "created with signup", None),
            token("signup", "created at sign-up", Some(used_at)),
        ],
        tokens_more: 0,
        revokes_tokens: false,
        signed_in_as: None,
        signs_in: false,
        filled: FilledIn::default(),
    };
    let refused = |refusal: Refusal, action| {
        let faults = faults_of(&refusal, Some(action), "/claim/abc");
        let faults = signin::with_password(faults, "ada", &Password::new("weak".into()));
        let page = sample().again(&refusal, Some(action), FilledIn { username: "ada", faults });
        (format!("claim-{}", refusal.code()), page.render().unwrap())
    };
    vec![
        ("claim".into(), sample().render().unwrap()),
        ("claim-signed-in".into(), ClaimPage { signed_in_as: Some("ada"), ..sample() }.render().unwrap()),
        ("claim-no-pages".into(), {
            let (named, links, pages) = (String::new(), Vec::new(), Count(0));
            ClaimPage { named, newest: None, links, pages, ..sample() }.render().unwrap()
        }),
        (
            "claim-many-tokens".into(),
            ClaimPage { tokens_more: 3, revokes_tokens: true, ..sample() }.render().unwrap(),
        ),
        (
            "claim-no-tokens".into(),
            ClaimPage { tokens: Vec::new(), signed_in_as: Some("ada"), ..sample() }.render().unwrap(),
        ),
        refused(Refusal::InvalidCredentials, Action::SignIn),
        refused(Refusal::UsernameTaken { username: "ada".into() }, Action::Register),
        refused(Refusal::WeakPassword { rule: "it must have 10 to 200 characters".into() }, Action::Register),
        refused(Refusal::RateLimited { retry_after_seconds: 7 }, Action::SignIn),
    ]
}
