//! Every request body passes through here: it is bounded in bytes and in time while it is read, and an answer that
//! comes before its end still reaches the client.
//!
//! A server that answers early and closes the connection on a client that is still sending makes the client see a
//! reset instead of the answer. So whatever a handler leaves unread is read and thrown away beside the answer, within
//! bounds of its own.

use std::error::Error;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use domain::{FileSet, Refusal};
use futures::{FutureExt, Stream, StreamExt};
use poem::http::header;
use poem::{Body, Request};
use tokio::runtime::Handle;
use tokio::time::{Sleep, sleep, timeout};

use crate::{mcp, rest};

/// The content of a publish, and what multipart and its field names may take besides.
pub const UPLOAD_BYTES_MAX: u64 = FileSet::BYTES_MAX + 1_048_576;
const JSON_BYTES_MAX: u64 = 64 * 1024;
/// The content of a publish as it stands in JSON: escaped, or in base64.
pub const MCP_BYTES_MAX: u64 = 16 * 1_048_576;
const READ_WAIT_MAX: Duration = Duration::from_secs(120);

const LINGER_BYTES_MAX: u64 = 64 * 1_048_576;
const LINGER_WAIT_MAX: Duration = Duration::from_secs(5);

/// Why a body was not read to its end. It travels as an [`io::Error`] through whoever reads the body.
#[derive(Clone, Copy, Debug, thiserror::Error)]
enum Fault {
    #[error("the body has more than {bytes_max} bytes")]
    TooLong { bytes_max: u64 },
    #[error("the body did not arrive in time")]
    TooSlow,
}

/// Puts the bounds around the request's body.
pub fn bound(request: &mut Request) {
    let body = request.take_body();
    if body.is_empty() {
        return;
    }
    let bytes_max = bytes_max(request);
    let is_hopeless = declared_bytes(request).is_some_and(|bytes| bytes > bytes_max);
    request.set_body(Body::from_bytes_stream(BoundedBody {
        rest: Some(body.into_bytes_stream()),
        bytes_max,
        left_bytes: if is_hopeless { None } else { Some(bytes_max) },
        deadline: Box::pin(sleep(READ_WAIT_MAX)),
    }));
}

/// What the client says that the body is long.
pub fn declared_bytes(request: &Request) -> Option<u64> {
    request.header(header::CONTENT_LENGTH)?.parse().ok()
}

/// The refusal behind an error of reading, if our bounds were the cause.
pub fn refusal_behind(error: &(dyn Error + 'static)) -> Option<Refusal> {
    if let Some(fault) = error.downcast_ref::<Fault>() {
        return Some(match fault {
            Fault::TooLong { bytes_max } => {
                Refusal::TooLarge { limit: format!("this request's body has at most {bytes_max} bytes") }
            }
            Fault::TooSlow => {
                Refusal::invalid("body", format!("did not arrive within {} s", READ_WAIT_MAX.as_secs()))
            }
        });
    }
    // `io::Error::source` leaves out the error that it wraps, so it is asked for by name.
    let inner = error.downcast_ref::<io::Error>().and_then(|error| error.get_ref());
    match inner {
        Some(inner) => refusal_behind(inner),
        None => error.source().and_then(refusal_behind),
    }
}

fn bytes_max(request: &Request) -> u64 {
    let path = request.uri().path();
    let is_upload = path.starts_with(rest::UPLOADS_PATH_PREFIX)
        || request.content_type().is_some_and(|kind| kind.to_ascii_lowercase().starts_with("multipart/"));
    match path {
        mcp::PATH => MCP_BYTES_MAX,
        _ if is_upload => UPLOAD_BYTES_MAX,
        _ => JSON_BYTES_MAX,
    }
}

struct BoundedBody<S: Stream<Item = io::Result<Bytes>> + Send + Unpin + 'static> {
    /// `None` once the end was reached.
    rest: Option<S>,
    bytes_max: u64,
    /// `None` once the bound is passed, or when the declared length alone passes it.
    left_bytes: Option<u64>,
    deadline: Pin<Box<Sleep>>,
}

