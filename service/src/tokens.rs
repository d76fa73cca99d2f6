//! Tokens: listed without their secrets, minted with at most the minter's rights, revoked at once in all
//! processes.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Duration;

use domain::{
    AccountId, AskedRights, LeakedSecret, Maker, Missing, Origin, Page, Paged, Refusal, Scope, Token,
    TokenId, TokenName, TokenSecret, Via,
};
use store::{AlsoRevoked, Change, ChangeError, NewToken, Reach, RevocationScope, TokenFate, TokenRotation};
use tokio::time::{Instant, sleep_until};

use crate::{Caller, Service, ServiceResult};

/// Leaked tokens that an address may report per minute.
const LEAKS_PER_MINUTE: u32 = 60;
/// The shortest response time to a report, so that it does not reveal whether the token exists.
const LEAK_RESPONSE_MIN: Duration = Duration::from_millis(100);

/// The request for a new token.
#[derive(Clone, Debug, Default)]
pub struct MintRequest {
    pub name: Option<TokenName>,
    pub rights: AskedRights,
}

/// A new token, with the secret that is shown only once.
#[derive(Clone, Debug)]
pub struct Minted {
    pub token: Token,
    pub secret: TokenSecret,
}

/// A revoked token, and what was revoked along with it.
#[derive(Clone, Copy, Debug)]
pub struct Revoked {
    pub token: TokenId,
    pub also: AlsoRevoked,
}

impl Service {
    /// The active tokens that the caller may see, newest first.
    pub async fn tokens(&self, caller: &Caller, page: &Page) -> ServiceResult<Paged<Token>> {
        caller.may(Scope::TokensManage)?;
        self.flush_token_uses().await;
        self.tokens_shown_to(caller, caller.visible_tokens(), page).await
    }

    /// The tokens that the caller may see. A token's name may contain an invite code, so only callers who may
    /// see invites get it.
    pub(crate) async fn tokens_shown_to(
        &self,
        caller: &Caller,
        reach: Reach,
        page: &Page,
    ) -> ServiceResult<Paged<Token>> {
        let mut tokens = self.0.store.tokens().list(caller.account, reach, self.0.clock.now(), page).await?;
        if caller.may_see_invites().is_err() {
            tokens.rows.iter_mut().for_each(|token| token.name = token.name.without_code());
        }
        Ok(tokens)
    }

    /// The names of the tokens that minted these, active or not.
    pub async fn minters_of(
        &self,
        caller: &Caller,
        tokens: &[Token],
    ) -> ServiceResult<HashMap<TokenId, TokenName>> {
        caller.may_see_team()?;
        Ok(self.0.store.tokens().list_minters(caller.account, tokens).await?)
    }

    /// Mints a token. A person grants at most the rights of the role, a token at most its own (spec 4.7).
    pub async fn mint(&self, caller: &Caller, request: MintRequest) -> ServiceResult<Minted> {
        let now = self.0.clock.now();
        caller.may_write(Scope::TokensManage, now)?;
        let secret = TokenSecret::generate(&self.0.chance);
        let token = NewToken {
            id: TokenId::new(now, &self.0.chance),
            account: caller.account,
            secret_hash: secret.hash(),
            secret_start: Some(secret.start()),
            name: request.name.unwrap_or_else(TokenName::unnamed),
            rights: caller.rights().hand_on(request.rights, now)?,
            made_by: caller.maker(),
            created_at: now,
        };
        self.0.store.tokens().create(&self.change_by(caller), &token).await?;
        tracing::info!(account.handle = %caller.handle, token.id = %token.id, "token minted");
        Ok(Minted { token: token.shown(), secret })
    }

    /// Gives a token a new secret, which is shown only once. Name, rights and expiry stay. The old secret
    /// stops working at once. The caller must have the right to revoke the token, and to mint one like it.
    pub async fn rotate_token(&self, caller: &Caller, id: &str) -> ServiceResult<Minted> {
        caller.may_write(Scope::TokensManage, self.0.clock.now())?;
        // A use of the old secret must not be recorded as one of the new secret.
        self.flush_token_uses().await;
        let secret = TokenSecret::generate(&self.0.chance);
        let rotation = TokenRotation {
            token: id.parse().map_err(|_| Refusal::NotFound(Missing::Token))?,
            secret_hash: secret.hash(),
            secret_start: secret.start(),
            reach: caller.revocable_tokens(),
            rights: caller.rights(),
        };
        let token = self.0.store.tokens().rotate(&self.change_by(caller), &rotation).await?;
        tracing::info!(account.handle = %caller.handle, token.id = %token.id, "token rotated");
        Ok(Minted { token, secret })
    }

    /// Revokes a token, and on request its descendants. Every process refuses them from then on.
    pub async fn revoke_token(&self, caller: &Caller, id: &str, minted: TokenFate) -> ServiceResult<Revoked> {
        let now = self.0.clock.now();
        caller.may_write(Scope::TokensManage, now)?;
        // A malformed id belongs to no token.
        let token = id.parse().map_err(|_| Refusal::NotFound(Missing::Token))?;
        let along = match minted {
            TokenFate::Keep => RevocationScope::Nothing,
            // Spec 4.5: invites need more than tokens do. A caller with those rights can revoke them later.
            TokenFate::Revoke if caller.may_lead(now).is_err() => RevocationScope::Tokens,
            TokenFate::Revoke => RevocationScope::TokensAndInvites,
        };
        let also = self
            .0
            .store
            .tokens()
            .revoke(&self.change_by(caller), token, caller.revocable_tokens(), along)
            .await?;
        tracing::info!(account.handle = %caller.handle, token.id = %token, tokens.minted = also.tokens, "token revoked");
        Ok(Revoked { token, also })
    }

    /// Revokes the token or the grant with this secret, for anyone who found it. An unknown one gets the same
    /// response in the same time.
    pub async fn revoke_leaked(&self, secret: &LeakedSecret, from: IpAddr) -> ServiceResult<()> {
        let earliest = Instant::now() + LEAK_RESPONSE_MIN;
        self.take_by_address("leak", from, LEAKS_PER_MINUTE).await?;
        let found = match secret {
            LeakedSecret::Access(secret) => {
                let token = self.0.store.tokens().find_grant(&secret.hash()).await?;
                token.filter(|token| token.revoked_at.is_none()).map(|token| (token.account.id, token.token))
            }
            LeakedSecret::Refresh(secret) => {
                let grant = self.0.store.oauth().find_by_family(&secret.family_hash()).await?;
                grant.filter(|grant| grant.revoked_at.is_none()).map(|grant| (grant.account, grant.token))
            }
        };
        if let Some((account, token)) = found {
            self.revoke_found(account, token, Origin { via: Via::Api, address: Some(from) }).await?;
        }
        sleep_until(earliest).await;
        Ok(())
    }

    /// The caller knows the secret, so the token itself is recorded as the actor.
    async fn revoke_found(&self, account: AccountId, token: TokenId, origin: Origin) -> ServiceResult<()> {
        let by = Maker { user: None, token: Some(token) };
        let now = self.0.clock.now();
        let change = Change { account, by, origin, now, chance: &self.0.chance };
        match self.0.store.tokens().revoke_leaked(&change, token, RevocationScope::Nothing).await {
            // It was revoked by another request in the meantime.
            Ok(_) | Err(ChangeError::Refused(_)) => {}
            Err(ChangeError::Failed(error)) => return Err(error.into()),
        }
        tracing::info!(token.id = %token, "leaked token revoked");
        Ok(())
    }
}
