//! Uploads to the addresses that the MCP tool `stage_upload` returns. The address is the only credential. It
//! must be checked before the body is read.

use poem::web::Data;
use poem_openapi::OpenApi;
use poem_openapi::param::Path;
use service::Service;

use super::Tag;
use crate::http::api_result::{ApiResult, Created, refusals};
use crate::http::permits::WorkClass;
use crate::http::refusal::RefusedCall;
use crate::http::upload::StagedUpload;
use crate::wire;

#[derive(Default)]
pub struct Uploads;

refusals! {
    Keep: InvalidRequest, AccountExpired, AccountSuspended, NotFound, UploadTaken, PublishTooLarge;
}

#[OpenApi(tag = "Tag::Artifacts")]
impl Uploads {
    /// Upload files to a staged address
    ///
    /// The MCP tool `stage_upload` returns the address. It needs no token, accepts one upload and expires
    /// after 15 minutes. Send a form with `html` or `files`, as for a publish. Any other content type is
    /// stored as one page. Nothing is published yet: call the MCP tool `publish_upload` within an hour.
    #[oai(path = "/v1/uploads/:ticket", method = "post", operation_id = "upload_files")]
    async fn post(
        &self,
        /// The last part of the address.
        ticket: Path<String>,
        upload: StagedUpload,
        service: Data<&Service>,
    ) -> ApiResult<Created<wire::KeptUpload>, Keep> {
        Ok(keep(&service, &ticket, upload).await?)
    }

    /// Upload files with PUT
    ///
    /// The same as `POST`, for tools that upload with `PUT`.
    #[oai(path = "/v1/uploads/:ticket", method = "put", operation_id = "put_files")]
    async fn put(
        &self,
        /// The last part of the address.
        ticket: Path<String>,
        upload: StagedUpload,
        service: Data<&Service>,
    ) -> ApiResult<Created<wire::KeptUpload>, Keep> {
        Ok(keep(&service, &ticket, upload).await?)
    }
}

async fn keep(
    service: &Service,
    ticket: &str,
    upload: StagedUpload,
) -> Result<Created<wire::KeptUpload>, RefusedCall> {
    let permit = upload.permit().clone();
    permit.refuse_if_full(WorkClass::Upload)?;
    let ticket = service.open_upload(ticket).await?;
    let read = upload.read().await?;
    permit.exchange_for(WorkClass::Upload).await?;
    let kept = service.keep_upload(ticket, read.files).await?;
    drop(read.memory);
    Ok(Created::without_address(kept.into()))
}
