//! The rules: a line for each route, and the result for each kind of caller.

use handbill_tests::Method;

use super::callers::Kind;

pub const READ: &str = "artifacts:read";
pub const WRITE: &str = "artifacts:write";
pub const TOKENS: &str = "tokens:manage";
pub const ACCOUNT: &str = "account:manage";

/// Whether a session works on routes that need a token.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Dev,
    Closed,
}

/// The rule of a route.
pub struct Rule {
    /// `METHOD /path`, as in the document.
    pub call: &'static str,
    pub may: May,
    /// The status for an authorized caller.
    pub ok: u16,
}

/// Who may call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum May {
    /// Anybody. If the call needs a credential, it is in the path or the body.
    Anyone,
    /// A caller for an account, on that account's objects.
    ForAccount(Needs),
    /// Any signed-in person.
    Person,
    /// The owner, with a session and nothing else.
    OwnerInPerson,
    /// Anybody, except another site's page with a person's session.
    Leaving,
    /// A signed-in person, but not through a page of another site.
    PersonOnOwnPage,
    /// Any valid token, of any account and with any scopes.
    Token,
    /// Any signed-in person in dev mode. Otherwise it is not found.
    Moderator,
    /// Anybody in dev mode. Otherwise it is not found.
    InDevMode,
    /// Callers with the operator's secret. For others it is not found.
    Operator,
}

/// The permissions for a call on an account.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Needs {
    pub scope: &'static str,
    /// The least role of a person.
    pub role: Role,
    /// Whether a session works outside of dev mode too.
    pub is_of_the_team: bool,
    /// The status for a token with every scope that is pinned to another artifact.
    pub pinned: u16,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    Member,
    Admin,
    Owner,
}

use Role::{Admin, Member, Owner};

