//! The caller of an operation and its permissions. Every operation begins with these checks.
//!
//! A caller is a token with scopes, or a person with a role on the account. No other code in the service may
//! distinguish the two; it checks permissions here.

use std::time::Duration;

use domain::{
    AccountId, ArtifactId, CalledBy, Maker, Missing, MissingRight, Origin, Refusal, Rights, Role, Scope,
    Scopes, Suspension, Time, TokenId, TokenSecret, UserId, has_expired, hash_secret, must_take_writes,
};
use store::{Change, Reach, TokenUse};

use crate::{Service, ServiceResult};

/// A session ends this long after its last use.
pub const SESSION_KEPT: Duration = Duration::from_secs(30 * 24 * 3600);
/// A use extends the session if the last extension is older than this, so most uses write nothing.
const SESSION_RENEWED_EVERY: Duration = Duration::from_secs(3600);

/// An authenticated caller, acting for one account.
#[derive(Clone, Debug)]
pub struct Caller {
    pub account: AccountId,
    pub handle: String,
    /// The end of a provisional account. After it, reads work and writes do not.
    pub account_expires_at: Option<Time>,
    /// While the account is suspended, reads work and writes do not.
    pub suspension: Option<Suspension>,
    pub who: CallerIdentity,
    pub origin: Origin,
}

#[derive(Clone, Debug)]
pub enum CallerIdentity {
    Token(TokenHolder),
    Person(Person, Role),
}

/// An authenticated bearer token.
#[derive(Clone, Debug)]
pub struct TokenHolder {
    pub id: TokenId,
    pub scopes: Scopes,
    pub pinned_to: Option<ArtifactId>,
    pub expires_at: Option<Time>,
    /// The person behind the token: its minter, or the person who invited its agent.
    pub created_by: Option<UserId>,
    /// Whether an OAuth client holds it, which can request more scopes.
    pub is_of_oauth: bool,
}

/// A person who is signed in.
#[derive(Clone, Debug)]
pub struct Person {
    pub user: UserId,
    pub username: String,
    pub origin: Origin,
}

impl Service {
    /// Authenticates a bearer token. Every failure gets the same refusal.
    pub async fn authenticate(&self, bearer: Option<&str>, origin: Origin) -> ServiceResult<Caller> {
        let secret: TokenSecret = bearer.and_then(|text| text.parse().ok()).ok_or(Refusal::Unauthorized)?;
        let grant = self.0.store.tokens().find_grant(&secret.hash()).await?.ok_or(Refusal::Unauthorized)?;
        let now = self.0.clock.now();
        if has_expired(grant.expires_at, now) || grant.revoked_at.is_some() {
            return Err(Refusal::Unauthorized.into());
        }
        let used = TokenUse { token: grant.token, at: now, from: origin.address };
        self.0.token_uses.note(used, grant.last_used_at);
        Ok(Caller {
            account: grant.account.id,
            handle: grant.account.handle,
            account_expires_at: grant.account.expires_at,
            suspension: grant.account.suspension,
            who: CallerIdentity::Token(TokenHolder {
                id: grant.token,
                scopes: grant.scopes,
                pinned_to: grant.pinned_to,
                expires_at: grant.expires_at,
                created_by: grant.created_by_user,
                is_of_oauth: grant.renewable_until.is_some(),
            }),
            origin,
        })
    }

    /// The person of a session. Using a session extends it.
    pub async fn person(&self, session: &str, origin: Origin) -> ServiceResult<Person> {
        let (secret_hash, now) = (hash_secret(session), self.0.clock.now());
        let grant = self.0.store.sessions().find(&secret_hash).await?.ok_or(Refusal::NotSignedIn)?;
        if now >= grant.expires_at {
            return Err(Refusal::NotSignedIn.into());
        }
        if now.since(grant.last_used_at) >= SESSION_RENEWED_EVERY {
            self.0.store.sessions().renew(&secret_hash, now, now.plus(SESSION_KEPT)).await?;
        }
        Ok(Person { user: grant.user, username: grant.username, origin })
    }

