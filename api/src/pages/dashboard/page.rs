//! A person at the desk of an account: who it is, as which caller, and what stands around each of its pages.

use askama::Template;
use domain::{Missing, Refusal, Role, Slug};
use poem::http::StatusCode;
use poem::{Request, Response};
use serde::Deserialize;
use service::{Caller, Membership, Person, Service};

use crate::html::again;
use crate::html::figures::SuspendedSince;
use crate::html::{accepts_html, found_at, page, person_if_any, with_cookie};
use crate::http::refusal::RefusedCall;
use crate::http::{caller, same_site, session_cookie};

/// A person at one of their accounts.
pub struct DashboardPage {
    pub person: Person,
    pub caller: Caller,
    pub frame: Frame,
}

/// What stands around every page of an account.
#[derive(Clone, Debug)]
pub struct Frame {
    pub username: String,
    pub handle: String,
    pub role: Role,
    /// The accounts of the person, this one among them.
    pub accounts: Vec<AccountLink>,
    /// Shown on every page of a suspended account.
    pub suspension: Option<SuspendedSince>,
    pub tab: Tab,
    /// What was just done, in words.
    pub done: Option<&'static str>,
}

#[derive(Clone, Debug)]
pub struct AccountLink {
    pub handle: String,
    pub role: Role,
    pub is_current: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tab {
    Pages,
    Usage,
    Credit,
    Team,
    Tokens,
    Audit,
}

impl Tab {
    const ALL: [Tab; 6] = [Tab::Pages, Tab::Usage, Tab::Credit, Tab::Team, Tab::Tokens, Tab::Audit];

    pub fn name(self) -> &'static str {
        match self {
            Tab::Pages => "Pages",
            Tab::Usage => "Usage",
            Tab::Credit => "Credit",
            Tab::Team => "Team",
            Tab::Tokens => "Tokens",
            Tab::Audit => "Audit log",
        }
    }

    fn path(self) -> &'static str {
        match self {
            Tab::Pages => "",
            Tab::Usage => "/usage",
            Tab::Credit => "/credit",
            Tab::Team => "/team",
            Tab::Tokens => "/tokens",
            Tab::Audit => "/audit",
        }
    }

    /// The audit trail is for those who lead; the other pages show each role what it may see.
    fn is_for(self, role: Role) -> bool {
        self != Tab::Audit || role >= Role::Admin
    }
}

impl DashboardPage {
    /// A look; None for who is not signed in.
    pub async fn begin(request: &Request, service: &Service, tab: Tab) -> Result<Option<Self>, RefusedCall> {
        match person_if_any(request, service).await? {
            Some(person) => Self::of(person, request, service, tab).await.map(Some),
            None => Ok(None),
        }
    }

    /// A change, which no other site's page may make.
    pub async fn change(request: &Request, service: &Service, tab: Tab) -> Result<Self, RefusedCall> {
        same_site::demand(request, service.addresses())?;
        Self::of(caller::person(request, service).await?, request, service, tab).await
    }

    async fn of(person: Person, request: &Request, service: &Service, tab: Tab) -> Result<Self, RefusedCall> {
        let handle = request.raw_path_param("handle").unwrap_or_default();
        let memberships = service.memberships(&person).await?;
        let here = memberships.iter().find(|one| one.account.handle == handle);
        // Whether anybody else has such an account is nobody's business.
        let fault = || "you are on no account of this name".to_owned();
        let role = here.ok_or_else(|| Refusal::Forbidden { fault: fault() })?.role;
        let caller = service.caller_of(&person, Some(handle)).await?;
        let frame = Frame {
            username: person.username.clone(),
            handle: handle.to_owned(),
            role,
            accounts: memberships.iter().map(|one| AccountLink::new(one, handle)).collect(),
            suspension: caller.suspension.as_ref().map(SuspendedSince::from),
            tab,
            done: done(request),
        };
        Ok(Self { person, caller, frame })
    }

    /// The address of a page of this account, such as `/usage`.
    pub fn path(&self, below: &str) -> String {
        self.frame.path(below)
    }
}

