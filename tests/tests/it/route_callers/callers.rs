//! The callers: every kind of credential, good, bad, too little or somebody else's.

use handbill_tests::{Agent, Call, Human, Method, World, json};

use super::rules::{ACCOUNT, READ, TOKENS, WRITE};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Nobody,
    /// One that nobody gave out, or that works no more.
    BadToken,
    /// Every scope, on an account that nobody claimed in time.
    ExpiredAccount,
    /// Every scope, on another account.
    OtherAccount,
    /// On the account, with this scope alone.
    Scoped(&'static str),
    /// On the account, with every scope, for another artifact than the one that is called for.
    PinnedElsewhere,
    /// Signed in, and nobody to the account.
    Stranger,
    Member,
    Admin,
    Owner,
    /// The owner's session, brought along by another site's page.
    OnForeignPage,
    Operator,
    /// Who takes something else for the operator's secret.
    NoOperator,
}

/// One who calls: what is sent with every call.
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

    /// Whether nothing that is sent has to do with the account.
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

    /// Who is signed in, on a page of this origin.
    pub fn with_session(name: &str, kind: Kind, session: &Human, origin: &str) -> Self {
        let cookie = session.cookie("svc_sess").expect("somebody who is signed in");
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

    /// The same, saying that the call is for this account.
    pub fn for_account(mut self, handle: &str) -> Self {
        self.headers.push(("X-Account", handle.to_owned()));
        self
    }

    pub fn call(&self, world: &World, method: Method, path: &str) -> Call {
        let call = world.stranger().call(method, path);
        self.headers.iter().fold(call, |call, (name, value)| call.header(name, value.clone()))
    }
}

/// Tokens of the account that may one thing each, and one that may everything with another artifact.
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
