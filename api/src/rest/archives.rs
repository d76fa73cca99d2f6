//! A version as an archive.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use domain::{FileSet, Slug};
use futures::stream;
use poem::http::{HeaderValue, StatusCode, header};
use poem::web::Data;
use poem::web::headers::{ETag, HeaderMapExt, IfNoneMatch};
use poem::{Body, IntoResponse, Request, Response};
use poem_openapi::registry::{
    MetaHeader, MetaMediaType, MetaResponse, MetaResponses, MetaSchema, MetaSchemaRef, Registry,
};
use poem_openapi::types::Type;
use poem_openapi::{ApiResponse, OpenApi};
use service::{ArchiveFormat, Service, SiteArchive, VersionFiles};

use super::Tag;
use crate::http::api_result::{ApiResult, refusals};
use crate::http::archive_format::FormatParameter;
use crate::http::caller::Token;
use crate::http::path_part::Path;
use crate::http::permits::{RequestPermit, WorkClass};
use crate::http::refusal::RefusedCall;
use crate::http::upload_budget::{BodyShare, HeldMemory};
use crate::http::version_parameter::VersionParameter;

/// What the entries of an archive add to its files, with room to spare: 50 names in two places.
const OVERHEAD_BYTES: usize = 256 * 1024;
/// What is given to the connection at a time.
const CHUNK_BYTES: usize = 64 * 1024;

#[derive(Default)]
pub struct Archives;

refusals! {
    Download: InvalidRequest, Unauthorized, NotSignedIn, InsufficientScope, Forbidden, NotFound;
}

/// An archive, or only its headers if the client has it already.
pub struct ArchiveContent {
    archive: SiteArchive,
    format: ArchiveFormat,
    file_name: String,
    /// Held until the archive is sent.
    memory: HeldMemory,
    is_known: bool,
}

#[OpenApi(tag = "Tag::Artifacts")]
impl Archives {
    /// Download a version as an archive
    ///
    /// Returns all files of a version as they were published. The same version gives the same bytes.
    /// `Repr-Digest` has their SHA-256. Needs the scope `artifacts:read`.
    #[oai(path = "/v1/artifacts/:slug/archive", method = "get", operation_id = "download_version")]
    async fn archive(
        &self,
        caller: Token,
        /// The artifact's name within the account.
        slug: Path<Slug>,
        /// The `seq` of a version, or `live` for the live one. If omitted, the live one.
        version: VersionParameter,
        /// The format. If omitted, `zip`.
        format: FormatParameter,
        request: &Request,
        service: Data<&Service>,
    ) -> ApiResult<ArchiveContent, Download> {
        let FormatParameter(format) = format;
        let files = service.version_files(&caller.0, &slug.0, version.0).await?;
        let memory = reserve(request, &files).await?;
        let archive = service.archive(&files, format).await?;
        let known: Option<IfNoneMatch> = request.headers().typed_get();
        let is_known =
            known.zip(tag_of(&archive)).is_some_and(|(known, tag)| !known.precondition_passes(&tag));
        let file_name = format!("{}-v{}.{}", slug.0, files.seq, ending_of(format));
        Ok(ArchiveContent { archive, format, file_name, memory, is_known })
    }
}

/// The contents and the archive are in memory together. Reading them may wait for the blob store.
async fn reserve(request: &Request, files: &VersionFiles) -> Result<HeldMemory, RefusedCall> {
    RequestPermit::of(request).exchange_for(WorkClass::Upload).await?;
    let content_bytes = usize::try_from(files.manifest.total_bytes().min(FileSet::BYTES_MAX));
    let mut memory = BodyShare::of(request).enter();
    memory.grow(2 * content_bytes.unwrap_or_default() + OVERHEAD_BYTES).await?;
    Ok(memory)
}

/// Strong, because the archive is always the same.
fn tag_of(archive: &SiteArchive) -> Option<ETag> {
    format!("\"{}\"", archive.hash).parse().ok()
}

fn ending_of(format: ArchiveFormat) -> &'static str {
    match format {
        ArchiveFormat::Zip => "zip",
        ArchiveFormat::TarGz => "tar.gz",
    }
}

fn content_type_of(format: ArchiveFormat) -> &'static str {
    match format {
        ArchiveFormat::Zip => "application/zip",
        ArchiveFormat::TarGz => "application/gzip",
    }
}

/// The archive in chunks. Its memory is freed when the last one is sent, or the client disconnects.
fn body_of(bytes: Bytes, memory: HeldMemory) -> Body {
    let chunks = stream::unfold((bytes, memory), async |(mut rest, memory)| {
        let chunk = rest.split_to(rest.len().min(CHUNK_BYTES));
        (!chunk.is_empty()).then(|| (Ok::<_, std::io::Error>(chunk), (rest, memory)))
    });
    Body::from_bytes_stream(chunks)
}

impl IntoResponse for ArchiveContent {
    fn into_response(self) -> Response {
        let Self { archive, format, file_name, memory, is_known } = self;
        let tag = tag_of(&archive);
        let digest = format!("sha-256=:{}:", STANDARD.encode(archive.hash.bytes()));
        let mut response = if is_known {
            Response::builder().status(StatusCode::NOT_MODIFIED).finish()
        } else {
            Response::builder()
                .content_type(content_type_of(format))
                .header(header::CONTENT_LENGTH, archive.bytes.len())
                .header(header::CONTENT_DISPOSITION, format!("attachment; filename=\"{file_name}\""))
                .header("Repr-Digest", digest)
                .body(body_of(archive.bytes, memory))
        };
        if let Some(tag) = tag {
            response.headers_mut().typed_insert(tag);
        }
        // A shared cache must not store it, and the account's own copy must be checked again.
        let private = HeaderValue::from_static("private, no-cache");
        response.headers_mut().insert(header::CACHE_CONTROL, private);
        response
    }
}

impl ApiResponse for ArchiveContent {
    fn meta() -> MetaResponses {
        let schema = MetaSchema { format: Some("binary"), ..MetaSchema::new("string") };
        let media = |format| MetaMediaType {
            content_type: content_type_of(format),
            schema: MetaSchemaRef::Inline(Box::new(schema.clone())),
        };
        let response = |status: StatusCode, description, content, headers| MetaResponse {
            description,
            status: Some(status.as_u16()),
            status_range: None,
            content,
            headers,
        };
        let content = [ArchiveFormat::Zip, ArchiveFormat::TarGz].map(media).into();
        let headers = vec![
            documented("Repr-Digest", "The SHA-256 of the archive, as RFC 9530 defines it."),
            documented("ETag", "The same for the same bytes. Send it as `If-None-Match`."),
        ];
        MetaResponses {
            responses: vec![
                response(StatusCode::OK, "The archive.", content, headers),
                response(StatusCode::NOT_MODIFIED, "`If-None-Match` names this archive.", vec![], vec![]),
            ],
        }
    }

    fn register(_registry: &mut Registry) {}
}

fn documented(name: &str, description: &str) -> MetaHeader {
    MetaHeader {
        name: name.to_owned(),
        description: Some(description.to_owned()),
        required: true,
        deprecated: false,
        schema: String::schema_ref(),
    }
}
