//! A person's own user account: password, sessions and recent activity. A new password and signing out
//! everywhere end sessions that somebody else may hold, so both must also replace or end the session in the
//! cookie.

use askama::Template;
use domain::{Password, Refusal, Time};
use poem::web::{Data, Path};
use poem::{Request, Response, handler};
use serde::Deserialize;
use service::{PasswordUpdate, Person, Service, SessionInfo, SignedIn};

use super::dashboard::audit::TrailRow;
use super::dashboard::page::{done, render_page, to_show, to_sign_in};
use crate::html::ago::Ago;
use crate::html::faults::Faults;
use crate::html::fields::Fields;
use crate::html::figures::Count;
use crate::html::{found_at, person_if_any, with_cookie};
use crate::http::origin::Client;
use crate::http::refusal::RefusedCall;
use crate::http::{caller, same_site, session_cookie};

pub const PATH: &str = "/you";
/// The field with the username that the page was rendered for.
const RENDERED_FOR: &str = "username";

#[derive(Template)]
#[template(path = "you.html")]
struct YouPage<'a> {
    username: &'a str,
    sessions: Vec<SessionRow>,
    sessions_total: Count,
    trail: Vec<TrailRow>,
    done: Option<&'static str>,
    faults: Faults,
}

/// A session in the list.
struct SessionRow {
    id: String,
    client: String,
    address: String,
    created_at: Ago,
    last_used_at: Ago,
    is_current: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct PasswordForm {
    /// The username that the page was rendered for. Programs may omit it.
    username: Option<String>,
    current_password: String,
    password: String,
}

#[handler]
pub async fn show(request: &Request, service: Data<&Service>) -> Result<Response, RefusedCall> {
    let Some(person) = person_if_any(request, &service).await? else { return Ok(to_sign_in(request)) };
    let (done, faults) = (done(request), Faults::default());
    render(request, &service, &person, None, done, faults).await
}

async fn render(
    request: &Request,
    service: &Service,
    person: &Person,
    refusal: Option<&Refusal>,
    done: Option<&'static str>,
    faults: Faults,
) -> Result<Response, RefusedCall> {
    let secret = session_cookie::secret(request, service.addresses()).unwrap_or_default();
    let sessions = service.sessions(person, &secret).await?;
    let now = service.clock().now();
    let trail = service.own_trail(person).await?;
    let trail = trail.into_iter().map(TrailRow::new).collect();
    let template = YouPage {
        username: &person.username,
        sessions_total: Count(sessions.total),
        sessions: sessions.last_used.into_iter().map(|session| SessionRow::new(session, now)).collect(),
        trail,
        done,
        faults,
    };
    render_page(request, service, refusal, &template)
}

/// Ends one session. Ending the current one signs out.
#[handler]
pub async fn end_session(
    request: &Request,
    Path(id): Path<String>,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    same_site::demand(request, service.addresses())?;
    let person = caller::person(request, &service).await?;
    let secret = session_cookie::secret(request, service.addresses()).unwrap_or_default();
    let sessions = service.sessions(&person, &secret).await?;
    service.end_session(&person, &id).await?;
    if sessions.last_used.iter().any(|session| session.is_current && session.id == id) {
        return Ok(with_cookie(found_at("/signin"), &session_cookie::forgotten(service.addresses())));
    }
    Ok(found_at("/you?done=session-ended"))
}

/// Redirects a GET for the path of a form, which a refused form leaves in the address bar.
#[handler]
pub fn to_the_form() -> Response {
    found_at(PATH)
}

#[handler]
pub async fn change_password(
    request: &Request,
    from: Client,
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
            let faults = faults_of(&refusal);
            render(request, &service, &person, Some(&refusal), None, faults).await
        }
    }
}

