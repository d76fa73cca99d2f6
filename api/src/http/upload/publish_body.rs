//! The body of a publish in any of its forms: a multipart form, JSON, or an archive.

use domain::Refusal;
use poem::{Request, RequestBody};
use poem_openapi::error::ContentTypeError;
use poem_openapi::payload::Payload;
use poem_openapi::registry::{MetaMediaType, MetaRequest, MetaSchema, MetaSchemaRef, Registry};
use poem_openapi::{ApiExtractor, ApiExtractorType, ExtractParamOptions};

use super::archive::ArchiveUpload;
use super::json::JsonUpload;
use super::whole_body::WholeBody;
use super::{NamedUpload, Upload, Uploaded, inline};
use crate::http::permits::RequestPermit;
use crate::http::publish_type::{ArchiveKind, PublishType};

/// A body that has not been read yet.
pub enum PublishBody {
    Form(Upload),
    Json(JsonUpload),
    Archive(ArchiveUpload),
}

impl PublishBody {
    /// The body of a request, by its content type.
    pub fn of(request: &Request, body: &mut RequestBody) -> poem::Result<Self> {
        let Some(kind) = PublishType::of(request) else {
            return Err(ContentTypeError::ExpectContentType.into());
        };
        if kind == PublishType::Form {
            return Ok(Self::Form(Upload::of(request, body)?));
        }
        let body = WholeBody::of(request, body)?;
        Ok(match kind {
            PublishType::Archive(kind) => Self::Archive(ArchiveUpload { kind, body }),
            PublishType::Form | PublishType::Json => Self::Json(JsonUpload(body)),
        })
    }

    /// The permit of the request.
    pub fn permit(&self) -> &RequestPermit {
        match self {
            Self::Form(upload) => upload.permit(),
            Self::Json(JsonUpload(body)) | Self::Archive(ArchiveUpload { body, .. }) => &body.permit,
        }
    }

    /// Reads the body without a permit. `named` comes from the query and applies only to archives.
    pub async fn read(self, named: NamedUpload) -> Result<Uploaded, Refusal> {
        match self {
            Self::Form(upload) => upload.read().await,
            Self::Json(upload) => upload.read().await,
            Self::Archive(upload) => upload.read(named).await,
        }
    }
}

fn archive_schema() -> MetaSchemaRef {
    inline(MetaSchema {
        description: Some(
            "The files of a site as an archive; gzip and zstd have a tar inside. Slug and message are in the \
             query. A folder around all files is left out if `index.html` is in it.",
        ),
        format: Some("binary"),
        min_length: Some(1),
        ..MetaSchema::new("string")
    })
}

impl<'a> ApiExtractor<'a> for PublishBody {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::RequestObject];

    type ParamType = ();
    type ParamRawType = ();

    fn register(_registry: &mut Registry) {}

    fn request_meta() -> Option<MetaRequest> {
        let media = |kind: PublishType, schema| MetaMediaType { content_type: kind.content_type(), schema };
        let mut content = vec![
            media(PublishType::Form, Upload::schema_ref()),
            media(PublishType::Json, JsonUpload::schema()),
        ];
        content.extend(ArchiveKind::ALL.map(|kind| media(PublishType::Archive(kind), archive_schema())));
        Some(MetaRequest { description: None, content, required: true })
    }

    async fn from_request(
        request: &'a Request,
        body: &mut RequestBody,
        _options: ExtractParamOptions<()>,
    ) -> poem::Result<Self> {
        Self::of(request, body)
    }
}

#[cfg(test)]
mod tests;
