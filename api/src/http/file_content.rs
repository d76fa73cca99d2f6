//! A published file as a response of the API. A browser that opens it must not run it with the rights of this
//! origin, where people are signed in.

use bytes::Bytes;
use domain::ManifestFile;
use futures::stream::BoxStream;
use poem::http::{HeaderValue, StatusCode, header};
use poem::{Body, IntoResponse, Response};
use poem_openapi::ApiResponse;
use poem_openapi::registry::{
    MetaMediaType, MetaResponse, MetaResponses, MetaSchema, MetaSchemaRef, Registry,
};

const SANDBOX: HeaderValue = HeaderValue::from_static("sandbox");

/// The bytes of a file, with its content type.
pub struct FileContent {
    content_type: String,
    size_bytes: u64,
    body: Body,
}

impl FileContent {
    pub fn new(file: &ManifestFile, bytes: BoxStream<'static, std::io::Result<Bytes>>) -> Self {
        Self {
            content_type: file.content_type.clone(),
            size_bytes: file.size_bytes,
            body: Body::from_bytes_stream(bytes),
        }
    }
}

impl IntoResponse for FileContent {
    fn into_response(self) -> Response {
        Response::builder()
            .status(StatusCode::OK)
            .content_type(&self.content_type)
            .header(header::CONTENT_LENGTH, self.size_bytes)
            .header(header::CONTENT_SECURITY_POLICY, SANDBOX)
            .body(self.body)
    }
}

impl ApiResponse for FileContent {
    fn meta() -> MetaResponses {
        let schema = MetaSchema { format: Some("binary"), ..MetaSchema::new("string") };
        let content = MetaMediaType { content_type: "*/*", schema: MetaSchemaRef::Inline(Box::new(schema)) };
        MetaResponses {
            responses: vec![MetaResponse {
                description: "The bytes of the file, with its content type.",
                status: Some(StatusCode::OK.as_u16()),
                status_range: None,
                content: vec![content],
                headers: vec![],
            }],
        }
    }

    fn register(_registry: &mut Registry) {}
}
