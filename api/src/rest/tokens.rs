//! The account's tokens: listed, minted and revoked. A secret is shown in the answer to a mint and nowhere else.

use poem::web::Data;
use poem_openapi::OpenApi;
use poem_openapi::param::{Path, Query};
use poem_openapi::payload::Json;
use service::{Service, TokenFate};

use super::Tag;
use crate::http::api_result::{ApiResult, Created, refusals};
use crate::http::caller::Token;
use crate::http::client_ip::ClientIp;
use crate::http::json_body::JsonBody;
use crate::http::paging::{After, Limit, Listed, Paging};
use crate::wire;

#[derive(Default)]
pub struct Tokens;

refusals! {
    List: InvalidRequest, Unauthorized, NotSignedIn, InsufficientScope, Forbidden;
    Mint:
        InvalidRequest, InvalidBody, Unauthorized, NotSignedIn, InsufficientScope, Forbidden, ForeignPage,
        AccountExpired, AccountSuspended, TooMany, NotFound, TooLarge, UnsupportedMediaType;
    Revoke:
        InvalidRequest, Unauthorized, NotSignedIn, InsufficientScope, Forbidden, ForeignPage, AccountExpired, AccountSuspended,
        NotFound;
    RevokeLeaked: InvalidRequest, InvalidBody, TooLarge, UnsupportedMediaType, RateLimited;
}

#[OpenApi(tag = "Tag::Tokens")]
impl Tokens {
    /// List the tokens
    ///
    /// Those that work, newest first, never with their secrets. A pinned token sees those with its own pin. Needs the
    /// scope `tokens:manage`, or a session of any role.
    #[oai(path = "/v1/tokens", method = "get", operation_id = "list_tokens")]
    async fn list(
        &self,
        caller: Token,
        /// At most so many entries, with a `Link` to the next ones. Without it, everything is sent.
        limit: Limit,
        /// Where to go on: take it from the `Link` of the page before.
        after: After<wire::Token>,
        service: Data<&Service>,
    ) -> ApiResult<Listed<Vec<wire::Token>>, List> {
        let paging = Paging::of(limit, after);
        let list = paging.list(&service, caller.0, |service, caller, page| async move {
            Ok(service.tokens(&caller, &page).await?.map(|token| wire::Token::from(&token)))
        });
        Ok(list.await?)
    }

    /// Mint a token
    ///
    /// For another agent, say, with less than you have yourself: fewer scopes, one artifact, an end. What is left out
    /// is as you have it, and more cannot be asked for. Needs the scope `tokens:manage`; a person mints what their role
    /// may.
    #[oai(path = "/v1/tokens", method = "post", operation_id = "mint_token")]
    async fn mint(
        &self,
        caller: Token,
        body: JsonBody<Option<wire::MintToken>>,
        service: Data<&Service>,
    ) -> ApiResult<Created<wire::MintedToken>, Mint> {
        let request = body.0.unwrap_or_default().read()?;
        let minted: wire::MintedToken = service.mint(&caller.0, request).await?.into();
        let path = format!("/v1/tokens/{}", minted.minted.id);
        Ok(Created::at(minted, service.addresses(), &path))
    }

    /// Revoke a token
    ///
    /// It stops working at once. With `with_minted=true` so do the tokens that it minted, those that they minted, and
    /// so on, and the open invites that any of them made: do this after a leak. Needs the scope `tokens:manage`; a
    /// member revokes only tokens of their own.
    ///
    /// Invites are revoked only for a caller that may revoke invites: a token with `account:manage`, an admin or the
    /// owner. For any other caller they stay open and `invites_revoked` is 0; the same call by a caller with those
    /// rights revokes them later, although the token is revoked already.
    #[oai(path = "/v1/tokens/:id", method = "delete", operation_id = "revoke_token")]
    async fn revoke(
        &self,
        caller: Token,
        /// The token's id, as the list shows it.
        id: Path<String>,
        /// `true` revokes the tokens and invites that came from it too.
        with_minted: Query<Option<bool>>,
        service: Data<&Service>,
    ) -> ApiResult<Json<wire::RevokedToken>, Revoke> {
        let minted = if *with_minted == Some(true) { TokenFate::Revoke } else { TokenFate::Keep };
        let revoked = service.revoke_token(&caller.0, &id, minted).await?;
        Ok(Json(wire::RevokedToken::new(revoked, minted)))
    }

    /// Revoke a leaked token
    ///
    /// For anyone who finds a token in public: it needs no other credential. The response is the same whether or not
    /// the token exists. Tokens that it minted keep working; the account revokes them with
    /// `DELETE /v1/tokens/{id}?with_minted=true`.
    #[oai(path = "/v1/tokens/revoke", method = "post", operation_id = "revoke_leaked_token")]
    async fn revoke_leaked(
        &self,
        from: ClientIp,
        body: JsonBody<wire::LeakedToken>,
        service: Data<&Service>,
    ) -> ApiResult<Json<wire::LeakTaken>, RevokeLeaked> {
        service.revoke_leaked(&body.read()?, from.0).await?;
        Ok(Json(wire::LeakTaken { revoked: true }))
    }
}
