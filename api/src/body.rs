//! Every request body passes through here: it is bounded in bytes, in time and in how slowly it may come, and an answer
//! that comes before its end still reaches the client. While a body is waited for, others have the request's turn.
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
use futures::future::BoxFuture;
use futures::{FutureExt, Stream, StreamExt};
use poem::http::header;
use poem::{Body, Request};
use tokio::runtime::Handle;
use tokio::time::{Instant, Sleep, sleep, timeout};

use crate::turns::Turn;
use crate::{mcp, rest};

/// The content of a publish, and what multipart and its field names may take besides.
pub const UPLOAD_BYTES_MAX: u64 = FileSet::BYTES_MAX + 1_048_576;
const JSON_BYTES_MAX: u64 = 64 * 1024;
/// The content of a publish as it stands in JSON: escaped, or in base64.
pub const MCP_BYTES_MAX: u64 = 16 * 1_048_576;

/// What has not come by then is waited for without the request's turn: most bodies come with their heads.
const TURN_KEPT_FOR: Duration = Duration::from_millis(100);
/// The pace of a body is its average of so long.
const PACE_OVER: Duration = Duration::from_secs(10);

const LINGER_BYTES_MAX: u64 = 64 * 1_048_576;
const LINGER_WAIT_MAX: Duration = Duration::from_secs(5);

/// How slowly a body may come.
#[derive(Clone, Copy, Debug)]
pub struct BodyTerms {
    /// By when all of it must have come.
    pub timeout: Duration,
    /// What must come of it in a second; 0: any pace will do.
    pub bytes_per_second_min: u32,
}

impl Default for BodyTerms {
    fn default() -> Self {
        Self { timeout: Duration::from_secs(120), bytes_per_second_min: 1024 }
    }
}

/// Why a body was not read to its end. It travels as an [`io::Error`] through whoever reads the body.
#[derive(Clone, Debug, thiserror::Error)]
enum Fault {
    #[error("the body has more than {bytes_max} bytes")]
    TooLong { bytes_max: u64 },
    #[error("the body did not arrive within {within:?}")]
    TooLate { within: Duration },
    #[error("less than {bytes_per_second_min} bytes of the body arrived in a second")]
    TooSlow { bytes_per_second_min: u32 },
    #[error("{0}")]
    NoTurn(Box<Refusal>),
}

/// Puts the bounds around the request's body.
pub fn bound(request: &mut Request, terms: BodyTerms, turn: &Turn) {
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
        terms,
        turn: turn.clone(),
        taking_turn: None,
        begun_at: Instant::now(),
        alarm: Box::pin(sleep(TURN_KEPT_FOR)),
        is_late: false,
        came_bytes: 0,
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
            Fault::TooLate { within } => {
                Refusal::invalid("body", format!("did not arrive within {} s", within.as_secs_f64()))
            }
            Fault::TooSlow { bytes_per_second_min } => Refusal::invalid(
                "body",
                format!("arrived too slowly: at least {bytes_per_second_min} bytes must come in a second"),
            ),
            Fault::NoTurn(refusal) => (**refusal).clone(),
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
    terms: BodyTerms,
    turn: Turn,
    /// All has come, and the turn that was given back is not there yet.
    taking_turn: Option<BoxFuture<'static, Result<(), Refusal>>>,
    begun_at: Instant,
    /// Rings first when the turn is to be given back, and then whenever the pace is to be looked at.
    alarm: Pin<Box<Sleep>>,
    /// Whether it has rung: the body has not come with its head.
    is_late: bool,
    /// What has come since the alarm last rang.
    came_bytes: u64,
}

impl<S: Stream<Item = io::Result<Bytes>> + Send + Unpin + 'static> BoundedBody<S> {
    /// While nothing comes: the fault of a body that is too slow.
    fn poll_fault(&mut self, context: &mut Context<'_>) -> Poll<Fault> {
        loop {
            ready!(self.alarm.poll_unpin(context));
            let waited = self.begun_at.elapsed();
            if waited >= self.terms.timeout {
                return Poll::Ready(Fault::TooLate { within: self.terms.timeout });
            }
            if !self.is_late {
                self.is_late = true;
                self.turn.give_back();
            } else if self.came_bytes < PACE_OVER.as_secs() * u64::from(self.terms.bytes_per_second_min) {
                let BodyTerms { bytes_per_second_min, .. } = self.terms;
                return Poll::Ready(Fault::TooSlow { bytes_per_second_min });
            }
            self.came_bytes = 0;
            let left = self.terms.timeout.saturating_sub(waited);
            self.alarm.as_mut().reset(Instant::now() + PACE_OVER.min(left));
        }
    }

    /// After the end of all: the end, once the request has its turn again.
    fn poll_turn(&mut self, context: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        if !self.turn.is_held() && self.taking_turn.is_none() {
            self.taking_turn = Some(self.turn.clone().take_again().boxed());
        }
        let Some(taking) = &mut self.taking_turn else { return Poll::Ready(None) };
        let taken = ready!(taking.poll_unpin(context));
        self.taking_turn = None;
        Poll::Ready(taken.err().map(|refusal| Err(io::Error::other(Fault::NoTurn(Box::new(refusal))))))
    }
}

