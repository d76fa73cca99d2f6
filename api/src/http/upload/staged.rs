//! The body of a staged upload: a publish form, or a bare page, which is what most tools send by default.

use bytes::BytesMut;
use domain::{FileSet, Refusal, SitePath};
use futures::StreamExt;
use poem::{Body, Request, RequestBody};
use poem_openapi::payload::{ParsePayload, Payload};
use poem_openapi::registry::{MetaMediaType, MetaRequest, MetaSchema, MetaSchemaRef, Registry};
use poem_openapi::{ApiExtractor, ApiExtractorType, ExtractParamOptions};
use service::UploadedFile;

use super::{Upload, Uploaded, files_schema, html_schema, incomplete, inline, refusal_behind, requiring};
use crate::http::permits::RequestPermit;
use crate::http::upload_budget::{BodyShare, HeldMemory};

/// A body that has not been read yet.
pub enum StagedUpload {
    Form(Upload),
    /// Any other content type: the bytes of `index.html`.
    Page(PageBody),
}

pub struct PageBody {
    body: Body,
    share: BodyShare,
    permit: RequestPermit,
}

/// A body that was read and is valid.
pub struct ReadUpload {
    pub files: Vec<UploadedFile>,
    /// Must be held as long as the files are in memory.
    pub memory: HeldMemory,
}

impl StagedUpload {
    /// The permit of the request.
    pub fn permit(&self) -> &RequestPermit {
        match self {
            StagedUpload::Form(upload) => upload.permit(),
            StagedUpload::Page(page) => &page.permit,
        }
    }

    /// Reads the body without a permit, as [`Upload::read`] does.
    pub async fn read(self) -> Result<ReadUpload, Refusal> {
        match self {
            StagedUpload::Form(upload) => files_of(upload.read().await?),
            StagedUpload::Page(page) => page.read().await,
        }
    }
}

fn files_of(uploaded: Uploaded) -> Result<ReadUpload, Refusal> {
    let Uploaded { slug, message, expected_version: _, site, memory } = uploaded;
    let base = site.base.as_ref().map(|_| "base");
    let manifest = (!site.is_complete()).then_some("manifest");
    let field = slug.map(|_| "slug").or(message.map(|_| "message")).or(base).or(manifest);
    match field {
        Some(field) => Err(Refusal::invalid(field, "belongs to the publish, not to the upload")),
        None => Ok(ReadUpload { files: site.into_sent_files(), memory }),
    }
}

impl PageBody {
    async fn read(self) -> Result<ReadUpload, Refusal> {
        self.permit.release();
        let mut memory = self.share.enter();
        let (path, mut set) = (SitePath::index(), FileSet::default());
        set.add(&path)?;
        let mut page = BytesMut::new();
        let mut body = Box::pin(self.body.into_bytes_stream());
        while let Some(chunk) = body.next().await {
            let chunk = chunk.map_err(|error| refusal_behind(&error).unwrap_or_else(incomplete))?;
            set.grow(chunk.len())?;
            memory.grow(chunk.len()).await?;
            page.extend_from_slice(&chunk);
        }
        if page.is_empty() {
            return Err(Refusal::invalid("body", "is empty; send a form with files, or a page as it is"));
        }
        Ok(ReadUpload { files: vec![UploadedFile { path, bytes: page.freeze() }], memory })
    }
}

fn form_schema() -> MetaSchemaRef {
    inline(MetaSchema {
        description: Some("Send `html` or `files`, not both."),
        properties: vec![("html", html_schema()), ("files", files_schema())],
        one_of: vec![requiring("html"), requiring("files")],
        ..MetaSchema::new("object")
    })
}

fn page_schema() -> MetaSchemaRef {
    inline(MetaSchema {
        description: Some("The bytes of `index.html`."),
        format: Some("binary"),
        min_length: Some(1),
        ..MetaSchema::new("string")
    })
}

impl<'a> ApiExtractor<'a> for StagedUpload {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::RequestObject];

    type ParamType = ();
    type ParamRawType = ();

    fn register(_registry: &mut Registry) {}

    fn request_meta() -> Option<MetaRequest> {
        let form = MetaMediaType { content_type: Upload::CONTENT_TYPE, schema: form_schema() };
        let page = MetaMediaType { content_type: "application/octet-stream", schema: page_schema() };
        Some(MetaRequest { description: None, content: vec![form, page], required: true })
    }

    async fn from_request(
        request: &'a Request,
        body: &mut RequestBody,
        _options: ExtractParamOptions<()>,
    ) -> poem::Result<Self> {
        if request.content_type().is_some_and(Upload::check_content_type) {
            return Ok(Self::Form(<Upload as ParsePayload>::from_request(request, body).await?));
        }
        let (share, permit) = (BodyShare::of(request), RequestPermit::of(request));
        Ok(Self::Page(PageBody { body: body.take()?, share, permit }))
    }
}
