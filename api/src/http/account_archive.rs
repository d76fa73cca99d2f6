//! Everything of an account as an archive, as a response.

use bytes::Bytes;
use domain::FileSet;
use futures::StreamExt;
use futures::stream::BoxStream;
use poem::http::{HeaderValue, StatusCode, header};
use poem::{Body, IntoResponse, Request, Response};
use poem_openapi::ApiResponse;
use poem_openapi::registry::{
    MetaMediaType, MetaResponse, MetaResponses, MetaSchema, MetaSchemaRef, Registry,
};
use service::{Caller, Service};

use super::permits::{RequestPermit, WorkClass};
use super::refusal::RefusedCall;
use super::upload_budget::BodyShare;

const TAR_GZ: &str = "application/gzip";

/// An archive that is made while it is sent.
pub struct AccountArchive {
    file_name: String,
    chunks: BoxStream<'static, std::io::Result<Bytes>>,
}

/// The export of the caller's account. The memory for one content and what it is packed into is held until
/// the archive is sent.
pub async fn account_archive(
    service: &Service,
    caller: &Caller,
    request: &Request,
) -> Result<AccountArchive, RefusedCall> {
    let begun = service.begin_export(caller).await?;
    RequestPermit::of(request).exchange_for(WorkClass::Upload).await?;
    let mut memory = BodyShare::of(request).enter();
    memory.grow(2 * usize::try_from(FileSet::BYTES_MAX).unwrap_or(usize::MAX / 2)).await?;
    let chunks = service.export(&begun).await?.map(move |chunk| {
        let _held = &memory;
        chunk
    });
    Ok(AccountArchive { file_name: format!("{}.tar.gz", begun.handle), chunks: chunks.boxed() })
}

impl IntoResponse for AccountArchive {
    fn into_response(self) -> Response {
        let Self { file_name, chunks } = self;
        let mut response = Response::builder()
            .content_type(TAR_GZ)
            .header(header::CONTENT_DISPOSITION, format!("attachment; filename=\"{file_name}\""))
            .body(Body::from_bytes_stream(chunks));
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        response
    }
}

impl ApiResponse for AccountArchive {
    fn meta() -> MetaResponses {
        let schema = MetaSchema { format: Some("binary"), ..MetaSchema::new("string") };
        let content = MetaMediaType { content_type: TAR_GZ, schema: MetaSchemaRef::Inline(Box::new(schema)) };
        MetaResponses {
            responses: vec![MetaResponse {
                description: "The archive.",
                status: Some(StatusCode::OK.as_u16()),
                status_range: None,
                content: vec![content],
                headers: vec![],
            }],
        }
    }

    fn register(_registry: &mut Registry) {}
}
