//! A person on the dashboard of an account, and the frame of each of its pages.

use askama::Template;
use domain::{Account, Micro, Missing, Refusal, Role, Slug};
use poem::http::StatusCode;
use poem::{Request, Response};
use serde::Deserialize;
use service::{Caller, Membership, Person, Service};

use crate::html::again;
use crate::html::figures::{Dollars, SuspendedSince};
use crate::html::{accepts_html, found_at, page, person_if_any, with_cookie};
use crate::http::refusal::RefusedCall;
use crate::http::{caller, same_site, session_cookie};

/// A person on the dashboard of one of their accounts.
pub struct DashboardPage {
    pub person: Person,
    pub caller: Caller,
    pub frame: Frame,
}

/// The frame of every page of an account.
#[derive(Clone, Debug)]
pub struct Frame {
    pub username: String,
    pub handle: String,
    /// The name that an owner has given the account.
    pub name: Option<String>,
    pub role: Role,
    /// The person's accounts, including this one.
    pub accounts: Vec<AccountLink>,
    /// Shown on every page of a suspended account.
    pub suspension: Option<SuspendedSince>,
    /// What the account owes, shown on every page.
    pub arrears: Option<Dollars>,
    pub tab: Tab,
    /// A message about what was just done.
    pub done: Option<&'static str>,
}

#[derive(Clone, Debug)]
pub struct AccountLink {
    pub handle: String,
    pub name: Option<String>,
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

    /// Only admins and owners see the audit log. The other pages show each role what it may see.
    fn is_for(self, role: Role) -> bool {
        self != Tab::Audit || role >= Role::Admin
    }
}

impl DashboardPage {
    /// Begins a read. `None` if the person is signed out.
    pub async fn begin(request: &Request, service: &Service, tab: Tab) -> Result<Option<Self>, RefusedCall> {
        match person_if_any(request, service).await? {
            Some(person) => Self::of(person, request, service, tab).await.map(Some),
            None => Ok(None),
        }
    }

    /// Begins a change, which must not come from another site's page.
    pub async fn change(request: &Request, service: &Service, tab: Tab) -> Result<Self, RefusedCall> {
        same_site::demand(request, service.addresses())?;
        Self::of(caller::person(request, service).await?, request, service, tab).await
    }

    async fn of(person: Person, request: &Request, service: &Service, tab: Tab) -> Result<Self, RefusedCall> {
        let handle = request.raw_path_param("handle").unwrap_or_default();
        let memberships = service.memberships(&person).await?;
        let here = memberships.iter().find(|one| one.account.handle == handle);
        // The same refusal whether or not the account exists.
        let fault = || "you are not a member of an account with this handle".to_owned();
        let here = here.ok_or_else(|| Refusal::Forbidden { fault: fault() })?;
        let caller = service.caller_of(&person, Some(handle)).await?;
        let frame = Frame {
            username: person.username.clone(),
            handle: handle.to_owned(),
            name: name_of(&here.account),
            role: here.role,
            accounts: memberships.iter().map(|one| AccountLink::new(one, handle)).collect(),
            suspension: caller.suspension.as_ref().map(SuspendedSince::from),
            arrears: arrears_of(here.account.balance),
            tab,
            done: done(request),
        };
        Ok(Self { person, caller, frame })
    }

    /// The path of a page of this account, such as `/usage`.
    pub fn path(&self, below: &str) -> String {
        self.frame.path(below)
    }
}

impl AccountLink {
    fn new(membership: &Membership, current: &str) -> Self {
        let handle = membership.account.handle.clone();
        let name = name_of(&membership.account);
        Self { is_current: handle == current, handle, name, role: membership.role }
    }
}

fn name_of(account: &Account) -> Option<String> {
    account.name.as_ref().map(ToString::to_string)
}

/// What has to be paid before anything can be published.
pub fn arrears_of(balance: Micro) -> Option<Dollars> {
    balance.is_negative().then(|| Dollars(Micro::ZERO - balance))
}

