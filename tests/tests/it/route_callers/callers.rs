//! The callers: every kind of credential, valid, invalid, insufficient or another's.

use handbill_tests::{Agent, Call, Human, Method, World, json};

use super::rules::{ACCOUNT, READ, TOKENS, WRITE};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Nobody,
    /// A token that was never issued, or is no longer valid.
    BadToken,
    /// Every scope, on an expired account.
    ExpiredAccount,
    /// Every scope, on another account.
    OtherAccount,
    /// On the account, with this scope alone.
    Scoped(&'static str),
    /// On the account, with every scope, pinned to another artifact.
    PinnedElsewhere,
    /// Signed in, and not a member of the account.
    Stranger,
    Member,
    Admin,
    Owner,
    /// The owner's session, from another site's page.
    OnForeignPage,
    Operator,
    /// A wrong operator secret.
    NoOperator,
}

/// A caller: what is sent with every call.
#[derive(Clone, Debug)]
pub struct Caller {
    pub name: String,
    pub kind: Kind,
    headers: Vec<(&'static str, String)>,
}

impl Kind {
    pub fn is_signed_in(self) -> bool {
        matches!(self, Kind::Stranger | Kind::Member | Kind::Admin | Kind::Owner | Kind::OnForeignPage)
    }

    pub fn has_token(self) -> bool {
        matches!(
            self,
            Kind::BadToken
                | Kind::ExpiredAccount
                | Kind::OtherAccount
                | Kind::Scoped(_)
                | Kind::PinnedElsewhere
        )
    }

    /// Whether its credentials are unrelated to the account.
    pub fn is_outsider(self) -> bool {
        matches!(
            self,
            Kind::Nobody
                | Kind::BadToken
                | Kind::ExpiredAccount
                | Kind::OtherAccount
                | Kind::Stranger
                | Kind::Operator
                | Kind::NoOperator
        )
    }
}

impl Caller {
    pub fn nobody() -> Self {
        Self { name: "nobody".into(), kind: Kind::Nobody, headers: vec![] }
    }

    pub fn with_token(name: &str, kind: Kind, token: &str) -> Self {
        let headers = vec![("Authorization", format!("Bearer {token}"))];
        Self { name: name.into(), kind, headers }
    }

    /// A signed-in person, on a page of this origin.
    pub fn with_session(name: &str, kind: Kind, session: &Human, origin: &str) -> Self {
        let cookie = session.cookie("svc_sess").expect("a signed-in person");
        let headers = vec![("Cookie", format!("svc_sess={cookie}")), ("Origin", origin.to_owned())];
        Self { name: name.into(), kind, headers }
    }

    pub fn with_secret(name: &str, kind: Kind, secret: &str) -> Self {
        Self {
            name: name.into(),
            kind,
            headers: vec![("X-Internal-Secret", secret.to_owned()), ("X-Operator", "Ada".to_owned())],
        }
    }

    /// The same, with a header that selects this account.
    pub fn for_account(mut self, handle: &str) -> Self {
        self.headers.push(("X-Account", handle.to_owned()));
        self
    }

    pub fn call(&self, world: &World, method: Method, path: &str) -> Call {
        let call = world.stranger().call(method, path);
        self.headers.iter().fold(call, |call, (name, value)| call.header(name, value.clone()))
    }
}

/// Tokens of the account with one scope each, and one with every scope that is pinned to another artifact.
pub async fn lesser_tokens(agent: &Agent, other_artifact: &str) -> Vec<Caller> {
    let mut callers = Vec::new();
    for scope in [READ, WRITE, TOKENS, ACCOUNT] {
        let token = agent.minted(&json!({ "scopes": scope })).await;
        callers.push(Caller::with_token(scope, Kind::Scoped(scope), token.token()));
    }
    let pinned = agent.minted(&json!({ "artifact_id": other_artifact })).await;
    callers.push(Caller::with_token("pinned elsewhere", Kind::PinnedElsewhere, pinned.token()));
    callers
}
