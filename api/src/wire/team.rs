//! Members, invites and joining agents. A joining agent's token is in the response to its join and must never
//! appear in another type.

use domain::link::Addresses;
use domain::{AccountName, InviteTerms, MalformedAccountName, Refusal, Role};
use poem_openapi::types::{Example, MaybeUndefined};
use poem_openapi::{Enum, Object};

use service::{AccountSettings, AgentJoin};

use super::retention::retention_change;
use super::text::typed_texts;
use super::{RoleName, Timestamp};

typed_texts! {
    TypedAccountName:
        min_length: Some(1), max_length: Some(AccountName::LENGTH_MAX),
        pattern: Some(AccountName::PATTERN.to_owned());
}

/// New values of the account's settings. At least one must be given.
#[derive(Object)]
#[oai(example)]
pub struct ChangeAccount {
    /// A name for the account, of 1 to 60 characters on one line. Null takes the name away.
    #[oai(nullable)]
    pub name: MaybeUndefined<TypedAccountName>,
    /// Whether agents may join with an invite.
    pub allow_agent_join: MaybeUndefined<bool>,
    /// How many of an artifact's newest versions are kept. Null: no limit.
    #[oai(nullable, validator(minimum(value = "1"), maximum(value = "10000")))]
    pub versions_kept: MaybeUndefined<u32>,
    /// For how many days a version is kept. Null: no limit.
    #[oai(nullable, validator(minimum(value = "1"), maximum(value = "10000")))]
    pub versions_days: MaybeUndefined<u32>,
}

/// The account's new claim link. The old one no longer works.
#[derive(Object)]
pub struct ClaimLink {
    /// The link that a person opens before `expires_at` to keep the account.
    pub claim_url: String,
    /// When the account expires unless it is claimed.
    #[oai(nullable)]
    pub expires_at: Option<Timestamp>,
}

/// The role of people who join. Agents read and write artifacts, whatever the role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[oai(rename_all = "lowercase")]
pub enum InviteRole {
    Member,
    Admin,
}

/// The terms of a new invite.
#[derive(Debug, Default, Object)]
#[oai(example)]
pub struct CreateInvite {
    /// The role of people who join. The default is `member`.
    pub role: Option<InviteRole>,
    /// How many people and agents may join. The default is 1.
    #[oai(validator(minimum(value = "1"), maximum(value = "100")))]
    pub max_uses: Option<u32>,
    /// How many hours the invite is valid. The default is 72.
    #[oai(validator(minimum(value = "1"), maximum(value = "720")))]
    pub ttl_hours: Option<u32>,
}

/// A new invite.
#[derive(Object)]
pub struct CreatedInvite {
    /// The code that an agent sends to `POST /v1/account/join`.
    pub code: String,
    /// The link that a person opens.
    pub invite_url: String,
    pub role: RoleName,
    pub max_uses: u32,
    pub expires_at: Timestamp,
}

/// An invite.
#[derive(Object)]
pub struct Invite {
    pub code: String,
    pub invite_url: String,
    pub role: RoleName,
    pub max_uses: u32,
    /// The number of uses. Each join is one use.
    pub uses: u32,
    pub expires_at: Timestamp,
    #[oai(nullable)]
    pub revoked_at: Option<Timestamp>,
    pub created_at: Timestamp,
    /// The id of the person, or else of the token, that created the invite.
    #[oai(nullable)]
    pub created_by: Option<String>,
}

/// The invite is revoked.
#[derive(Object)]
pub struct RevokedInvite {
    pub code: String,
    /// Always true.
    pub revoked: bool,
}

/// The code of an invite, the only credential that a join needs.
#[derive(Object)]
#[oai(example)]
pub struct Join {
    pub code: String,
}

/// The result of a join.
#[derive(Object)]
pub struct Joined {
    /// The bearer token. It is shown only once.
    pub token: String,
    pub account: JoinedAccount,
    /// The token's rights, as a comma-separated list.
    pub scopes: String,
    /// The next call to make.
    pub hint: String,
}

/// The account that the agent joined.
#[derive(Debug, Object)]
pub struct JoinedAccount {
    pub handle: String,
}

/// The members and active tokens of the account.
#[derive(Debug, Object)]
pub struct Team {
    /// The members, oldest membership first.
    pub members: Vec<Member>,
    /// The active tokens, newest first.
    pub tokens: Vec<TeamToken>,
}

/// A person on the account.
#[derive(Debug, Object)]
pub struct Member {
    pub user_id: String,
    pub username: String,
    pub role: RoleName,
    pub joined_at: Timestamp,
}

/// An active token of the account.
#[derive(Debug, Object)]
pub struct TeamToken {
    pub id: String,
    pub name: String,
    pub scopes: String,
    /// The id of the person who is responsible for it, or else of the token that minted it. Null for the
    /// token of a signup.
    #[oai(nullable)]
    pub created_by: Option<String>,
    #[oai(nullable)]
    pub last_used_at: Option<Timestamp>,
}

