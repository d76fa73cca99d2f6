//! The list of blocked content, for the operator's programs. The page for people is `/admin/contents`.

use domain::{BlobHash, Refusal};
use poem::web::Data;
use poem_openapi::OpenApi;
use poem_openapi::param::Query;
use poem_openapi::payload::Json;
use service::Service;

use super::Tag;
use crate::http::api_result::{ApiResult, refusals};
use crate::http::call_header::Header;
use crate::http::operator::{DecidedBy, Operator};
use crate::http::paging::{Limit, Listed};
use crate::http::path_part::Path;
use crate::wire;

#[derive(Default)]
pub struct BlockedContents;

refusals! {
    List: InvalidRequest, NotFound;
    Unblock: InvalidRequest, NotFound;
}

#[OpenApi(tag = "Tag::Operator")]
impl BlockedContents {
    /// List blocked content
    ///
    /// Returns the file contents that no new version may contain. When a moderator blocks a page, its HTML
    /// and script files are added to this list. Empty files are not added, and neither are files that a
    /// passed live page of another account contains. A new version with blocked content is `blocked` at once.
    /// Returns 404 without the operator's secret.
    #[oai(path = "/internal/blocked-contents", method = "get", operation_id = "list_blocked_contents")]
    async fn list(
        &self,
        _operator: Operator,
        /// The `next` of the previous page.
        #[oai(validator(pattern = "^[0-9]{1,18}[.][0-9a-f]{64}$"))]
        after: Query<Option<String>>,
        /// The maximum number of files to return. The default is 50.
        limit: Limit,
        service: Data<&Service>,
    ) -> ApiResult<Listed<wire::BlockedContents>, List> {
        let unknown = |()| Refusal::invalid("after", "is not the `next` of a list");
        let after = after.0.map(|text| text.parse()).transpose().map_err(unknown)?;
        let list = service.blocked_contents(after.as_ref(), limit.rows_max).await?;
        let list = wire::BlockedContents::from(list);
        Ok(Listed::page(&list, list.next.as_deref(), &limit, &service))
    }

    /// Unblock a file
    ///
    /// Removes the content from the list, so that new versions may contain it again. Versions that were
    /// blocked only because of it are scanned again, and served if they pass. Returns 404 without the
    /// operator's secret.
    #[oai(path = "/internal/blocked-contents/:sha256", method = "delete", operation_id = "unblock_content")]
    async fn unblock(
        &self,
        _operator: Operator,
        /// The operator who makes the decision.
        #[oai(name = "X-Operator")]
        decided_by: Header<DecidedBy>,
        /// The SHA-256 of the content, as listed.
        sha256: Path<BlobHash>,
        service: Data<&Service>,
    ) -> ApiResult<Json<wire::ContentUnblocked>, Unblock> {
        service.unblock_content(&decided_by.0.0, sha256.0).await?;
        Ok(Json(sha256.0.into()))
    }
}
