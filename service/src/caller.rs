//! Who calls and what they may: the checks that every operation begins with.
//!
//! A call comes by a token or by a person. A token carries scopes; a person has a role on the account. Nothing else in
//! the service may ask which of the two it is: it asks here what they may.

use std::time::Duration;

use domain::{
    AccountId, ArtifactId, CalledBy, Maker, Missing, MissingRight, Origin, Refusal, Rights, Role, Scope,
    Scopes, Suspension, Time, TokenId, TokenSecret, UserId, has_expired, hash_secret, must_take_writes,
};
use store::{Change, Reach};

use crate::{Service, ServiceResult};

/// A session ends this long after its last use.
pub const SESSION_KEPT: Duration = Duration::from_secs(30 * 24 * 3600);
/// A use moves the end of a session when the last one that did is older than this; so most uses write nothing.
const SESSION_RENEWED_EVERY: Duration = Duration::from_secs(3600);

/// Who calls, for which account, and what they may.
#[derive(Clone, Debug)]
pub struct Caller {
    pub account: AccountId,
    pub handle: String,
    /// The end of a provisional account; past it, reads work and writes do not.
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

/// Whoever holds a bearer token.
#[derive(Clone, Debug)]
pub struct TokenHolder {
    pub id: TokenId,
    pub scopes: Scopes,
    pub pinned_to: Option<ArtifactId>,
    pub expires_at: Option<Time>,
    /// The person behind the token: who minted it, or who invited its agent.
    pub created_by: Option<UserId>,
}

/// Someone who is signed in.
#[derive(Clone, Debug)]
pub struct Person {
    pub user: UserId,
    pub username: String,
    pub origin: Origin,
}

impl Service {
    /// Finds who holds a bearer token. Everything that is wrong with one gets the same answer.
    pub async fn authenticate(&self, bearer: Option<&str>, origin: Origin) -> ServiceResult<Caller> {
        let secret: TokenSecret = bearer.and_then(|text| text.parse().ok()).ok_or(Refusal::Unauthorized)?;
        let grant = self.0.store.tokens().find_grant(&secret.hash()).await?.ok_or(Refusal::Unauthorized)?;
        let now = self.0.clock.now();
        if has_expired(grant.expires_at, now) || grant.revoked_at.is_some() {
            return Err(Refusal::Unauthorized.into());
        }
        self.0.token_uses.note(grant.token, grant.last_used_at, now);
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
            }),
            origin,
        })
    }

    /// Finds whose session this is. A session is kept alive by being used.
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

    /// The account that a person's call is about: the one that it names by id or handle, else the one in which the
    /// role is highest, the oldest first.
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

    /// Whether somebody has proved to be the operator, by knowing the signing secret.
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
    /// What the caller may hand on to a token.
    pub fn scopes(&self) -> Scopes {
        match &self.who {
            CallerIdentity::Token(holder) => holder.scopes,
            CallerIdentity::Person(_, role) => Scopes::of_role(*role),
        }
    }

    /// The one artifact that the caller may touch, if it is bound to one.
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

    /// The person who answers for the call: the caller, or who made the caller's token.
    pub fn user(&self) -> Option<UserId> {
        match &self.who {
            CallerIdentity::Token(holder) => holder.created_by,
            CallerIdentity::Person(person, _) => Some(person.user),
        }
    }

    /// Who answers for what the caller makes.
    pub(crate) fn maker(&self) -> Maker {
        Maker { user: self.user(), token: self.token() }
    }

    /// What the caller may hand on, where, and until when.
    pub(crate) fn rights(&self) -> Rights {
        let expires_at = match &self.who {
            CallerIdentity::Token(holder) => holder.expires_at,
            CallerIdentity::Person(..) => None,
        };
        Rights { scopes: self.scopes(), pinned_to: self.pinned_to(), expires_at }
    }

    /// The tokens that are there for the caller.
    pub(crate) fn sees(&self) -> Reach {
        self.pinned_to().map_or(Reach::All, Reach::PinnedTo)
    }

    /// The tokens that the caller may revoke. Spec 2.5: an admin revokes anyone's, a member only their own.
    pub(crate) fn revokes(&self) -> Reach {
        match &self.who {
            CallerIdentity::Person(person, Role::Member) => Reach::Of(person.user),
            _ => self.sees(),
        }
    }

    /// Whether the caller is this very person.
    pub(crate) fn is(&self, user: UserId) -> bool {
        matches!(&self.who, CallerIdentity::Person(person, _) if person.user == user)
    }

    /// Who did it, for the audit trail.
    pub fn actor(&self) -> String {
        match &self.who {
            CallerIdentity::Token(holder) => holder.id.to_string(),
            CallerIdentity::Person(person, _) => person.user.to_string(),
        }
    }

    /// The same, with where the call came from.
    pub(crate) fn called_by(&self) -> CalledBy {
        CalledBy { actor: self.actor(), origin: self.origin }
    }

    // Spec 2.5: whoever is a member publishes, reads and mints tokens; what a person may beyond that is a question
    // of the role, asked by `may_lead` and `may_own`.
    pub(crate) fn may(&self, scope: Scope) -> Result<(), Refusal> {
        match &self.who {
            CallerIdentity::Token(holder) if !holder.scopes.has(scope) => {
                Err(Refusal::InsufficientScope(scope.into()))
            }
            _ => Ok(()),
        }
    }

    // An account that is suspended is read-only and, by spec 5.7, a provisional one past expiry.
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

    /// Why an artifact that the caller named is not there for it.
    pub(crate) fn no_such_artifact(&self) -> Refusal {
        match self.pinned_to() {
            Some(_) => Refusal::InsufficientScope(MissingRight::OtherArtifact),
            None => Refusal::NotFound(Missing::Artifact),
        }
    }

    /// Invites, members and other people's tokens: an admin or the owner.
    pub(crate) fn may_lead(&self, now: Time) -> Result<(), Refusal> {
        self.may_manage(Role::Admin)?;
        self.must_take_writes(now)
    }

    /// Whoever may lead, also when the account has expired: what it has can be read.
    pub(crate) fn may_see_invites(&self) -> Result<(), Refusal> {
        self.may_manage(Role::Admin)
    }

    /// The audit trail: an admin, the owner, or a token that manages the account; also when the account has expired.
    pub(crate) fn may_see_audit(&self) -> Result<(), Refusal> {
        self.may_manage(Role::Admin)
    }

    /// Who is on the account: a person of any role, or a token that manages the account.
    pub(crate) fn may_see_team(&self) -> Result<(), Refusal> {
        self.may_manage(Role::Member)
    }

    /// Whoever is the owner or acts with the owner's rights.
    pub(crate) fn has_owner_s_rights(&self) -> bool {
        self.may_manage(Role::Owner).is_ok()
    }

    /// Credit, the claim link and the switch for agents: the owner.
    pub(crate) fn may_own(&self, now: Time) -> Result<(), Refusal> {
        self.may_manage(Role::Owner)?;
        self.must_take_writes(now)
    }

    // A token that manages the account acts with the owner's rights; one that is pinned to an artifact does not.
    fn may_manage(&self, least: Role) -> Result<(), Refusal> {
        match &self.who {
            CallerIdentity::Token(holder) => {
                self.may(Scope::AccountManage)?;
                if holder.pinned_to.is_some() {
                    return Err(Refusal::InsufficientScope(MissingRight::OtherArtifact));
                }
            }
            CallerIdentity::Person(_, role) if *role < least => {
                return Err(Refusal::Forbidden {
                    fault: format!("this needs the role {least}; yours on this account is {role}"),
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
