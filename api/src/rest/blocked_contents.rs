//! The list of contents that no new version may bring, for the operator's programs. People have the same at
//! `/admin/contents`.

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
    /// List the blocked contents
    ///
    /// When a moderator blocks a page, the contents of its HTML and script files go on this list, but for empty ones and
    /// for those that a live page of another account holds which has passed. A new version that brings one of them is
    /// `blocked` at once. Without the operator's secret: 404.
    #[oai(path = "/internal/blocked-contents", method = "get", operation_id = "list_blocked_contents")]
    async fn list(
        &self,
        _operator: Operator,
        /// The `next` of the page before.
        #[oai(validator(pattern = "^[0-9]{1,18}[.][0-9a-f]{64}$"))]
        after: Query<Option<String>>,
        service: Data<&Service>,
    ) -> ApiResult<Json<wire::BlockedContents>, List> {
        let unknown = |()| Refusal::invalid("after", "is no `next` of a list");
        let after = after.0.map(|text| text.parse()).transpose().map_err(unknown)?;
        Ok(Json(service.blocked_contents(after.as_ref()).await?.into()))
    }

    /// Take a content off the list
    ///
    /// New versions may bring it again. Versions that only this content has blocked are scanned again and served if
    /// they pass. Without the operator's secret: 404.
    #[oai(path = "/internal/blocked-contents/:sha256", method = "delete", operation_id = "unblock_content")]
    async fn unblock(
        &self,
        _operator: Operator,
        /// Who of the operator's people decides.
        #[oai(name = "X-Operator")]
        who: Header<DecidedBy>,
        /// The SHA-256 of the content, as the list has it.
        sha256: Path<BlobHash>,
        service: Data<&Service>,
    ) -> ApiResult<Json<wire::ContentUnblocked>, Unblock> {
        service.unblock_content(&who.0.0, sha256.0).await?;
        Ok(Json(sha256.0.into()))
    }
}
