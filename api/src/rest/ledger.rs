//! The account's ledger. It is read-only, and its entries never change.

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
    /// List ledger entries
    ///
    /// Returns every movement of the account's credit, newest first. The balance is the sum of all entries.
    /// Needs a session of any role, or the scope `account:manage`.
    #[oai(path = "/v1/account/ledger", method = "get", operation_id = "list_ledger")]
    async fn list(
        &self,
        caller: TokenOrSession,
        /// The maximum number of entries to return; the `Link` header then holds the next page. Without it,
        /// the response has all entries.
        limit: Limit,
        /// The cursor of the next page, from the `Link` header of the previous response.
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
