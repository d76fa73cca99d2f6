//! How documents and pages are sent: with an `ETag`, as a 304 if the client has them, and compressed if the
//! client accepts it. Responses for programs are not changed: they are small, and some contain secrets that
//! are shown once.

use std::sync::Arc;

use bytes::Bytes;
use domain::{BlobHash, Encoding, Refusal, choose_encoding};
use poem::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use poem::web::headers::{ETag, HeaderMapExt, IfNoneMatch};
use poem::{Body, Endpoint, IntoResponse, Middleware, Request, Response};
use quick_cache::sync::Cache;
use tokio::task::spawn_blocking;

use crate::http::refusal::RefusedCall;

/// Shorter content is not compressed: it fits into one packet.
const ENCODED_BYTES_MIN: usize = 1_024;
/// Longer content is compressed on a blocking thread.
const IN_PLACE_BYTES_MAX: usize = 64 * 1_024;
/// The number of compressed documents in the cache. There are about 40 documents, in three encodings.
const KEPT_MAX: usize = 128;
/// How much of the content's hash is in an `ETag`.
const TAG_LENGTH: usize = 32;

/// The middleware. It caches the compressed forms of public documents.
#[derive(Clone)]
pub struct Representation(Arc<Cache<(BlobHash, Encoding), Bytes>>);

pub struct Represented<E> {
    inner: E,
    kept: Representation,
}

/// The client's `If-None-Match` and accepted encodings.
struct Wanted {
    is_get: bool,
    encodings: Vec<HeaderValue>,
    has: Option<IfNoneMatch>,
}

impl Default for Representation {
    fn default() -> Self {
        Self(Arc::new(Cache::new(KEPT_MAX)))
    }
}

impl<E: Endpoint> Middleware<E> for Representation {
    type Output = Represented<E>;

    fn transform(&self, inner: E) -> Self::Output {
        Represented { inner, kept: self.clone() }
    }
}

impl<E: Endpoint> Endpoint for Represented<E> {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        let wanted = Wanted::of(&request);
        let response = self.inner.call(request).await?.into_response();
        if wanted.is_get && is_whole(&response) {
            return self.kept.represent(response, &wanted).await;
        }
        Ok(response)
    }
}

impl Wanted {
    fn of(request: &Request) -> Self {
        Self {
            is_get: request.method() == Method::GET,
            encodings: request.headers().get_all(header::ACCEPT_ENCODING).iter().cloned().collect(),
            has: request.headers().typed_get(),
        }
    }

    fn encoding(&self) -> Option<Encoding> {
        let lines = self.encodings.iter().filter_map(|line| line.to_str().ok());
        choose_encoding(lines, Encoding::ALL.into_iter())
    }
}

/// Adds to what the response already varies by.
fn vary_by_encoding(headers: &mut HeaderMap) {
    let earlier = headers.get(header::VARY).and_then(|value| value.to_str().ok());
    let vary =
        earlier.map_or_else(|| "Accept-Encoding".to_owned(), |vary| format!("{vary}, Accept-Encoding"));
    if let Ok(vary) = HeaderValue::try_from(vary) {
        headers.insert(header::VARY, vary);
    }
}

impl Representation {
    async fn represent(&self, mut response: Response, wanted: &Wanted) -> poem::Result<Response> {
        let content = response.take_body().into_bytes().await?;
        let hash = BlobHash::of(&content);
        let is_public = is_public(response.headers());
        vary_by_encoding(response.headers_mut());
        // Weak, because all encodings of a content share it.
        let tag = format!("W/\"{}\"", &hash.to_string()[..TAG_LENGTH]);
        if let Ok(tag) = tag.parse::<ETag>() {
            response.headers_mut().typed_insert(tag.clone());
            if wanted.has.as_ref().is_some_and(|has| !has.precondition_passes(&tag)) {
                response.set_status(StatusCode::NOT_MODIFIED);
                response.headers_mut().remove(header::CONTENT_TYPE);
                return Ok(response);
            }
        }
        let is_worth_it = content.len() >= ENCODED_BYTES_MIN && !is_compressed(&response);
        let encoding = wanted.encoding().filter(|_| is_worth_it);
        let Some(encoding) = encoding else {
            response.set_body(content);
            return Ok(response);
        };
        let body = match self.0.get(&(hash, encoding)) {
            Some(kept) => kept,
            None => {
                let encoded = encoded(content, encoding).await?;
                if is_public {
                    self.0.insert((hash, encoding), encoded.clone());
                }
                encoded
            }
        };
        response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static(encoding.token()));
        response.set_body(Body::from_bytes(body));
        Ok(response)
    }
}

