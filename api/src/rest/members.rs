//! The account's members. Removing one also revokes their tokens and invites.

use poem::web::Data;
use poem_openapi::OpenApi;
use poem_openapi::param::Path;
use poem_openapi::payload::Json;
use service::Service;

use super::Tag;
use crate::http::api_result::{ApiResult, refusals};
use crate::http::caller::TokenOrSession;
use crate::http::paging::{After, Limit, Listed, Paging};
use crate::wire;

#[derive(Default)]
pub struct Members;

refusals! {
    List: InvalidRequest, Unauthorized, NotSignedIn, InsufficientScope, Forbidden;
    Remove: Unauthorized, NotSignedIn, InsufficientScope, Forbidden, ForeignPage, AccountExpired, AccountSuspended, NotFound;
}

#[OpenApi(tag = "Tag::Team")]
impl Members {
    /// List members and active tokens
    ///
    /// Returns the members, and then the active tokens. `limit` and `after` treat both as one list, so a page
    /// may end within either. Needs a session of any role, or the scope `account:manage`.
    #[oai(path = "/v1/account/members", method = "get", operation_id = "list_members")]
    async fn list(
        &self,
        caller: TokenOrSession,
        /// The maximum number of members and tokens together; the `Link` header then holds the next page.
        /// Without it, the response has all of them.
        limit: Limit,
        /// The cursor of the next page, from the `Link` header of the previous response.
        after: After<wire::Team>,
        service: Data<&Service>,
    ) -> ApiResult<Listed<wire::Team>, List> {
        let paging = Paging::of(limit, after);
        let team = service.team(&caller.0, &paging.only_page()).await?;
        let next = team.next.clone();
        Ok(paging.whole(&service.addresses().base_url, &wire::Team::from(team), next.as_ref()))
    }

    /// Remove a member
    ///
    /// The person loses access to the account at once. Every token and open invite that they or their tokens
    /// created is revoked. The owner cannot be removed. Any other member may remove themselves. Needs the
    /// session of an admin or the owner, or the scope `account:manage`.
    #[oai(path = "/v1/account/members/:user_id", method = "delete", operation_id = "remove_member")]
    async fn remove(
        &self,
        caller: TokenOrSession,
        /// The `user_id` of the member, as listed.
        user_id: Path<String>,
        service: Data<&Service>,
    ) -> ApiResult<Json<wire::RemovedMember>, Remove> {
        let (user, tokens_revoked) = service.remove_member(&caller.0, &user_id).await?;
        Ok(Json(wire::RemovedMember { user_id: user.to_string(), removed: true, tokens_revoked }))
    }
}