impl AccountLink {
    fn new(membership: &Membership, current: &str) -> Self {
        let handle = membership.account.handle.clone();
        Self { is_current: handle == current, handle, role: membership.role }
    }
}

impl Frame {
    pub fn path(&self, below: &str) -> String {
        format!("/dashboard/{}{below}", self.handle)
    }

    /// The tabs for this person, with their addresses.
    pub fn tabs(&self) -> impl Iterator<Item = (Tab, String)> + '_ {
        let of_role = Tab::ALL.into_iter().filter(|tab| tab.is_for(self.role));
        of_role.map(|tab| (tab, self.path(tab.path())))
    }

    /// Whether invites, members and other people's tokens are in this person's hands.
    pub fn leads(&self) -> bool {
        self.role >= Role::Admin
    }

    /// Whether credit and the switch for agents are.
    pub fn owns(&self) -> bool {
        self.role == Role::Owner
    }
}

/// A page of the dashboard, or the same once more after a form on it was refused. The session is kept alive by being
/// used, and so is its cookie.
pub fn shown(
    request: &Request,
    service: &Service,
    refusal: Option<&Refusal>,
    template: &impl Template,
) -> Result<Response, RefusedCall> {
    let answer = match refusal {
        Some(refusal) => again(refusal, template)?,
        None => page(StatusCode::OK, template)?,
    };
    Ok(kept_alive(request, service, answer))
}

/// The refusal of a form, to be told on its page. A program is told without one, and so is who is signed out.
pub fn to_show(refused: RefusedCall, request: &Request) -> Result<Refusal, RefusedCall> {
    let is_shown = accepts_html(request) && *refused.0 != Refusal::NotSignedIn;
    if is_shown { Ok(*refused.0) } else { Err(refused) }
}

/// The answer, with the session's cookie once more.
pub fn kept_alive(request: &Request, service: &Service, answer: Response) -> Response {
    match session_cookie::kept_on(request, service.addresses()) {
        Some(cookie) => with_cookie(answer, &cookie),
        None => answer,
    }
}

/// Sends a browser to sign in and back to where it wanted to go.
pub fn to_sign_in(request: &Request) -> Response {
    let path = request.uri().path();
    // In a query no other character of a path would be sure to stand for itself.
    let is_plain = path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/_-".contains(&byte));
    found_at(&format!("/signin?next={}", if is_plain { path } else { "/dashboard" }))
}

/// The artifact that the path names. What is no slug is no artifact's.
pub fn slug_of(request: &Request) -> Result<Slug, Refusal> {
    let slug = request.raw_path_param("slug").unwrap_or_default();
    slug.parse().map_err(|_| Refusal::NotFound(Missing::Artifact))
}

#[derive(Default, Deserialize)]
struct DashboardFlash {
    done: Option<String>,
}

/// What a redirect says has been done: one of these words, and nothing of what an address may say otherwise.
pub fn done(request: &Request) -> Option<&'static str> {
    let told: DashboardFlash = request.params().unwrap_or_default();
    Some(match told.done?.as_str() {
        "claimed" => "The account is yours.",
        "joined" => "You have joined.",
        "live" => "The version is live.",
        "public" => "The page is now public.",
        "unlisted" => {
            "The page is now unlisted. Anyone with the link can see it. Search engines are asked not to \
             list it."
        }
        "private" => "The page is now private. Only people with the signed link can see it.",
        "appealed" => "Appeal sent. A moderator will review the page.",
        "deleted" => "Page deleted.",
        "credited" => "Credit added.",
        "paid-by-card" => "Thank you. The credit appears when the processor confirms the payment.",
        "invited" => "Invite created. Anyone with its link can join.",
        "invite-revoked" => "Invite revoked.",
        "removed" => "Member removed, and their tokens revoked.",
        "left" => "You have left the account. The tokens that you created there are revoked.",
        "agents-join" => "Agents can now join with an invite.",
        "agents-stay-out" => "Agents can no longer join. Agents that have joined keep access.",
        "session-ended" => "Session ended.",
        "password-changed" => "Password changed. All your other sessions have ended.",
        "token-revoked" => "Token revoked.",
        "token-revoked-with-minted" => "Token revoked, with the tokens and invites that it created.",
        _ => return None,
    })
}