impl<S: Stream<Item = io::Result<Bytes>> + Send + Unpin + 'static> Stream for BoundedBody<S> {
    type Item = io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let bytes_max = self.bytes_max;
        let too_long = || Poll::Ready(Some(Err(io::Error::other(Fault::TooLong { bytes_max }))));
        let Some(left_bytes) = self.left_bytes else { return too_long() };
        let Some(rest) = &mut self.rest else { return Poll::Ready(None) };
        let Poll::Ready(next) = rest.poll_next_unpin(context) else {
            ready!(self.deadline.poll_unpin(context));
            return Poll::Ready(Some(Err(io::Error::other(Fault::TooSlow))));
        };
        if let Some(Ok(bytes)) = &next {
            self.left_bytes = left_bytes.checked_sub(bytes.len() as u64);
            if self.left_bytes.is_none() {
                return too_long();
            }
        } else {
            self.rest = None;
        }
        Poll::Ready(next)
    }
}

impl<S: Stream<Item = io::Result<Bytes>> + Send + Unpin + 'static> Drop for BoundedBody<S> {
    fn drop(&mut self) {
        if let (Some(rest), Ok(runtime)) = (self.rest.take(), Handle::try_current()) {
            runtime.spawn(timeout(LINGER_WAIT_MAX, discard(rest)));
        }
    }
}

async fn discard(mut rest: impl Stream<Item = io::Result<Bytes>> + Unpin) {
    let mut left_bytes = LINGER_BYTES_MAX;
    while let Some(Ok(bytes)) = rest.next().await {
        match left_bytes.checked_sub(bytes.len() as u64) {
            Some(left) => left_bytes = left,
            None => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use futures::stream;

    use super::*;

    const CHUNK: Bytes = Bytes::from_static(&[b'x'; 1024]);

    /// A body of so many kilobytes, and the count of those that were read.
    fn kilobytes(count: u64) -> (Body, Arc<AtomicU64>) {
        let read = Arc::new(AtomicU64::new(0));
        let counter = read.clone();
        let chunks = stream::iter(0..count).map(move |_| {
            counter.fetch_add(1, Ordering::SeqCst);
            Ok::<_, io::Error>(CHUNK)
        });
        (Body::from_bytes_stream(chunks), read)
    }

    fn bounded(body: Body, declared_bytes: Option<u64>) -> Body {
        let mut request = Request::builder().body(body);
        if let Some(bytes) = declared_bytes {
            request.headers_mut().insert(header::CONTENT_LENGTH, bytes.into());
        }
        bound(&mut request);
        request.take_body()
    }

    async fn refusal(body: Body) -> Refusal {
        refusal_behind(&body.into_vec().await.unwrap_err()).unwrap()
    }

    #[tokio::test]
    async fn a_body_within_the_bound_is_read_whole() {
        let (body, _) = kilobytes(64);
        assert_eq!(bounded(body, None).into_vec().await.unwrap().len(), 64 * 1024);
    }

    #[tokio::test]
    async fn a_body_is_refused_as_soon_as_it_passes_the_bound() {
        let (body, read) = kilobytes(1_000_000);
        let mut chunks = Box::pin(bounded(body, None).into_bytes_stream());
        let mut whole = 0;
        while let Some(Ok(_)) = chunks.next().await {
            whole += 1;
        }
        assert_eq!((whole, read.load(Ordering::SeqCst)), (64, 65));
    }

    #[tokio::test]
    async fn a_declared_length_beyond_the_bound_is_refused_before_a_byte_is_read() {
        let (body, read) = kilobytes(1_000);
        let mut chunks = Box::pin(bounded(body, Some(1_024_000)).into_bytes_stream());
        let error = chunks.next().await.unwrap().unwrap_err();
        assert_eq!(refusal_behind(&error).unwrap().code(), "too_large");
        assert_eq!(read.load(Ordering::SeqCst), 0);
    }

    #[tokio::test]
    async fn what_is_left_unread_is_discarded_but_not_for_ever() {
        let (body, read) = kilobytes(1_000);
        drop(bounded(body, None));
        let (endless, endlessly_read) = kilobytes(u64::MAX);
        assert_eq!(refusal(bounded(endless, None)).await.code(), "too_large");
        let is_done =
            || read.load(Ordering::SeqCst) == 1_000 && endlessly_read.load(Ordering::SeqCst) > 64 * 1024;
        let done = async {
            while !is_done() {
                tokio::task::yield_now().await;
            }
        };
        timeout(Duration::from_secs(20), done).await.unwrap();
        tokio::task::yield_now().await;
        assert!(endlessly_read.load(Ordering::SeqCst) <= 64 * 1024 + 128);
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_never_ends_is_given_up() {
        let body = Body::from_bytes_stream(stream::pending::<io::Result<Bytes>>());
        let refusal = refusal(bounded(body, None)).await;
        assert_eq!(refusal.code(), "invalid_request");
        assert!(refusal.message().contains("did not arrive"), "{refusal}");
    }
}
