//! The account's ledger: every movement of its credit. It can only be read; entries are never changed.

use poem::web::Data;
use poem_openapi::OpenApi;
use service::Service;

use super::Tag;
use crate::http::api_result::{ApiResult, refusals};
use crate::http::caller::TokenOrSession;
use crate::http::paging::{After, Limit, Listed, Paging};
use crate::wire;

#[derive(Default)]
pub struct Ledger;

refusals! {
    List: InvalidRequest, Unauthorized, NotSignedIn, InsufficientScope, Forbidden;
}

#[OpenApi(tag = "Tag::Money")]
impl Ledger {
    /// List the ledger entries
    ///
    /// Every movement of the account's credit, newest first. The balance is the sum of all of them. Needs a session of
    /// any role, or the scope `account:manage`.
    #[oai(path = "/v1/account/ledger", method = "get", operation_id = "list_ledger")]
    async fn list(
        &self,
        caller: TokenOrSession,
        /// At most so many entries, with a `Link` to the next ones. Without it, everything is sent.
        limit: Limit,
        /// Where to go on: take it from the `Link` of the page before.
        after: After<wire::LedgerEntry>,
        service: Data<&Service>,
    ) -> ApiResult<Listed<Vec<wire::LedgerEntry>>, List> {
        let paging = Paging::of(limit, after);
        let list = paging.list(&service, caller.0, |service, caller, page| async move {
            Ok(service.ledger(&caller, &page).await?.map(wire::LedgerEntry::from))
        });
        Ok(list.await?)
    }
}
