//! Tokens: listed without their secrets, minted for no more than the minter has, revoked at once and everywhere.

use domain::{AskedRights, Missing, Page, Paged, Refusal, Scope, Token, TokenId, TokenName, TokenSecret};
use store::{NewToken, Reach};

use crate::{Answer, Caller, Service};

/// What is asked for when a token is minted.
#[derive(Clone, Debug, Default)]
pub struct MintRequest {
    pub name: Option<TokenName>,
    pub rights: AskedRights,
}

/// A fresh token, with the secret that is shown this once.
#[derive(Clone, Debug)]
pub struct Minted {
    pub token: Token,
    pub secret: TokenSecret,
}

impl Service {
    /// The active tokens that the caller reaches, the newest first.
    pub async fn tokens(&self, caller: &Caller, page: &Page) -> Answer<Paged<Token>> {
        caller.may(Scope::TokensManage)?;
        self.flush_token_uses().await;
        self.tokens_shown_to(caller, caller.sees(), page).await
    }

    /// The tokens within reach. A code in the name of one is for who may read the invites.
    pub(crate) async fn tokens_shown_to(
        &self,
        caller: &Caller,
        reach: Reach,
        page: &Page,
    ) -> Answer<Paged<Token>> {
        let mut tokens = self.0.store.tokens(caller.account, reach, self.0.clock.now(), page).await?;
        if caller.may_see_invites().is_err() {
            tokens.rows.iter_mut().for_each(|token| token.name = token.name.without_code());
        }
        Ok(tokens)
    }

    /// Mints a token. A person mints what the role may, a token no more than it has itself (spec 4.7).
    pub async fn mint(&self, caller: &Caller, request: MintRequest) -> Answer<Minted> {
        let now = self.0.clock.now();
        caller.may_write(Scope::TokensManage, now)?;
        let secret = TokenSecret::generate(&self.0.chance);
        let token = NewToken {
            id: TokenId::new(now, &self.0.chance),
            account: caller.account,
            secret_hash: secret.hash(),
            name: request.name.unwrap_or_else(TokenName::unnamed),
            rights: caller.rights().hand_on(request.rights, now)?,
            made_by: caller.maker(),
            created_at: now,
        };
        self.0.store.mint(&self.change_by(caller), &token).await?;
        tracing::info!(account.handle = %caller.handle, token.id = %token.id, "token minted");
        Ok(Minted { token: token.shown(), secret })
    }

    /// Revokes a token: its next use is refused, in every process.
    pub async fn revoke_token(&self, caller: &Caller, id: &str) -> Answer<TokenId> {
        caller.may_write(Scope::TokensManage, self.0.clock.now())?;
        // What is no id is no token's.
        let id = id.parse().map_err(|_| Refusal::NotFound(Missing::Token))?;
        self.0.store.revoke_token(&self.change_by(caller), id, caller.revokes()).await?;
        tracing::info!(account.handle = %caller.handle, token.id = %id, "token revoked");
        Ok(id)
    }
}
