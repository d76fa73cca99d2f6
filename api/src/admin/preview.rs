//! What a version holds, for the operator's people alone: as a page that can do nothing, or as the text that it is. It
//! is what somebody may have made to harm whoever looks; it must get neither script nor form nor origin nor network.

use domain::{Missing, Refusal};
use poem::http::{HeaderName, HeaderValue, StatusCode, header};
use poem::web::Data;
use poem::{Body, Request, Response, handler};
use service::{Service, ShownFile};

use super::case::host_of;
use super::guard::Ticketed;
use crate::refusal::RefusedCall;

const SANDBOX: HeaderValue = HeaderValue::from_static(
    "sandbox; default-src 'none'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; font-src 'self' data:; \
     form-action 'none'; frame-ancestors 'self'",
);
const TEXT_SANDBOX: HeaderValue =
    HeaderValue::from_static("sandbox; default-src 'none'; form-action 'none'; frame-ancestors 'self'");
const HEADERS: [(HeaderName, HeaderValue); 4] = [
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (HeaderName::from_static("x-robots-tag"), HeaderValue::from_static("noindex")),
];

/// A file as a visitor's browser would get it, but tied up.
#[handler]
pub async fn show(request: &Request, service: Data<&Service>) -> Result<Response, RefusedCall> {
    let path = match request.data::<Ticketed>() {
        Some(Ticketed(path)) => path,
        None => request.raw_path_param("path").unwrap_or_default(),
    };
    let file = service.file_to_review(&host_of(request)?, seq_of(request)?, path).await?;
    Ok(answer(file, request, SANDBOX, |content_type| content_type))
}

/// The same as plain text.
#[handler]
pub async fn source(request: &Request, service: Data<&Service>) -> Result<Response, RefusedCall> {
    let path = request.raw_path_param("path").unwrap_or_default();
    let file = service.file_to_review(&host_of(request)?, seq_of(request)?, path).await?;
    Ok(answer(file, request, TEXT_SANDBOX, |_| "text/plain; charset=utf-8".to_owned()))
}

fn is_font(content_type: &str) -> bool {
    content_type.starts_with("font/") || content_type.starts_with("application/font-")
}

fn seq_of(request: &Request) -> Result<u32, Refusal> {
    let seq = request.raw_path_param("seq").unwrap_or_default();
    seq.parse().map_err(|_| Refusal::NotFound(Missing::Version))
}

fn answer(
    file: ShownFile,
    request: &Request,
    policy: HeaderValue,
    type_of: impl FnOnce(String) -> String,
) -> Response {
    let mut response = match file {
        ShownFile::Folder => {
            let folder = format!("{}/", request.original_uri().path());
            Response::builder().status(StatusCode::FOUND).header(header::LOCATION, folder).finish()
        }
        ShownFile::File { content_type, size_bytes, bytes } => Response::builder()
            .content_type(type_of(content_type))
            .header(header::CONTENT_LENGTH, size_bytes)
            .body(Body::from_bytes_stream(bytes)),
    };
    let headers = response.headers_mut();
    headers.extend(HEADERS.map(|(name, value)| (name, value)));
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    // Browsers fetch a font as a script would, and what has no origin may only fetch what anybody may.
    if headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).is_some_and(is_font) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    }
    response
}