/// In calling order: calls that remove what others need come last.
#[expect(clippy::too_many_lines, reason = "a table of cases")]
pub fn rules() -> Vec<Rule> {
    vec![
        rule("GET /v1/status", May::Anyone, 200),
        rule("GET /skill", May::Anyone, 200),
        rule("GET /skill/reference.md", May::Anyone, 200),
        rule("GET /llms.txt", May::Anyone, 200),
        rule("GET /skill/reference/{page}", May::Anyone, 200),
        rule("GET /openapi.json", May::Anyone, 200),
        rule("GET /openapi-3.1.json", May::Anyone, 200),
        rule("POST /mcp", May::Token, 200),
        rule("GET /signin", May::Anyone, 200),
        rule("POST /signin", May::Leaving, 302),
        rule("GET /report", May::Anyone, 200),
        rule("POST /report", May::Leaving, 201),
        rule("GET /claim/{code}", May::Anyone, 200),
        rule("GET /invite/{code}", May::Anyone, 200),
        rule("POST /v1/signup", May::Anyone, 201),
        rule("POST /auth/register", May::Anyone, 201),
        rule("POST /auth/login", May::Anyone, 200),
        rule("GET /auth/dev", May::InDevMode, 200),
        rule("GET /auth/me", May::Person, 200),
        rule("POST /v1/account/join", May::Anyone, 201),
        rule("POST /v1/reports", May::Anyone, 201),
        rule("POST /v1/tokens/revoke", May::Anyone, 200),
        rule("POST /v1/uploads/{ticket}", May::Anyone, 201),
        rule("PUT /v1/uploads/{ticket}", May::Anyone, 201),
        // Unsigned, because only the processor can sign.
        rule("POST /webhooks/card-processor", May::Anyone, 400),
        of_account("GET /v1/account", READ, Member, 200).pinned(200),
        of_account("GET /v1/usage", READ, Member, 200).pinned(200),
        of_account("GET /v1/artifacts", READ, Member, 200).pinned(200),
        of_account("GET /v1/artifacts/{slug}", READ, Member, 200),
        of_account("GET /v1/artifacts/{slug}/archive", READ, Member, 200),
        of_account("GET /v1/artifacts/{slug}/diff", READ, Member, 200),
        of_account("GET /v1/artifacts/{slug}/files", READ, Member, 200),
        of_account("GET /v1/artifacts/{slug}/files/{path}", READ, Member, 200),
        of_account("POST /v1/publish", WRITE, Member, 201),
        of_account("POST /v1/artifacts/{slug}/versions", WRITE, Member, 201),
        of_account("POST /v1/artifacts/{slug}/activate", WRITE, Member, 200),
        of_account("PATCH /v1/artifacts/{slug}", WRITE, Member, 200),
        // For a page that has passed.
        of_account("POST /v1/artifacts/{slug}/appeal", WRITE, Member, 409),
        // The live version, and an artifact that is not deleted.
        of_account("DELETE /v1/artifacts/{slug}/versions/{seq}", WRITE, Member, 409),
        // A public artifact.
        of_account("POST /v1/artifacts/{slug}/private-link", WRITE, Member, 409),
        of_account("POST /v1/artifacts/{slug}/restore", WRITE, Member, 404),
        of_account("DELETE /v1/artifacts/{slug}", WRITE, Member, 200),
        of_account("GET /v1/tokens", TOKENS, Member, 200).pinned(200),
        of_account("POST /v1/tokens", TOKENS, Member, 201).pinned(201),
        // Another member's token, because a member may revoke only their own.
        of_account("DELETE /v1/tokens/{id}", TOKENS, Admin, 200).pinned(404),
        // Authorized callers are refused because the account is already claimed, or get the price of the
        // credit.
        of_account("POST /v1/account/claim-link", ACCOUNT, Owner, 409),
        of_account("POST /v1/credits", ACCOUNT, Owner, 402),
        of_team("PATCH /v1/account", Owner, 200),
        of_team("GET /v1/account/ledger", Member, 200),
        of_team("GET /v1/account/members", Member, 200),
        of_team("GET /v1/account/audit", Admin, 200),
        // It needs three scopes, and each token of the table has one.
        rule(
            "GET /v1/account/export",
            May::ForAccount(Needs { scope: "all of them", role: Admin, is_of_the_team: true, pinned: 403 }),
            200,
        ),
        of_team("DELETE /v1/account/members/{user_id}", Admin, 200),
        of_team("GET /v1/account/invites", Admin, 200),
        of_team("POST /v1/account/invites", Admin, 201),
        of_team("DELETE /v1/account/invites/{code}", Admin, 200),
        rule("POST /v1/credits/checkout", May::OwnerInPerson, 200),
        rule("POST /v1/moderation/{slug}", May::Moderator, 200),
        operators("GET /internal/moderation", 200),
        operators("GET /internal/moderation/{host}", 200),
        operators("POST /internal/moderation/{host}", 200),
        operators("GET /internal/audit", 200),
        operators("GET /internal/blocked-contents", 200),
        // A hash that is not on the list.
        operators("DELETE /internal/blocked-contents/{sha256}", 404),
        operators("GET /internal/queues", 200),
        operators("GET /internal/queues/{queue}/jobs", 200),
        operators("GET /internal/queues/{queue}/jobs/{id}", 200),
        // A finished job.
        operators("POST /internal/queues/{queue}/jobs/{id}/retry", 409),
        operators("POST /internal/queues/{queue}/jobs/{id}/cancel", 409),
        operators("POST /internal/queues/{queue}/jobs/{id}/discard", 409),
        operators("POST /internal/queues/{queue}/pause", 200),
        operators("POST /internal/queues/{queue}/resume", 200),
        operators("POST /internal/queues/{queue}/requeue-dead", 200),
        operators("POST /internal/queues/{queue}/discard-dead", 200),
        operators("GET /internal/schedules", 200),
        operators("POST /internal/schedules/{schedule}/run", 200),
        operators("POST /internal/views", 200),
        operators("POST /internal/credit", 200),
        operators("POST /internal/accounts/{handle}/suspend", 200),
        operators("POST /internal/accounts/{handle}/lift", 200),
        operators("POST /internal/run-metering", 200),
        operators("POST /internal/run-cleanup", 200),
        // These give outsiders an account, so that they come after the calls that outsiders may not make.
        rule("POST /invite/{code}", May::PersonOnOwnPage, 302),
        rule("POST /claim/{code}", May::PersonOnOwnPage, 302),
        rule("POST /auth/logout", May::Leaving, 200),
    ]
}

fn rule(call: &'static str, may: May, ok: u16) -> Rule {
    Rule { call, may, ok }
}

fn operators(call: &'static str, ok: u16) -> Rule {
    rule(call, May::Operator, ok)
}

fn of_account(call: &'static str, scope: &'static str, role: Role, ok: u16) -> Rule {
    rule(call, May::ForAccount(Needs { scope, role, is_of_the_team: false, pinned: 403 }), ok)
}

fn of_team(call: &'static str, role: Role, ok: u16) -> Rule {
    rule(call, May::ForAccount(Needs { scope: ACCOUNT, role, is_of_the_team: true, pinned: 403 }), ok)
}

