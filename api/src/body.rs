//! Every request body passes through here: it is bounded in bytes, in time and in how slowly it may come, and an answer
//! that comes before its end still reaches the client. While a body is waited for, others have the request's turn. A pause
//! must never end a body: its pace is what has come of it altogether, since it began.
//!
//! A server that answers early and closes the connection on a client that is still sending makes the client see a
//! reset instead of the answer. So whatever a handler leaves unread is read and thrown away beside the answer, within
//! bounds of its own.

use std::error::Error;
use std::io;
use std::mem;
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

const LINGER_BYTES_MAX: u64 = 64 * 1_048_576;
const LINGER_WAIT_MAX: Duration = Duration::from_secs(5);

/// How slowly a body may come.
#[derive(Clone, Copy, Debug)]
pub struct BodyTerms {
    /// By when all of it must have come.
    pub timeout: Duration,
    /// What must come of it in a second, on the average since it began; 0: any pace will do.
    pub bytes_per_second_min: u32,
    /// The pace is not looked at before.
    pub grace: Duration,
}

impl Default for BodyTerms {
    fn default() -> Self {
        Self { timeout: Duration::from_secs(600), bytes_per_second_min: 1024, grace: Duration::from_secs(30) }
    }
}

/// Why a body was not read to its end. It travels as an [`io::Error`] through whoever reads the body.
#[derive(Clone, Debug, thiserror::Error)]
enum Fault {
    #[error("the body has more than {bytes_max} bytes")]
    TooLong { bytes_max: u64 },
    #[error("the body did not arrive within {within:?}")]
    TooLate { within: Duration },
    #[error("less than {bytes_per_second_min} bytes of the body arrived in a second on average")]
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
        owes_turn: false,
        taking_turn: None,
        begun_at: Instant::now(),
        alarm: Box::pin(sleep(TURN_KEPT_FOR.min(terms.timeout))),
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
                format!(
                    "arrived too slowly: at least {bytes_per_second_min} bytes must come in a second on average"
                ),
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
    /// The turn was given back here, because the body has not come with its head.
    owes_turn: bool,
    /// All has come, and the turn that was given back is not there yet.
    taking_turn: Option<BoxFuture<'static, Result<(), Refusal>>>,
    begun_at: Instant,
    /// Rings first when the turn is to be given back, and then when what had come before no longer does.
    alarm: Pin<Box<Sleep>>,
    /// What has come since it began.
    came_bytes: u64,
}

impl<S: Stream<Item = io::Result<Bytes>> + Send + Unpin + 'static> BoundedBody<S> {
    /// While nothing comes: the fault of a body that is too slow.
    fn poll_fault(&mut self, context: &mut Context<'_>) -> Poll<Fault> {
        let BodyTerms { timeout: within, bytes_per_second_min, .. } = self.terms;
        loop {
            ready!(self.alarm.poll_unpin(context));
            self.owes_turn |= self.turn.give_back();
            let may_last = self.may_last();
            if self.begun_at.elapsed() < may_last {
                self.alarm.as_mut().reset(self.begun_at + may_last);
                continue;
            }
            return Poll::Ready(if may_last < within {
                Fault::TooSlow { bytes_per_second_min }
            } else {
                Fault::TooLate { within }
            });
        }
    }

    /// How long what has come so far would do, counted from the begin.
    fn may_last(&self) -> Duration {
        let BodyTerms { timeout, bytes_per_second_min, grace } = self.terms;
        if bytes_per_second_min == 0 {
            return timeout;
        }
        let at_least_pace = self.came_bytes as f64 / f64::from(bytes_per_second_min);
        Duration::from_secs_f64(at_least_pace).max(grace).min(timeout)
    }

    /// After the end of all: the end, once the request has its turn again.
    fn poll_turn(&mut self, context: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        if mem::take(&mut self.owes_turn) {
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
mod tests;