/// Another tab may have signed in somebody else since the page was rendered. A page for one user must not
/// change another user's password.
async fn change(
    person: &Person,
    form: PasswordForm,
    from: Client,
    service: &Service,
) -> Result<SignedIn, RefusedCall> {
    if form.username.is_some_and(|username| username != person.username) {
        return Err(Refusal::invalid(RENDERED_FOR, "is not the user who is signed in").into());
    }
    let change =
        PasswordUpdate { current: Password::new(form.current_password), new: Password::new(form.password) };
    Ok(service.change_password(person, change, &from.0).await?)
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

impl SessionRow {
    fn new(session: SessionInfo, now: Time) -> Self {
        Self {
            id: session.id,
            client: session.user_agent.as_deref().map_or_else(|| "Unknown client".to_owned(), client_name),
            address: session.address.unwrap_or_else(|| "unknown".to_owned()),
            created_at: Ago::new(session.created_at, now),
            last_used_at: Ago::new(session.last_used_at, now),
            is_current: session.is_current,
        }
    }
}

/// The browser and the system in a user agent, such as `Firefox on Linux`, or its first word.
fn client_name(user_agent: &str) -> String {
    // The order matters: many browsers also name those that they resemble.
    const BROWSERS: [(&str, &str); 6] = [
        ("Edg", "Edge"),
        ("OPR/", "Opera"),
        ("Firefox/", "Firefox"),
        ("Chrome/", "Chrome"),
        ("Safari/", "Safari"),
        ("handbill/", "Handbill command line"),
    ];
    const SYSTEMS: [(&str, &str); 6] = [
        ("Android", "Android"),
        ("iPhone", "iOS"),
        ("iPad", "iOS"),
        ("Windows", "Windows"),
        ("Mac OS X", "macOS"),
        ("Linux", "Linux"),
    ];
    let named = |known: [(&str, &'static str); 6]| {
        known.into_iter().find(|(mark, _)| user_agent.contains(mark)).map(|(_, name)| name)
    };
    match (named(BROWSERS), named(SYSTEMS)) {
        (Some(browser), Some(system)) => format!("{browser} on {system}"),
        (Some(browser), None) => browser.to_owned(),
        (None, _) => {
            user_agent.split_whitespace().next().unwrap_or("Unknown client").chars().take(40).collect()
        }
    }
}

fn faults_of(refusal: &Refusal) -> Faults {
    match refusal {
        Refusal::InvalidCredentials => {
            Faults::beside_field("current_password", "This is not your current password.")
        }
        Refusal::InvalidRequest { field, .. } if field == RENDERED_FOR => Faults::beside_field(
            "current_password",
            "You are now signed in as someone else, as render_page above. Sign out to change another user's \
             password.",
        ),
        refusal => Faults::of(refusal, &["password"], PATH),
    }
}

#[cfg(test)]
pub fn samples() -> Vec<(String, String)> {
    use domain::{AuditEntry, AuditId};

    let at = Time::parse_rfc3339("2026-11-21T14:05:00Z").unwrap();
    let session = |id: &str, user_agent: Option<&str>| SessionInfo {
        id: id.into(),
        created_at: at,
        last_used_at: at,
        address: user_agent.map(|_| "192.0.2.7".into()),
        user_agent: user_agent.map(str::to_owned),
        is_current: id == "0123456789abcdef",
    };
    let firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
    let failed = AuditEntry {
        id: AuditId::from_ulid(1.into()),
        created_at: at,
        action: "person.sign_in_failed".into(),
        actor: "ada".into(),
        token_name: None,
        via: Some("web".into()),
        address: Some("198.51.100.9".into()),
        subject: "ada".into(),
        detail: String::new(),
    };
    let now = at.plus(std::time::Duration::from_secs(3600));
    let page = |done: Option<&'static str>, faults| {
        let sessions = [session("0123456789abcdef", Some(firefox)), session("fedcba9876543210", None)]
            .map(|session| SessionRow::new(session, now));
        let trail = vec![TrailRow::new(failed.clone())];
        let sessions_total = Count(if done.is_some() { 102 } else { 2 });
        let page =
            YouPage { username: "ada", sessions: sessions.into(), sessions_total, trail, done, faults };
        page.render().unwrap()
    };
    let refused = |refusal: Refusal| (format!("you-{}", refusal.code()), page(None, faults_of(&refusal)));
    vec![
        ("you".into(), page(None, Faults::default())),
        ("you-done".into(), page(Some("Password changed."), Faults::default())),
        refused(Refusal::InvalidCredentials),
        refused(Refusal::invalid(RENDERED_FOR, "is not the user who is signed in")),
        refused(Refusal::WeakPassword { rule: "it must have 10 to 200 characters".into() }),
        refused(Refusal::RateLimited { retry_after_seconds: 7 }),
    ]
}

#[cfg(test)]
mod tests {
    use super::client_name;

    #[test]
    fn a_user_agent_is_shortened_to_what_a_person_knows() {
        let chrome =
            "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36";
        for (user_agent, name) in [
            (chrome, "Chrome on Windows"),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1",
                "Safari on iOS",
            ),
            ("handbill/0.1.0", "Handbill command line"),
            ("curl/8.5.0", "curl/8.5.0"),
            ("  ", "Unknown client"),
        ] {
            assert_eq!(client_name(user_agent), name);
        }
    }
}
