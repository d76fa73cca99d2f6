//! The files of a version for the operator's staff: rendered without any capability, or as source. A page may
//! be made to attack its reviewer, so it must get no scripts, forms, origin or network. Errors are plain
//! text, because the frame shows them.

use bytes::Bytes;
use domain::{Missing, Refusal};
use encoding_rs::UTF_8;
use futures::TryStreamExt;
use futures::stream::BoxStream;
use poem::http::{HeaderName, HeaderValue, StatusCode, header};
use poem::web::Data;
use poem::{Body, Request, Response, handler};
use service::{Service, ShownFile, text_of};

use super::case::host_of;
use super::guard::Ticketed;
use super::hints::without_hints;
use crate::html::accepts_html;
use crate::html::faults::Faults;
use crate::http::refusal::{RefusedCall, status_of};

const SANDBOX: HeaderValue = HeaderValue::from_static(
    "sandbox; default-src 'none'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; font-src 'self' data:; \
     form-action 'none'; frame-ancestors 'self'",
);
const TEXT_SANDBOX: HeaderValue =
    HeaderValue::from_static("sandbox; default-src 'none'; form-action 'none'; frame-ancestors 'self'");
const HEADERS: [(HeaderName, HeaderValue); 5] = [
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (HeaderName::from_static("x-robots-tag"), HeaderValue::from_static("noindex")),
    (HeaderName::from_static("x-dns-prefetch-control"), HeaderValue::from_static("off")),
];

const PLAIN: &str = "text/plain; charset=utf-8";
const DOCUMENTS: [&str; 2] = ["text/html", "application/xhtml+xml"];

/// A file as a visitor's browser would get it, but sandboxed.
#[handler]
pub async fn show(request: &Request, service: Data<&Service>) -> Result<Response, RefusedCall> {
    framed(request, render(request, &service).await)
}

/// The same as plain text.
#[handler]
pub async fn source(request: &Request, service: Data<&Service>) -> Result<Response, RefusedCall> {
    framed(request, source_of(request, &service).await)
}

/// A message in place of a file.
pub fn in_frame(status: StatusCode, text: &str) -> Response {
    let response = Response::builder().status(status).content_type(PLAIN).body(text.to_owned());
    sandboxed(response, TEXT_SANDBOX)
}

async fn render(request: &Request, service: &Service) -> Result<Response, RefusedCall> {
    let path = match request.data::<Ticketed>() {
        Some(Ticketed(path)) => path,
        None => request.raw_path_param("path").unwrap_or_default(),
    };
    let (content_type, size_bytes, bytes) =
        match service.file_to_review(&host_of(request)?, seq_of(request)?, path).await? {
            ShownFile::Folder => return Ok(to_folder(request)),
            ShownFile::File { content_type, size_bytes, bytes } => (content_type, size_bytes, bytes),
        };
    let essence = content_type.split(';').next().unwrap_or_default().trim_end();
    let response = if DOCUMENTS.contains(&essence) {
        let bytes = whole(bytes, size_bytes).await?;
        // As in browsers, a byte order mark takes precedence over the declared encoding.
        let document = without_hints(&UTF_8.decode(&bytes).0)?;
        Response::builder().content_type(format!("{essence}; charset=utf-8")).body(document)
    } else {
        Response::builder()
            .content_type(&content_type)
            .header(header::CONTENT_LENGTH, size_bytes)
            .body(Body::from_bytes_stream(bytes))
    };
    let mut response = sandboxed(response, SANDBOX);
    // Browsers fetch fonts with CORS, and a sandboxed page has an opaque origin, so fonts must be readable
    // from any origin.
    if is_font(&content_type) {
        response.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    }
    Ok(response)
}

async fn source_of(request: &Request, service: &Service) -> Result<Response, RefusedCall> {
    let path = request.raw_path_param("path").unwrap_or_default();
    match service.file_to_review(&host_of(request)?, seq_of(request)?, path).await? {
        ShownFile::Folder => Ok(to_folder(request)),
        ShownFile::File { size_bytes, bytes, .. } => {
            let text = text_of(&whole(bytes, size_bytes).await?).into_owned();
            Ok(sandboxed(Response::builder().content_type(PLAIN).body(text), TEXT_SANDBOX))
        }
    }
}

/// A whole file in memory. The size of a publish, and so of a file, is limited.
async fn whole(
    bytes: BoxStream<'static, std::io::Result<Bytes>>,
    size_bytes: u64,
) -> Result<Vec<u8>, RefusedCall> {
    let buffer = Vec::with_capacity(usize::try_from(size_bytes).unwrap_or_default());
    let read = bytes.try_fold(buffer, async |mut read, chunk| {
        read.extend_from_slice(&chunk);
        Ok(read)
    });
    read.await.map_err(|error| service::Failure::from(anyhow::Error::from(error)).into())
}

/// A refusal as text for people. A frame cannot show the usual error page.
fn framed(request: &Request, answer: Result<Response, RefusedCall>) -> Result<Response, RefusedCall> {
    match answer {
        Err(RefusedCall(refusal)) if accepts_html(request) => {
            let faults = Faults::of(&refusal, &[], request.uri().path());
            let text = faults.whole().map(|text| format!("{} {}", text.what, text.next));
            Ok(in_frame(status_of(&refusal), &text.unwrap_or_default()))
        }
        answer => answer,
    }
}

fn to_folder(request: &Request) -> Response {
    let folder = format!("{}/", request.original_uri().path());
    let response = Response::builder().status(StatusCode::FOUND).header(header::LOCATION, folder).finish();
    sandboxed(response, SANDBOX)
}

fn sandboxed(mut response: Response, policy: HeaderValue) -> Response {
    let headers = response.headers_mut();
    headers.extend(HEADERS.map(|(name, value)| (name, value)));
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    response
}

fn is_font(content_type: &str) -> bool {
    content_type.starts_with("font/") || content_type.starts_with("application/font-")
}

fn seq_of(request: &Request) -> Result<u32, Refusal> {
    let seq = request.raw_path_param("seq").unwrap_or_default();
    seq.parse().map_err(|_| Refusal::NotFound(Missing::ReviewedVersion))
}
