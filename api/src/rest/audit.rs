//! The account's audit log. It is read-only, and its entries never change.

use poem::web::Data;
use poem_openapi::OpenApi;
use service::Service;

use super::Tag;
use crate::http::api_result::{ApiResult, refusals};
use crate::http::caller::TokenOrSession;
use crate::http::paging::{After, Limit, Listed, Paging};
use crate::wire;

#[derive(Default)]
pub struct Audit;

refusals! {
    List: InvalidRequest, Unauthorized, NotSignedIn, InsufficientScope, Forbidden;
}

#[OpenApi(tag = "Tag::Account")]
impl Audit {
    /// List the audit log
    ///
    /// Returns the entries of the last 400 days, newest first: sign-ins and failed sign-ins of members,
    /// publishes, deletions, and changes of visibility, credit, tokens, invites and members. Needs the
    /// session of an admin or the owner, or the scope `account:manage`.
    #[oai(path = "/v1/account/audit", method = "get", operation_id = "list_audit")]
    async fn list(
        &self,
        caller: TokenOrSession,
        /// The maximum number of entries to return; the `Link` header then holds the next page. Without it,
        /// the response has all entries.
        limit: Limit,
        /// The cursor of the next page, from the `Link` header of the previous response.
        after: After<wire::AuditEntry>,
        service: Data<&Service>,
    ) -> ApiResult<Listed<Vec<wire::AuditEntry>>, List> {
        let paging = Paging::of(limit, after);
        let list = paging.list(&service, caller.0, |service, caller, page| async move {
            Ok(service.audit(&caller, &page).await?.map(wire::AuditEntry::from))
        });
        Ok(list.await?)
    }
}