impl Rule {
    fn pinned(mut self, status: u16) -> Self {
        if let May::ForAccount(needs) = &mut self.may {
            needs.pinned = status;
        }
        self
    }

    pub fn method_and_path(&self) -> (Method, &'static str) {
        let (method, path) = self.call.split_once(' ').expect("a method and a path");
        (Method::from_bytes(method.as_bytes()).expect("a method"), path)
    }

    /// A read changes nothing, so that its origin does not matter.
    fn is_read(&self) -> bool {
        self.call.starts_with("GET ")
    }

    /// Whether the call is about one object of the account, which other accounts do not have.
    fn names_an_object(&self) -> bool {
        self.call.contains('{')
    }

    /// Whether a caller of this kind can neither change nor learn anything of the account.
    pub fn is_closed_to(&self, kind: Kind, mode: Mode) -> bool {
        match self.may {
            May::Anyone | May::InDevMode | May::Person | May::Leaving => false,
            May::PersonOnOwnPage | May::Token => false,
            May::Moderator => mode == Mode::Closed || expected(self, kind, mode).0 != self.ok,
            May::Operator => kind != Kind::Operator,
            May::ForAccount(_) if kind == Kind::OnForeignPage => !self.is_read(),
            May::ForAccount(_) | May::OwnerInPerson => kind.is_outsider(),
        }
    }
}

type ExpectedStatus = (u16, Option<&'static str>);

const UNAUTHORIZED: ExpectedStatus = (401, Some("unauthorized"));
const FORBIDDEN: ExpectedStatus = (403, Some("forbidden"));
const NOT_FOUND: ExpectedStatus = (404, Some("not_found"));
const OUT_OF_SCOPE: ExpectedStatus = (403, Some("insufficient_scope"));

/// The status and, for a refusal, the code.
pub fn expected(rule: &Rule, kind: Kind, mode: Mode) -> ExpectedStatus {
    let ok = (rule.ok, None);
    match rule.may {
        May::Anyone => ok,
        May::InDevMode | May::Moderator if mode == Mode::Closed => NOT_FOUND,
        May::InDevMode => ok,
        May::Operator if kind == Kind::Operator => ok,
        May::Operator => NOT_FOUND,
        May::Leaving | May::Moderator | May::PersonOnOwnPage if kind == Kind::OnForeignPage => FORBIDDEN,
        May::Leaving => ok,
        May::Person | May::Moderator | May::PersonOnOwnPage if kind.is_signed_in() => ok,
        May::Token if kind.has_token() && kind != Kind::BadToken => ok,
        May::Person | May::Moderator | May::PersonOnOwnPage | May::Token => UNAUTHORIZED,
        May::OwnerInPerson => in_person(ok, kind),
        May::ForAccount(needs) if kind.is_signed_in() => by_session(rule, needs, kind, mode),
        May::ForAccount(needs) => by_token(rule, needs, kind),
    }
}

fn in_person(ok: ExpectedStatus, kind: Kind) -> ExpectedStatus {
    match kind {
        Kind::Owner => ok,
        _ if kind.is_signed_in() => FORBIDDEN,
        // The call takes no token.
        _ if kind.has_token() => (403, Some("session_required")),
        _ => UNAUTHORIZED,
    }
}

fn by_session(rule: &Rule, needs: Needs, kind: Kind, mode: Mode) -> ExpectedStatus {
    if mode == Mode::Closed && !needs.is_of_the_team {
        return UNAUTHORIZED;
    }
    let role = match kind {
        Kind::Member => Some(Member),
        Kind::Admin => Some(Admin),
        Kind::Owner => Some(Owner),
        Kind::OnForeignPage if rule.is_read() => Some(Owner),
        _ => None,
    };
    if role >= Some(needs.role) { (rule.ok, None) } else { FORBIDDEN }
}

fn by_token(rule: &Rule, needs: Needs, kind: Kind) -> ExpectedStatus {
    match kind {
        Kind::Scoped(scope) if scope == needs.scope => (rule.ok, None),
        Kind::Scoped(_) => OUT_OF_SCOPE,
        Kind::PinnedElsewhere => match needs.pinned {
            403 => OUT_OF_SCOPE,
            404 => NOT_FOUND,
            status => (status, None),
        },
        // Spec 5.7: reads work, writes do not.
        Kind::ExpiredAccount if !rule.is_read() => (403, Some("account_expired")),
        Kind::ExpiredAccount | Kind::OtherAccount if rule.names_an_object() => NOT_FOUND,
        Kind::ExpiredAccount | Kind::OtherAccount => (rule.ok, None),
        _ => UNAUTHORIZED,
    }
}
