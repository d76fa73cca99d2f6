//! What a version holds, for the operator's people alone: as a page that can do nothing, or as the text that it is. It
//! is what somebody may have made to harm whoever looks; it must get neither script nor form nor origin nor network.
//! What is wrong is told here as text that the frame shows.

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

/// A file as a visitor's browser would get it, but tied up.
#[handler]
pub async fn show(request: &Request, service: Data<&Service>) -> Result<Response, RefusedCall> {
    framed(request, shown(request, &service).await)
}

/// The same as plain text.
#[handler]
pub async fn source(request: &Request, service: Data<&Service>) -> Result<Response, RefusedCall> {
    framed(request, source_of(request, &service).await)
}

/// What is told in the place of a file.
pub fn in_frame(status: StatusCode, words: &str) -> Response {
    let told = Response::builder().status(status).content_type(PLAIN).body(words.to_owned());
    tied_up(told, TEXT_SANDBOX)
}

async fn shown(request: &Request, service: &Service) -> Result<Response, RefusedCall> {
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
        // As browsers do: a byte order mark outranks what is said of the page.
        let document = without_hints(&UTF_8.decode(&bytes).0)?;
        Response::builder().content_type(format!("{essence}; charset=utf-8")).body(document)
    } else {
        Response::builder()
            .content_type(&content_type)
            .header(header::CONTENT_LENGTH, size_bytes)
            .body(Body::from_bytes_stream(bytes))
    };
    let mut response = tied_up(response, SANDBOX);
    // Browsers fetch a font as a script would, and what has no origin may only fetch what anybody may.
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
            Ok(tied_up(Response::builder().content_type(PLAIN).body(text), TEXT_SANDBOX))
        }
    }
}

/// A file at once. A publish has a bound, and so has a file of it.
async fn whole(
    bytes: BoxStream<'static, std::io::Result<Bytes>>,
    size_bytes: u64,
) -> Result<Vec<u8>, RefusedCall> {
    let room = Vec::with_capacity(usize::try_from(size_bytes).unwrap_or_default());
    let read = bytes.try_fold(room, async |mut read, chunk| {
        read.extend_from_slice(&chunk);
        Ok(read)
    });
    read.await.map_err(|error| service::Failure::from(anyhow::Error::from(error)).into())
}

/// A refusal as text for people: the page of other refusals is shown in no frame.
fn framed(request: &Request, answer: Result<Response, RefusedCall>) -> Result<Response, RefusedCall> {
    match answer {
        Err(RefusedCall(refusal)) if accepts_html(request) => {
            let faults = Faults::of(&refusal, &[], request.uri().path());
            let words = faults.whole().map(|told| format!("{} {}", told.what, told.next));
            Ok(in_frame(status_of(&refusal), &words.unwrap_or_default()))
        }
        answer => answer,
    }
}

fn to_folder(request: &Request) -> Response {
    let folder = format!("{}/", request.original_uri().path());
    let response = Response::builder().status(StatusCode::FOUND).header(header::LOCATION, folder).finish();
    tied_up(response, SANDBOX)
}

fn tied_up(mut response: Response, policy: HeaderValue) -> Response {
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