    /// The account that a person's call is for: the one named by id or handle, else the one with the highest
    /// role, oldest first.
    pub async fn caller_of(&self, person: &Person, named: Option<&str>) -> ServiceResult<Caller> {
        let memberships = self.0.store.members().list_memberships(person.user).await?;
        let chosen = memberships.into_iter().find(|one| {
            named.is_none_or(|name| one.account.handle == name || one.account.id.to_string() == name)
        });
        let membership = chosen.ok_or(match named {
            Some(_) => Refusal::ForeignAccount,
            None => Refusal::NoAccount,
        })?;
        Ok(Caller {
            account: membership.account.id,
            handle: membership.account.handle,
            account_expires_at: membership.account.expires_at,
            suspension: membership.account.suspension,
            who: CallerIdentity::Person(person.clone(), membership.role),
            origin: person.origin,
        })
    }

    /// Whether a caller knows the signing secret, which proves that it is the operator.
    pub fn is_operator(&self, offered_secret: &[u8]) -> bool {
        self.0.rules.signing_key.is_known_to(offered_secret)
    }

    /// A change that this caller makes now.
    pub(crate) fn change_by(&self, caller: &Caller) -> Change<'_> {
        let now = self.0.clock.now();
        Change {
            account: caller.account,
            by: caller.maker(),
            origin: caller.origin,
            now,
            chance: &self.0.chance,
        }
    }
}

impl Caller {
    /// The scopes that the caller may grant to a token.
    pub fn scopes(&self) -> Scopes {
        match &self.who {
            CallerIdentity::Token(holder) => holder.scopes,
            CallerIdentity::Person(_, role) => Scopes::of_role(*role),
        }
    }

    /// The scopes of an OAuth client, which can request more.
    pub fn oauth_scopes(&self) -> Option<Scopes> {
        match &self.who {
            CallerIdentity::Token(holder) if holder.is_of_oauth => Some(holder.scopes),
            _ => None,
        }
    }

    /// The only artifact that the caller may access, if it is pinned to one.
    pub fn pinned_to(&self) -> Option<ArtifactId> {
        match &self.who {
            CallerIdentity::Token(holder) => holder.pinned_to,
            CallerIdentity::Person(..) => None,
        }
    }

    pub fn token(&self) -> Option<TokenId> {
        match &self.who {
            CallerIdentity::Token(holder) => Some(holder.id),
            CallerIdentity::Person(..) => None,
        }
    }

    /// The person responsible for the call: the caller, or the person behind the token.
    pub fn user(&self) -> Option<UserId> {
        match &self.who {
            CallerIdentity::Token(holder) => holder.created_by,
            CallerIdentity::Person(person, _) => Some(person.user),
        }
    }

    /// The recorded creator of what the caller creates.
    pub(crate) fn maker(&self) -> Maker {
        Maker { user: self.user(), token: self.token() }
    }

    /// The rights that the caller may grant, with their pin and expiry.
    pub(crate) fn rights(&self) -> Rights {
        let expires_at = match &self.who {
            CallerIdentity::Token(holder) => holder.expires_at,
            CallerIdentity::Person(..) => None,
        };
        Rights { scopes: self.scopes(), pinned_to: self.pinned_to(), expires_at }
    }

    /// The tokens that the caller may see.
    pub(crate) fn visible_tokens(&self) -> Reach {
        self.pinned_to().map_or(Reach::All, Reach::PinnedTo)
    }

    /// The tokens that the caller may revoke. Spec 2.5: an admin revokes anyone's, a member only their own.
    pub(crate) fn revocable_tokens(&self) -> Reach {
        match &self.who {
            CallerIdentity::Person(person, Role::Member) => Reach::Of(person.user),
            _ => self.visible_tokens(),
        }
    }

    /// Whether the caller is this person.
    pub(crate) fn is(&self, user: UserId) -> bool {
        matches!(&self.who, CallerIdentity::Person(person, _) if person.user == user)
    }