/// The path of a page of an account.
pub fn page_path(handle: &str, slug: &Slug) -> String {
    format!("/dashboard/{handle}/pages/{slug}")
}

impl Frame {
    /// The account's name, or its handle.
    pub fn label(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.handle)
    }

    pub fn path(&self, below: &str) -> String {
        format!("/dashboard/{}{below}", self.handle)
    }

    /// The tabs for this person, with their paths.
    pub fn tabs(&self) -> impl Iterator<Item = (Tab, String)> + '_ {
        let of_role = Tab::ALL.into_iter().filter(|tab| tab.is_for(self.role));
        of_role.map(|tab| (tab, self.path(tab.path())))
    }

    /// Whether this person may manage invites, members and other people's tokens.
    pub fn leads(&self) -> bool {
        self.role >= Role::Admin
    }

    /// Whether this person may buy credit and let agents join.
    pub fn owns(&self) -> bool {
        self.role == Role::Owner
    }
}

/// Renders a page of the dashboard, or renders it again after a form was refused. Using a session renews it,
/// so its cookie is renewed too.
pub fn render_page(
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

/// The refusal of a form, to show on its page. A program and a signed-out person get the refusal itself.
pub fn to_show(refused: RefusedCall, request: &Request) -> Result<Refusal, RefusedCall> {
    let is_shown = accepts_html(request) && *refused.0 != Refusal::NotSignedIn;
    if is_shown { Ok(*refused.0) } else { Err(refused) }
}

/// The response, with the session's cookie renewed.
pub fn kept_alive(request: &Request, service: &Service, answer: Response) -> Response {
    match session_cookie::kept_on(request, service.addresses()) {
        Some(cookie) => with_cookie(answer, &cookie),
        None => answer,
    }
}

/// Redirects to the sign-in, which leads back to this path.
pub fn to_sign_in(request: &Request) -> Response {
    let path = request.uri().path();
    // Other characters would need escaping in a query.
    let is_plain = path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/_-".contains(&byte));
    found_at(&format!("/signin?next={}", if is_plain { path } else { "/dashboard" }))
}

/// The artifact that the path names. A malformed slug is reported as not found.
pub fn slug_of(request: &Request) -> Result<Slug, Refusal> {
    let slug = request.raw_path_param("slug").unwrap_or_default();
    slug.parse().map_err(|_| Refusal::NotFound(Missing::Artifact))
}

#[derive(Default, Deserialize)]
struct DashboardFlash {
    done: Option<String>,
}

/// The message for a redirect's `done` parameter. Only these fixed texts are shown, whatever the URL
/// contains.
pub fn done(request: &Request) -> Option<&'static str> {
    let flash: DashboardFlash = request.params().unwrap_or_default();
    Some(match flash.done?.as_str() {
        "claimed" => "Account claimed.",
        "joined" => "You have joined.",
        "live" => "The version is live.",
        "public" => "The page is now public.",
        "unlisted" => {
            "The page is now unlisted. Anyone with the link can see it. Search engines are asked not to \
             list it."
        }
        "private" => "The page is now private. Only people with the signed link can see it.",
        "appealed" => "Appeal sent. A moderator will review the page.",
        "deleted" => "Page deleted. You can restore it for 30 days.",
        "renamed" => "Page renamed. Its URL is still the same.",
        "link-replaced" => "Link replaced. The old one no longer works.",
        "duplicated" => "Page duplicated.",
        "bulk-deleted" => "Pages deleted. You can restore them for 30 days.",
        "bulk-public" => "The pages are now public.",
        "bulk-unlisted" => "The pages are now unlisted.",
        "bulk-private" => "The pages are now private.",
        "none-selected" => "Select at least one page first.",
        "named" => "Account renamed.",
        "restored" => "Page restored.",
        "purged" => "Page deleted forever, with all of its versions.",
        "purged-with-evidence" => {
            "Page deleted forever, except for versions that moderators keep as evidence."
        }
        "version-deleted" => "Version deleted.",
        "credited" => "Credit added.",
        "paid-by-card" => "Thank you. The credit is added when the card processor confirms the payment.",
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