impl<S: Stream<Item = io::Result<Bytes>> + Send + Unpin + 'static> Stream for BoundedBody<S> {
    type Item = io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let bytes_max = self.bytes_max;
        let too_long = || Poll::Ready(Some(Err(io::Error::other(Fault::TooLong { bytes_max }))));
        let Some(left_bytes) = self.left_bytes else { return too_long() };
        let Some(rest) = &mut self.rest else { return self.poll_turn(context) };
        let Poll::Ready(next) = rest.poll_next_unpin(context) else {
            return self.poll_fault(context).map(|fault| Some(Err(io::Error::other(fault))));
        };
        match &next {
            Some(Ok(bytes)) => {
                self.came_bytes += bytes.len() as u64;
                self.left_bytes = left_bytes.checked_sub(bytes.len() as u64);
                if self.left_bytes.is_none() { too_long() } else { Poll::Ready(next) }
            }
            Some(Err(_)) => {
                self.rest = None;
                Poll::Ready(next)
            }
            None => {
                self.rest = None;
                self.poll_turn(context)
            }
        }
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
    use crate::turns::{TurnTerms, Turns};

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
        bound(&mut request, BodyTerms::default(), &Turn::free());
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

    /// A body of which so many bytes come every second, until its sender is let go.
    fn trickling(bytes: usize) -> Body {
        Body::from_bytes_stream(stream::unfold((), move |()| async move {
            sleep(Duration::from_secs(1)).await;
            Some((Ok::<_, io::Error>(Bytes::from(vec![b'x'; bytes])), ()))
        }))
    }

    async fn refusal_after(body: Body) -> (Refusal, Duration) {
        let begun_at = Instant::now();
        (refusal(bounded(body, None)).await, begun_at.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_never_ends_is_given_up() {
        // 500 bytes a second would be enough for 64 KiB in 131 s.
        let terms = BodyTerms { bytes_per_second_min: 0, ..BodyTerms::default() };
        let mut request = Request::builder().body(trickling(500));
        bound(&mut request, terms, &Turn::free());
        let refusal = refusal(request.take_body()).await;
        assert_eq!(refusal.message(), "body: did not arrive within 120 s");
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_comes_too_slowly_is_given_up_sooner() {
        let silent = Body::from_bytes_stream(stream::pending::<io::Result<Bytes>>());
        for body in [silent, trickling(1000)] {
            let (refusal, waited) = refusal_after(body).await;
            assert_eq!(refusal.code(), "invalid_request");
            assert!(refusal.message().contains("too slowly"), "{refusal}");
            assert!(waited <= PACE_OVER + Duration::from_secs(1), "{waited:?}");
        }
        let (refusal, _) = refusal_after(trickling(1100)).await;
        assert_eq!(refusal.code(), "too_large", "it came fast enough, and there was too much of it");
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_slow_with_a_body_leaves_the_turn_to_others_until_it_has_come() {
        let turns = Turns::new(TurnTerms { requests_max: 1, ..TurnTerms::default() });
        let slow = turns.take(&Request::default()).await.unwrap();
        let late = stream::once(async {
            sleep(Duration::from_secs(5)).await;
            Ok::<_, io::Error>(CHUNK)
        });
        let mut request = Request::builder().body(Body::from_bytes_stream(late));
        bound(&mut request, BodyTerms::default(), &slow);
        let reading = tokio::spawn(request.take_body().into_vec());
        let other = turns.take(&Request::default()).await.unwrap();
        sleep(Duration::from_secs(5)).await;
        assert!(!reading.is_finished(), "all has come, and it is another's turn");
        drop(other);
        assert_eq!(reading.await.unwrap().unwrap().len(), CHUNK.len());
        assert!(slow.is_held());
    }

    #[tokio::test(start_paused = true)]
    async fn whose_turn_does_not_come_again_is_told_to_come_again() {
        let turns = Turns::new(TurnTerms { requests_max: 1, ..TurnTerms::default() });
        let slow = turns.take(&Request::default()).await.unwrap();
        slow.give_back();
        let _other = turns.take(&Request::default()).await.unwrap();
        let (body, _) = kilobytes(1);
        let mut request = Request::builder().body(body);
        bound(&mut request, BodyTerms::default(), &slow);
        assert_eq!(refusal(request.take_body()).await.code(), "overloaded");
    }
}
