//! Builds responses, whole or partial.

use std::ops::Range;

use bytes::Bytes;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use poem::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use poem::{Body, Response};
use telemetry::HealthResponse;

use crate::content::{LoadedContent, Source};
use crate::patience::Patience;

pub const BYTES: HeaderValue = HeaderValue::from_static("bytes");
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
const NOSNIFF: HeaderValue = HeaderValue::from_static("nosniff");
/// Characters that a URL must not contain (RFC 3986). A percent sign stays, so nothing is encoded twice.
const NOT_IN_ADDRESSES: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'<')
    .add(b'>')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

pub async fn whole(
    status: StatusCode,
    mut headers: HeaderMap,
    source: Source,
    patience: Patience,
) -> anyhow::Result<Response> {
    headers.insert(header::CONTENT_LENGTH, source.length());
    Ok(respond(status, headers, source.whole(patience).await?))
}

/// A whole content in memory.
pub fn loaded(mut headers: HeaderMap, content: &LoadedContent) -> Response {
    headers.insert(header::ETAG, content.etag.clone());
    headers.insert(header::ACCEPT_RANGES, BYTES);
    headers.insert(header::CONTENT_LENGTH, content.length.clone());
    respond(StatusCode::OK, headers, Body::from_bytes(content.bytes.clone()))
}

/// The response of `whole` without its body, for HEAD.
pub fn headers_only(mut headers: HeaderMap, source: &Source) -> Response {
    headers.insert(header::CONTENT_LENGTH, source.length());
    respond(StatusCode::OK, headers, Body::empty())
}

/// A response of unknown length.
pub fn stream(status: StatusCode, headers: HeaderMap, body: Body) -> Response {
    respond(status, headers, body)
}

pub async fn part(
    mut headers: HeaderMap,
    source: Source,
    part: Range<u64>,
    patience: Patience,
) -> anyhow::Result<Response> {
    let range = content_range(&part, source.size_bytes());
    headers.insert(header::CONTENT_RANGE, HeaderValue::try_from(range)?);
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(part.end - part.start));
    Ok(respond(StatusCode::PARTIAL_CONTENT, headers, source.part(part, patience).await?))
}

/// Several parts as `multipart/byteranges`. The boundary must not occur in the content.
pub async fn parts(
    mut headers: HeaderMap,
    source: Source,
    parts: Vec<Range<u64>>,
    boundary: &str,
    patience: Patience,
) -> anyhow::Result<Response> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let opening = |part: Range<u64>| {
        let range = content_range(&part, source.size_bytes());
        let text = format!("\r\n--{boundary}\r\nContent-Type: {kind}\r\nContent-Range: {range}\r\n\r\n");
        (Bytes::from(text), part)
    };
    let parts: Vec<_> = parts.into_iter().map(opening).collect();
    let closing = Bytes::from(format!("\r\n--{boundary}--\r\n"));
    let parts_bytes: u64 =
        parts.iter().map(|(opening, part)| opening.len() as u64 + part.end - part.start).sum();
    let kind = HeaderValue::try_from(format!("multipart/byteranges; boundary={boundary}"))?;
    headers.insert(header::CONTENT_TYPE, kind);
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(parts_bytes + closing.len() as u64));
    Ok(respond(StatusCode::PARTIAL_CONTENT, headers, source.parts(parts, closing, patience).await?))
}

fn content_range(part: &Range<u64>, size_bytes: u64) -> String {
    format!("bytes {}-{}/{size_bytes}", part.start, part.end - 1)
}

pub fn not_modified(mut headers: HeaderMap, etag: HeaderValue) -> Response {
    headers.insert(header::ETAG, etag);
    respond(StatusCode::NOT_MODIFIED, headers, Body::empty())
}

/// Redirects to the path with a trailing slash, to the site's own name or to its only page. The query, and
/// with it a `sig`, is kept.
pub fn redirect(headers: HeaderMap, path: String, query: Option<&str>) -> anyhow::Result<Response> {
    let location = query.map_or(path.clone(), |query| format!("{path}?{query}"));
    redirect_to(StatusCode::MOVED_PERMANENTLY, headers, &location)
}

/// The `Link` from the address of a version to the live one.
pub fn canonical(live: &str) -> Option<HeaderValue> {
    let live = utf8_percent_encode(live, NOT_IN_ADDRESSES);
    HeaderValue::try_from(format!("<{live}>; rel=\"canonical\"")).ok()
}

/// Redirects to the same file with the `sig` before the rest of the query.
pub fn redirect_signed(headers: HeaderMap, uri: &Uri, signature: &str) -> anyhow::Result<Response> {
    let query = uri.query().map_or_else(String::new, |query| format!("&{query}"));
    let location = format!("{}?sig={signature}{query}", uri.path());
    redirect_to(StatusCode::FOUND, headers, &location)
}

pub fn redirect_to(status: StatusCode, mut headers: HeaderMap, location: &str) -> anyhow::Result<Response> {
    headers.insert(header::LOCATION, address(location)?);
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(0));
    Ok(respond(status, headers, Body::empty()))
}

/// Encodes raw UTF-8 for the `Location` header. Requests may contain it, responses may not.
fn address(text: &str) -> anyhow::Result<HeaderValue> {
    Ok(HeaderValue::try_from(utf8_percent_encode(text, NOT_IN_ADDRESSES).to_string())?)
}

/// The response to a health probe.
pub fn health(health: HealthResponse) -> Response {
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(health.content_type));
    headers.insert(header::CACHE_CONTROL, NO_STORE);
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, NOSNIFF);
    let status = StatusCode::from_u16(health.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    respond(status, headers, Body::from(health.body))
}

fn respond(status: StatusCode, headers: HeaderMap, body: Body) -> Response {
    let mut response = Response::builder().status(status).body(body);
    *response.headers_mut() = headers;
    response
}
