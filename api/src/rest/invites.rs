//! Invites for people and agents; one code works for both. A code is a credential and must never be logged.

use poem::web::Data;
use poem_openapi::OpenApi;
use poem_openapi::param::Path;
use poem_openapi::payload::Json;
use service::Service;

use super::Tag;
use crate::http::api_result::{ApiResult, Created, refusals};
use crate::http::caller::TokenOrSession;
use crate::http::json_body::JsonBody;
use crate::http::paging::{After, Limit, Listed, Paging};
use crate::wire;

#[derive(Default)]
pub struct Invites;

refusals! {
    Create:
        InvalidRequest, InvalidBody, Unauthorized, NotSignedIn, InsufficientScope, Forbidden, ForeignPage,
        AccountExpired, AccountSuspended, NotClaimed, TooMany, TooLarge, UnsupportedMediaType;
    List: InvalidRequest, Unauthorized, NotSignedIn, InsufficientScope, Forbidden;
    Revoke: Unauthorized, NotSignedIn, InsufficientScope, Forbidden, ForeignPage, AccountExpired, AccountSuspended, NotFound;
}

#[OpenApi(tag = "Tag::Team")]
impl Invites {
    /// Create an invite
    ///
    /// Returns a code for people and agents to join the account. Send `invite_url` to a person, who opens it,
    /// or `code` to an agent, which sends it to `POST /v1/account/join`. The account must be claimed. Needs
    /// the session of an admin or the owner, or the scope `account:manage`.
    #[oai(path = "/v1/account/invites", method = "post", operation_id = "create_invite")]
    async fn create(
        &self,
        caller: TokenOrSession,
        body: JsonBody<Option<wire::CreateInvite>>,
        service: Data<&Service>,
    ) -> ApiResult<Created<wire::CreatedInvite>, Create> {
        let terms = body.0.unwrap_or_default().read()?;
        let invite = service.invite(&caller.0, terms).await?;
        let created = wire::CreatedInvite::new(&invite, service.addresses());
        let path = format!("/v1/account/invites/{}", created.code);
        Ok(Created::at(created, service.addresses(), &path))
    }

    /// List invites
    ///
    /// Returns all invites, newest first, including expired, revoked and used ones. Needs the session of an
    /// admin or the owner, or the scope `account:manage`.
    #[oai(path = "/v1/account/invites", method = "get", operation_id = "list_invites")]
    async fn list(
        &self,
        caller: TokenOrSession,
        /// The maximum number of invites to return; the `Link` header then holds the next page. Without it,
        /// the response has all invites.
        limit: Limit,
        /// The cursor of the next page, from the `Link` header of the previous response.
        after: After<wire::Invite>,
        service: Data<&Service>,
    ) -> ApiResult<Listed<Vec<wire::Invite>>, List> {
        let paging = Paging::of(limit, after);
        let list = paging.list(&service, caller.0, |service, caller, page| async move {
            let invites = service.invites(&caller, &page).await?;
            Ok(invites.map(|invite| wire::Invite::new(&invite, service.addresses())))
        });
        Ok(list.await?)
    }

    /// Revoke an invite
    ///
    /// Nobody can join with it anymore. People and agents that already joined stay. Needs the session of an
    /// admin or the owner, or the scope `account:manage`.
    #[oai(path = "/v1/account/invites/:code", method = "delete", operation_id = "revoke_invite")]
    async fn revoke(
        &self,
        caller: TokenOrSession,
        /// The invite's code.
        code: Path<String>,
        service: Data<&Service>,
    ) -> ApiResult<Json<wire::RevokedInvite>, Revoke> {
        let code = service.revoke_invite(&caller.0, &code).await?;
        Ok(Json(wire::RevokedInvite { code: code.as_str().to_owned(), revoked: true }))
    }
}
