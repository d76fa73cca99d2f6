//! The account's audit trail. It can only be read; entries are never changed.

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
    /// List the audit trail
    ///
    /// Sign-ins and failed sign-ins of the members, publishes, deletions, changes of visibility, credit, tokens, invites
    /// and members, newest first, for 400 days. Needs the session of an admin or the owner, or the scope
    /// `account:manage`.
    #[oai(path = "/v1/account/audit", method = "get", operation_id = "list_audit")]
    async fn list(
        &self,
        caller: TokenOrSession,
        /// At most so many entries, with a `Link` to the next ones. Without it, everything is sent.
        limit: Limit,
        /// Where to go on: take it from the `Link` of the page before.
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
