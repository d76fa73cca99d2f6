//! Inviting people and agents to the account, with one code for either. A code is a credential: it must never reach a
//! log.

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
    /// Invite people and agents
    ///
    /// A person opens `invite_url`; an agent sends `code` to `POST /v1/account/join`. The account must be claimed.
    /// Needs the session of an admin or the owner, or the scope `account:manage`.
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

    /// List the invites
    ///
    /// Newest first, those of no more use too. Needs the session of an admin or the owner, or the scope
    /// `account:manage`.
    #[oai(path = "/v1/account/invites", method = "get", operation_id = "list_invites")]
    async fn list(
        &self,
        caller: TokenOrSession,
        /// At most so many entries, with a `Link` to the next ones. Without it, everything is sent.
        limit: Limit,
        /// Where to go on: take it from the `Link` of the page before.
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
    /// Nobody joins by it any more; who has joined stays. Needs the session of an admin or the owner, or the scope
    /// `account:manage`.
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
