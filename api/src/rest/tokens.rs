//! The account's tokens. A secret is in the response that mints it and must never appear anywhere else.

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
    /// List tokens
    ///
    /// Returns the active tokens, newest first, without their secrets. A pinned token sees only tokens with
    /// the same pin. Needs the scope `tokens:manage`.
    #[oai(path = "/v1/tokens", method = "get", operation_id = "list_tokens")]
    async fn list(
        &self,
        caller: Token,
        /// The maximum number of tokens to return; the `Link` header then holds the next page. Without it,
        /// the response has all tokens.
        limit: Limit,
        /// The cursor of the next page, from the `Link` header of the previous response.
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
    /// Creates a token for another agent, with the same or fewer rights than your own: fewer scopes, one
    /// artifact, an earlier expiry. Omitted fields copy your own rights. Needs the scope `tokens:manage`. A
    /// person can grant what their role allows.
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
    /// The token stops working at once. After a leak send `with_minted=true`, which also revokes every token
    /// that it minted, directly or indirectly, and the open invites that any of these tokens created. Needs
    /// the scope `tokens:manage`. A member can revoke only their own tokens.
    ///
    /// Invites are revoked only if the caller may revoke invites: a token with `account:manage`, an admin or
    /// the owner. For other callers the invites stay open and `invites_revoked` is 0. A caller with those
    /// rights can repeat the call to revoke them, even though the token is already revoked.
    #[oai(path = "/v1/tokens/:id", method = "delete", operation_id = "revoke_token")]
    async fn revoke(
        &self,
        caller: Token,
        /// The token's `id`, as listed.
        id: Path<String>,
        /// `true` also revokes the tokens and invites that came from it.
        with_minted: Query<Option<bool>>,
        service: Data<&Service>,
    ) -> ApiResult<Json<wire::RevokedToken>, Revoke> {
        let minted = if *with_minted == Some(true) { TokenFate::Revoke } else { TokenFate::Keep };
        let revoked = service.revoke_token(&caller.0, &id, minted).await?;
        Ok(Json(wire::RevokedToken::new(revoked, minted)))
    }

    /// Revoke a leaked token
    ///
    /// For anyone who finds a token in public. The token itself is the only credential. The response is the
    /// same whether or not the token exists. Tokens that it minted keep working; the account revokes them
    /// with `DELETE /v1/tokens/{id}?with_minted=true`.
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