/// Whether this is a page or document that may be represented: a success with the same content for every
/// client.
fn is_whole(response: &Response) -> bool {
    let is_page = response.content_type().is_some_and(|kind| kind.starts_with("text/html"));
    response.status() == StatusCode::OK
        && !response.headers().contains_key(header::CONTENT_ENCODING)
        && (is_page || is_public(response.headers()))
}

/// Whether the format of the content compresses it already.
fn is_compressed(response: &Response) -> bool {
    matches!(response.content_type(), Some("font/woff2" | "image/png"))
}

fn is_public(headers: &HeaderMap) -> bool {
    let control = headers.get(header::CACHE_CONTROL).and_then(|value| value.to_str().ok());
    control.is_some_and(|control| control.starts_with("public"))
}

async fn encoded(content: Bytes, encoding: Encoding) -> poem::Result<Bytes> {
    let is_small = content.len() <= IN_PLACE_BYTES_MAX;
    let encode = move || service::encode(encoding, &content);
    let encoded = if is_small { Ok(encode()) } else { spawn_blocking(encode).await };
    match encoded {
        Ok(Ok(encoded)) => Ok(encoded.into()),
        Ok(Err(error)) => Err(failed(&error)),
        Err(error) => Err(failed(&error.into())),
    }
}

fn failed(error: &anyhow::Error) -> poem::Error {
    tracing::error!(error = format!("{error:#}"), "a page could not be compressed");
    RefusedCall::from(Refusal::Internal).into()
}

#[cfg(test)]
mod tests {
    use poem::endpoint::make_sync;
    use poem::test::TestClient;
    use poem::{EndpointExt, Route};

    use super::*;

    fn page() -> String {
        "<p>Hello, page.</p>".repeat(200)
    }

    fn served() -> TestClient<impl Endpoint> {
        let html = || Response::builder().content_type("text/html; charset=utf-8").body(page());
        let json = || Response::builder().content_type("application/json").body(page());
        let public = |content_type| {
            Response::builder()
                .content_type(content_type)
                .header("Cache-Control", "public, max-age=300")
                .body(page())
        };
        let routes = Route::new()
            .at("/page", make_sync(move |_| html()))
            .at("/json", make_sync(move |_| json()))
            .at("/document", make_sync(move |_| public("text/plain")))
            .at("/font", make_sync(move |_| public("font/woff2")));
        TestClient::new(routes.with(Representation::default()))
    }

    #[tokio::test]
    async fn pages_and_documents_are_compressed_as_accept_encoding_allows() {
        for (path, accepted, encoding) in [
            ("/page", "gzip, br", Some("br")),
            ("/page", "gzip", Some("gzip")),
            ("/document", "br", Some("br")),
            ("/page", "identity", None),
            ("/font", "br", None),
            ("/json", "br", None),
        ] {
            let response = served().get(path).header("Accept-Encoding", accepted).send().await;
            response.assert_status_is_ok();
            let sent = response.0.header("Content-Encoding").map(str::to_owned);
            assert_eq!(sent.as_deref(), encoding, "{path} {accepted}");
            let body = response.0.into_body().into_bytes().await.unwrap();
            assert_eq!(body.len() < page().len() / 4, encoding.is_some(), "{path} {accepted}");
        }
    }

    #[tokio::test]
    async fn client_with_a_current_etag_gets_304_in_any_encoding() {
        let client = served();
        let first = client.get("/page").header("Accept-Encoding", "br").send().await;
        let tag = first.0.header("ETag").unwrap().to_owned();
        assert_eq!(first.0.header("Vary"), Some("Accept-Encoding"));
        let again = client.get("/page").header("If-None-Match", &tag).send().await;
        again.assert_status(StatusCode::NOT_MODIFIED);
        assert_eq!(again.0.header("ETag"), Some(tag.as_str()));
        assert!(again.0.into_body().into_bytes().await.unwrap().is_empty());
        let another = client.get("/page").header("If-None-Match", "\"other\"").send().await;
        another.assert_status_is_ok();
        let json = client.get("/json").header("If-None-Match", "*").send().await;
        json.assert_status_is_ok();
    }
}
