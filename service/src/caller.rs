//! Who calls and what they may: the checks that every operation begins with.

use domain::{AccountId, ArtifactId, Refusal, Scope, Scopes, Time, TokenId, TokenSecret, has_expired};

use crate::{Answer, Service};

/// Who calls, and what they may.
#[derive(Clone, Debug)]
pub struct Caller {
    pub account: AccountId,
    pub handle: String,
    pub scopes: Scopes,
    pub pinned_to: Option<ArtifactId>,
    pub token: Option<TokenId>,
    /// The end of a provisional account; past it, reads work and writes do not.
    pub account_expires_at: Option<Time>,
}

impl Service {
    /// Finds who holds a bearer token. Everything that is wrong with one gets the same answer.
    pub async fn authenticate(&self, bearer: Option<&str>) -> Answer<Caller> {
        let secret: TokenSecret = bearer.and_then(|text| text.parse().ok()).ok_or(Refusal::Unauthorized)?;
        let grant = self.0.store.token_grant(&secret.hash()).await?.ok_or(Refusal::Unauthorized)?;
        if has_expired(grant.expires_at, self.0.clock.now()) || grant.revoked_at.is_some() {
            return Err(Refusal::Unauthorized.into());
        }
        Ok(Caller {
            account: grant.account.id,
            handle: grant.account.handle,
            scopes: grant.scopes,
            pinned_to: grant.pinned_to,
            token: Some(grant.token),
            account_expires_at: grant.account.expires_at,
        })
    }
}

impl Caller {
    pub(crate) fn may(&self, scope: Scope) -> Result<(), Refusal> {
        if self.scopes.has(scope) { Ok(()) } else { Err(Refusal::InsufficientScope(scope.into())) }
    }

    // Spec 5.7: a provisional account past expiry is read-only.
    pub(crate) fn may_write(&self, scope: Scope, now: Time) -> Result<(), Refusal> {
        self.may(scope)?;
        if has_expired(self.account_expires_at, now) { Err(Refusal::AccountExpired) } else { Ok(()) }
    }

    /// A pinned token works on its own artifact only.
    pub(crate) fn may_touch(&self, artifact: ArtifactId) -> Result<(), Refusal> {
        match self.pinned_to {
            Some(pin) if pin != artifact => {
                Err(Refusal::InsufficientScope(domain::MissingRight::OtherArtifact))
            }
            _ => Ok(()),
        }
    }
}