/// The person is removed from the account.
#[derive(Debug, Object)]
pub struct RemovedMember {
    pub user_id: String,
    /// Always true.
    pub removed: bool,
    /// The number of active tokens that were revoked with the person.
    pub tokens_revoked: u64,
}

impl From<InviteRole> for Role {
    fn from(role: InviteRole) -> Self {
        match role {
            InviteRole::Member => Role::Member,
            InviteRole::Admin => Role::Admin,
        }
    }
}

impl CreateInvite {
    pub fn read(self) -> Result<InviteTerms, Refusal> {
        InviteTerms::new(self.role.map(Role::from), self.max_uses, self.ttl_hours)
    }
}

impl CreatedInvite {
    pub fn new(invite: &domain::Invite, addresses: &Addresses) -> Self {
        Self {
            code: invite.code.as_str().to_owned(),
            invite_url: addresses.invite(invite.code.as_str()),
            role: invite.role.into(),
            max_uses: invite.max_uses,
            expires_at: invite.expires_at.into(),
        }
    }
}

impl Invite {
    pub fn new(invite: &domain::Invite, addresses: &Addresses) -> Self {
        Self {
            code: invite.code.as_str().to_owned(),
            invite_url: addresses.invite(invite.code.as_str()),
            role: invite.role.into(),
            max_uses: invite.max_uses,
            uses: invite.uses,
            expires_at: invite.expires_at.into(),
            revoked_at: invite.revoked_at.map(Timestamp::from),
            created_at: invite.created_at.into(),
            created_by: invite.made_by.shown(),
        }
    }
}

impl From<service::ClaimLink> for ClaimLink {
    fn from(link: service::ClaimLink) -> Self {
        Self { claim_url: link.claim_url, expires_at: link.expires_at.map(Timestamp::from) }
    }
}

impl From<service::Joined> for Joined {
    fn from(joined: service::Joined) -> Self {
        Self {
            token: joined.token.reveal(),
            account: JoinedAccount { handle: joined.handle },
            scopes: joined.scopes.to_string(),
            hint: "store the token, it is shown only once; publish with POST /v1/publish and Authorization: Bearer <token>"
                .to_owned(),
        }
    }
}

impl From<service::Team> for Team {
    fn from(team: service::Team) -> Self {
        Self {
            members: team.members.into_iter().map(Member::from).collect(),
            tokens: team.tokens.iter().map(TeamToken::from).collect(),
        }
    }
}

impl From<service::Member> for Member {
    fn from(member: service::Member) -> Self {
        Self {
            user_id: member.user.to_string(),
            username: member.username,
            role: member.role.into(),
            joined_at: member.joined_at.into(),
        }
    }
}

impl From<&domain::Token> for TeamToken {
    fn from(token: &domain::Token) -> Self {
        Self {
            id: token.id.to_string(),
            name: token.name.to_string(),
            scopes: token.rights.scopes.to_string(),
            created_by: token.made_by.shown(),
            last_used_at: token.last_used_at.map(Timestamp::from),
        }
    }
}

impl ChangeAccount {
    pub fn read(&self) -> Result<AccountSettings, Refusal> {
        let retention = retention_change(&self.versions_kept, &self.versions_days);
        let agent_join = match self.allow_agent_join {
            MaybeUndefined::Value(true) => Some(AgentJoin::Allowed),
            MaybeUndefined::Value(false) => Some(AgentJoin::Disabled),
            MaybeUndefined::Null => {
                let fault = "allow_agent_join: must be true or false, not null".to_owned();
                return Err(Refusal::InvalidBody { fault });
            }
            MaybeUndefined::Undefined if retention.is_empty() && self.name.is_undefined() => {
                let others = "allow_agent_join, versions_kept or versions_days";
                return Err(Refusal::InvalidBody { fault: format!("name: is missing; give it, {others}") });
            }
            MaybeUndefined::Undefined => None,
        };
        Ok(AccountSettings { name: self.read_name()?, agent_join, retention })
    }

    fn read_name(&self) -> Result<Option<Option<AccountName>>, Refusal> {
        Ok(match &self.name {
            MaybeUndefined::Undefined => None,
            MaybeUndefined::Null => Some(None),
            MaybeUndefined::Value(TypedAccountName(name)) => {
                let invalid = |fault: MalformedAccountName| Refusal::invalid("name", fault.to_string());
                Some(Some(name.parse().map_err(invalid)?))
            }
        })
    }
}

impl Example for ChangeAccount {
    fn example() -> Self {
        Self {
            name: MaybeUndefined::Value(TypedAccountName("Design team".to_owned())),
            allow_agent_join: MaybeUndefined::Value(false),
            versions_kept: MaybeUndefined::Value(20),
            versions_days: MaybeUndefined::Null,
        }
    }
}

impl Example for CreateInvite {
    fn example() -> Self {
        Self { role: Some(InviteRole::Member), max_uses: Some(5), ttl_hours: Some(24) }
    }
}

impl Example for Join {
    fn example() -> Self {
        Self { code: "0123456789abcdefghijABCD".to_owned() }
    }
}