    /// The actor for the audit log.
    pub fn actor(&self) -> String {
        match &self.who {
            CallerIdentity::Token(holder) => holder.id.to_string(),
            CallerIdentity::Person(person, _) => person.user.to_string(),
        }
    }

    /// The actor with the origin of the call.
    pub(crate) fn called_by(&self) -> CalledBy {
        CalledBy { actor: self.actor(), origin: self.origin }
    }

    // Spec 2.5: every member publishes, reads and mints tokens. `may_lead` and `may_own` check the role for
    // anything beyond that.
    pub(crate) fn may(&self, scope: Scope) -> Result<(), Refusal> {
        match &self.who {
            CallerIdentity::Token(holder) if !holder.scopes.has(scope) => {
                Err(Refusal::InsufficientScope(scope.into()))
            }
            _ => Ok(()),
        }
    }

    // A suspended account is read-only. So is a provisional one past its expiry (spec 5.7).
    pub(crate) fn may_write(&self, scope: Scope, now: Time) -> Result<(), Refusal> {
        self.may(scope)?;
        self.must_take_writes(now)
    }

    /// A pinned token works on its own artifact only.
    pub(crate) fn may_touch(&self, artifact: ArtifactId) -> Result<(), Refusal> {
        match self.pinned_to() {
            Some(pin) if pin != artifact => Err(Refusal::InsufficientScope(MissingRight::OtherArtifact)),
            _ => Ok(()),
        }
    }

    /// The refusal for an artifact that does not exist or is out of the caller's reach.
    pub(crate) fn no_such_artifact(&self) -> Refusal {
        match self.pinned_to() {
            Some(_) => Refusal::InsufficientScope(MissingRight::OtherArtifact),
            None => Refusal::NotFound(Missing::Artifact),
        }
    }

    /// Invites, members and other people's tokens need an admin or the owner.
    pub(crate) fn may_lead(&self, now: Time) -> Result<(), Refusal> {
        self.may_manage(Role::Admin)?;
        self.must_take_writes(now)
    }

    /// As [`Self::may_lead`], but also for an expired account, which stays readable.
    pub(crate) fn may_see_invites(&self) -> Result<(), Refusal> {
        self.may_manage(Role::Admin)
    }

    /// The audit log needs an admin, the owner, or a token that manages the account. It stays readable after
    /// expiry.
    pub(crate) fn may_see_audit(&self) -> Result<(), Refusal> {
        self.may_manage(Role::Admin)
    }

    /// The team is visible to a person of any role, or a token that manages the account.
    pub(crate) fn may_see_team(&self) -> Result<(), Refusal> {
        self.may_manage(Role::Member)
    }

    /// Whether the caller is the owner or acts with the owner's rights.
    pub(crate) fn has_owner_rights(&self) -> bool {
        self.may_manage(Role::Owner).is_ok()
    }

    /// Credit, the claim link and the setting for agents need the owner.
    pub(crate) fn may_own(&self, now: Time) -> Result<(), Refusal> {
        self.may_manage(Role::Owner)?;
        self.must_take_writes(now)
    }

    // A token that manages the account acts with the owner's rights, unless it is pinned to an artifact.
    fn may_manage(&self, role_min: Role) -> Result<(), Refusal> {
        match &self.who {
            CallerIdentity::Token(holder) => {
                self.may(Scope::AccountManage)?;
                if holder.pinned_to.is_some() {
                    return Err(Refusal::InsufficientScope(MissingRight::OtherArtifact));
                }
            }
            CallerIdentity::Person(_, role) if *role < role_min => {
                return Err(Refusal::Forbidden {
                    fault: format!("this needs the role {role_min}; yours on this account is {role}"),
                });
            }
            CallerIdentity::Person(..) => {}
        }
        Ok(())
    }

    fn must_take_writes(&self, now: Time) -> Result<(), Refusal> {
        must_take_writes(self.suspension.as_ref(), self.account_expires_at, now)
    }
}
