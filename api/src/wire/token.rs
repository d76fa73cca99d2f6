//! Tokens in requests and responses. The secret is in the response that mints it and must never appear in
//! another type.

use domain::{AskedRights, LeakedSecret, Missing, Refusal, Scopes, Time, TokenName, UnknownScope};
use poem_openapi::Object;
use poem_openapi::types::Example;
use service::{MintRequest, Revoked, TokenFate};

use super::Timestamp;
use super::text::typed_texts;

/// A token of the account, without its secret, which is shown only when the token is minted.
#[derive(Debug, Object)]
pub struct Token {
    pub id: String,
    pub name: String,
    /// The token's rights, as a comma-separated list.
    pub scopes: String,
    /// The id of the one artifact that the token is limited to. Null if it is not limited.
    #[oai(nullable)]
    pub artifact_id: Option<String>,
    /// The id of the person who is responsible for it, or else of the token that minted it. Null for the
    /// token of a signup.
    #[oai(nullable)]
    pub created_by: Option<String>,
    pub created_at: Timestamp,
    /// When the token expires. Null if it never does.
    #[oai(nullable)]
    pub expires_at: Option<Timestamp>,
    /// When it was last used, to the minute. Null if it never was.
    #[oai(nullable)]
    pub last_used_at: Option<Timestamp>,
}

/// A new token.
#[derive(Object)]
pub struct MintedToken {
    #[oai(flatten)]
    pub minted: Token,
    /// The bearer token. It is shown only once.
    pub token: String,
}

/// The rights of the new token. Omitted fields copy those of the caller.
#[derive(Default, Object)]
#[oai(example)]
pub struct MintToken {
    /// A name for the token, 1 to 100 characters.
    pub name: Option<TypedName>,
    /// A comma-separated list of `artifacts:write`, `artifacts:read`, `tokens:manage` and `account:manage`.
    pub scopes: Option<TypedScopes>,
    /// The id of the one artifact that the token is limited to.
    pub artifact_id: Option<TypedArtifactId>,
    /// When the token expires: a time in the future, as RFC 3339.
    pub expires_at: Option<TypedMoment>,
}

typed_texts! {
    TypedName: min_length: Some(1), max_length: Some(TokenName::LENGTH_MAX),
        pattern: Some(r"^[^\u0000-\u001f\u007f-\u009f]+$".to_owned());
    TypedScopes: pattern: Some(
        "^(artifacts:(write|read)|(tokens|account):manage)(,(artifacts:(write|read)|(tokens|account):manage))*$".to_owned()
    );
    TypedArtifactId: min_length: Some(1);
    TypedMoment: format: Some("date-time");
    TypedToken: pattern: Some("^svc_(sk_[A-Za-z0-9]{32}|rt_[A-Za-z0-9]{64})$".to_owned());
}

/// The token is revoked.
#[derive(Debug, Object)]
pub struct RevokedToken {
    pub id: String,
    /// Always true.
    pub revoked: bool,
    /// The number of tokens that came from it and were also revoked. Only with `with_minted=true`.
    #[oai(skip_serializing_if_is_none)]
    pub minted_revoked: Option<u64>,
    /// The number of open invites that came from it and were also revoked. Only with `with_minted=true`. 0 if
    /// the caller may not revoke invites.
    #[oai(skip_serializing_if_is_none)]
    pub invites_revoked: Option<u64>,
}

/// A token that was found in public.
#[derive(Object)]
#[oai(deny_unknown_fields)]
pub struct LeakedToken {
    /// The leaked token, or the leaked refresh token of an OAuth client.
    pub token: TypedToken,
}

/// The token does not work. The response is the same if it never existed.
#[derive(Debug, Object)]
pub struct LeakTaken {
    /// Always true.
    pub revoked: bool,
}

impl From<&domain::Token> for Token {
    fn from(token: &domain::Token) -> Self {
        Self {
            id: token.id.to_string(),
            name: token.name.to_string(),
            scopes: token.rights.scopes.to_string(),
            artifact_id: token.rights.pinned_to.map(|id| id.to_string()),
            created_by: token.made_by.shown(),
            created_at: token.created_at.into(),
            expires_at: token.rights.expires_at.map(Timestamp::from),
            last_used_at: token.last_used_at.map(Timestamp::from),
        }
    }
}

impl From<service::Minted> for MintedToken {
    fn from(minted: service::Minted) -> Self {
        Self { minted: (&minted.token).into(), token: minted.secret.reveal() }
    }
}

impl RevokedToken {
    pub fn new(revoked: Revoked, minted: TokenFate) -> Self {
        let also = (minted == TokenFate::Revoke).then_some(revoked.also);
        Self {
            id: revoked.token.to_string(),
            revoked: true,
            minted_revoked: also.map(|also| also.tokens),
            invites_revoked: also.map(|also| also.invites),
        }
    }
}

impl LeakedToken {
    pub fn read(&self) -> Result<LeakedSecret, Refusal> {
        let fault =
            "must be svc_sk_ followed by 32 letters and digits, or svc_rt_ followed by 64, and nothing else";
        self.token.0.parse().map_err(|()| Refusal::invalid("token", fault))
    }
}

impl MintToken {
    /// Parses the request. A malformed field is refused by its name.
    pub fn read(self) -> Result<MintRequest, Refusal> {
        let name = self.name.map(|name| name.0.parse::<TokenName>()).transpose();
        let artifact = self.artifact_id.map(|id| id.0.parse()).transpose();
        Ok(MintRequest {
            name: name.map_err(|fault| Refusal::invalid("name", fault.to_string()))?,
            rights: AskedRights {
                scopes: self.scopes.map(|scopes| read_scopes(&scopes.0)).transpose()?,
                expires_at: self.expires_at.map(|moment| read_moment(&moment.0)).transpose()?,
                // A malformed id cannot belong to an artifact.
                pinned_to: artifact.map_err(|_| Refusal::NotFound(Missing::Artifact))?,
            },
        })
    }
}

fn read_scopes(text: &str) -> Result<Scopes, Refusal> {
    let scopes: Scopes =
        text.parse().map_err(|fault: UnknownScope| Refusal::invalid("scopes", fault.to_string()))?;
    if scopes == Scopes::none() {
        return Err(Refusal::invalid("scopes", "contains no scope; omit it to copy your own"));
    }
    Ok(scopes)
}

fn read_moment(text: &str) -> Result<Time, Refusal> {
    Time::parse_rfc3339(text)
        .ok_or_else(|| Refusal::invalid("expires_at", "must be RFC 3339, such as 2030-01-31T12:00:00Z"))
}

impl Example for MintToken {
    fn example() -> Self {
        Self {
            name: Some(TypedName("deploy bot".to_owned())),
            scopes: Some(TypedScopes(Scopes::of_invited_agent().to_string())),
            ..Self::default()
        }
    }
}
