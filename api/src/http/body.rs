//! Limits on every request body: its size, its total time and its minimum rate. While a body is slow to
//! arrive, the request does not hold its permit, and the bytes that have arrived count against a memory
//! budget. A pause must not end a body that was fast enough before it; a client that stops sending must
//! always time out.
//!
//! If a server responds early and closes the connection while the client is still sending, the client sees a
//! reset instead of the response. So the part of a body that a handler did not read is read and discarded in
//! the background, within limits of its own.

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

use crate::http::permits::RequestPermit;
use crate::http::terms::{BodyLimit, Terms};
use crate::http::upload_budget::{BodyShare, HeldMemory};

/// The files of a publish, with an allowance for multipart headers and field names.
pub const UPLOAD_BYTES_MAX: u64 = FileSet::BYTES_MAX + 1_048_576;
const JSON_BYTES_MAX: u64 = 64 * 1024;
/// Events that are not handled are acknowledged too, whatever their size.
const EVENT_BYTES_MAX: u64 = 1_048_576;
/// The files of a publish in JSON: 60 MiB if every byte of them is escaped as `\u0000`, and the rest of the
/// body. Their content has the same limit as in a form.
pub const PUBLISH_JSON_BYTES_MAX: u64 = 6 * FileSet::BYTES_MAX + 1_048_576;
/// The files of a publish in JSON, where they are escaped or in base64.
pub const MCP_BYTES_MAX: u64 = 16 * 1_048_576;

/// A body that takes longer is awaited without a permit. Most bodies arrive together with their headers.
const PERMIT_KEPT_FOR: Duration = Duration::from_millis(20);

/// How far a body can be ahead of its minimum rate. A pause may last this long, however much data came before
/// it.
const AHEAD_MAX: Duration = Duration::from_secs(64);

const LINGER_BYTES_MAX: u64 = 64 * 1_048_576;
const LINGER_WAIT_MAX: Duration = Duration::from_secs(5);

/// The time limits of a body.
#[derive(Clone, Copy, Debug)]
pub struct BodyTerms {
    /// The time limit for the whole body.
    pub timeout: Duration,
    /// The minimum average rate since the body's start. A burst counts for a minute at most. 0 turns the
    /// check off.
    pub bytes_per_second_min: u32,
    /// The rate is not checked before this time has passed.
    pub grace: Duration,
}

impl Default for BodyTerms {
    fn default() -> Self {
        Self { timeout: Duration::from_secs(600), bytes_per_second_min: 1024, grace: Duration::from_secs(30) }
    }
}

/// Why a body was not read to its end. Handlers receive it inside an [`io::Error`].
#[derive(Clone, Debug, thiserror::Error)]
enum Fault {
    #[error("the body has more than {bytes_max} bytes")]
    TooLong { bytes_max: u64 },
    #[error("the body did not arrive within {within:?}")]
    TooLate { within: Duration },
    #[error("less than {bytes_per_second_min} bytes of the body arrived in a second on average")]
    TooSlow { bytes_per_second_min: u32 },
    #[error("{0}")]
    Refused(Box<Refusal>),
}

impl BodyLimit {
    fn bytes_max(self) -> u64 {
        match self {
            Self::Upload => UPLOAD_BYTES_MAX,
            Self::Message => MCP_BYTES_MAX,
            Self::Event => EVENT_BYTES_MAX,
            Self::UploadJson => PUBLISH_JSON_BYTES_MAX,
            Self::Form | Self::Publish | Self::Small => JSON_BYTES_MAX,
        }
    }

    /// The memory budget of the sender's address. MCP messages are counted where they are read.
    fn share(self, request: &Request) -> Option<BodyShare> {
        match self {
            // The handler releases the permit before it reads and counts the memory itself. This budget
            // applies if it does not.
            Self::Upload | Self::UploadJson => Some(BodyShare::of(request)),
            Self::Message => None,
            Self::Event | Self::Form | Self::Publish | Self::Small => Some(BodyShare::of_small(request)),
        }
    }
}

/// Applies the limits to the request's body.
pub fn bound(request: &mut Request, terms: BodyTerms, permit: &RequestPermit) {
    let body = request.take_body();
    if body.is_empty() {
        return;
    }
    let limit = Terms::of(request).body_limit(request);
    let bytes_max = limit.bytes_max();
    let is_too_long = declared_bytes(request).is_some_and(|bytes| bytes > bytes_max);
    request.set_body(Body::from_bytes_stream(BoundedBody {
        rest: Some(body.into_bytes_stream()),
        bytes_max,
        left_bytes: if is_too_long { None } else { Some(bytes_max) },
        terms,
        permit: permit.clone(),
        owes_permit: false,
        reacquiring: None,
        progress: None,
        arrived_bytes: 0,
        memory: limit.share(request).map(|share| share.enter()),
    }));
}

/// The `Content-Length` that the client declares.
pub fn declared_bytes(request: &Request) -> Option<u64> {
    request.header(header::CONTENT_LENGTH)?.parse().ok()
}

/// A refusal as an I/O error, for code that reads a body.
pub fn refused(refusal: Refusal) -> io::Error {
    io::Error::other(Fault::Refused(Box::new(refusal)))
}

/// The refusal that caused a read error, if one of these limits did.
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
                    "arrived too slowly: it must average at least {bytes_per_second_min} bytes per second, and \
                     no pause may be longer than {} s",
                    AHEAD_MAX.as_secs()
                ),
            ),
            Fault::Refused(refusal) => (**refusal).clone(),
        });
    }
    // `io::Error::source` skips the error that it wraps, so `get_ref` is used.
    let inner = error.downcast_ref::<io::Error>().and_then(|error| error.get_ref());
    match inner {
        Some(inner) => refusal_behind(inner),
        None => error.source().and_then(refusal_behind),
    }
}

/// The progress of a body since it was first read. The time before that is not the sender's fault.
struct Progress {
    terms: BodyTerms,
    started_at: Instant,
    /// When the average rate falls below the minimum if nothing more arrives.
    lasts_until: Instant,
    /// Fires first when the permit is to be released, and then when the rate or the timeout is exceeded.
    alarm: Pin<Box<Sleep>>,
}

impl Progress {
    fn begin(terms: BodyTerms) -> Self {
        let started_at = Instant::now();
        let alarm = Box::pin(sleep(PERMIT_KEPT_FOR.min(terms.timeout)));
        Self { terms, started_at, lasts_until: started_at, alarm }
    }

    fn note(&mut self, bytes: usize) {
        if self.terms.bytes_per_second_min > 0 {
            let lasts_seconds = bytes as f64 / f64::from(self.terms.bytes_per_second_min);
            let lasts_until = self.lasts_until + Duration::from_secs_f64(lasts_seconds);
            self.lasts_until = lasts_until.min(Instant::now() + AHEAD_MAX);
        }
    }

    /// When the body is given up if nothing more arrives, and why.
    fn end(&self) -> (Instant, Fault) {
        let BodyTerms { timeout: within, bytes_per_second_min, grace } = self.terms;
        let (too_late_at, too_slow_at) =
            (self.started_at + within, self.lasts_until.max(self.started_at + grace));
        if bytes_per_second_min > 0 && too_slow_at < too_late_at {
            (too_slow_at, Fault::TooSlow { bytes_per_second_min })
        } else {
            (too_late_at, Fault::TooLate { within })
        }
    }
}

struct BoundedBody<S: Stream<Item = io::Result<Bytes>> + Send + Unpin + 'static> {
    /// `None` after the end of the body.
    rest: Option<S>,
    bytes_max: u64,
    /// `None` when the limit is exceeded, by the bytes or by the declared length.
    left_bytes: Option<u64>,
    terms: BodyTerms,
    permit: RequestPermit,
    /// The permit was released here because the body did not arrive with its headers.
    owes_permit: bool,
    /// The whole body has arrived, and the released permit is being acquired again.
    reacquiring: Option<BoxFuture<'static, Result<(), Refusal>>>,
    /// `None` until the body is first read.
    progress: Option<Progress>,
    arrived_bytes: usize,
    /// The memory for what has arrived, counted while the permit is released. The permit itself bounds the
    /// memory of the requests that hold one. `None` where the reader counts it.
    memory: Option<HeldMemory>,
}

impl<S: Stream<Item = io::Result<Bytes>> + Send + Unpin + 'static> BoundedBody<S> {
    /// Called while no data arrives. The fault of a body that is too slow, or that exceeds the memory budget.
    fn poll_fault(&mut self, context: &mut Context<'_>) -> Poll<Fault> {
        loop {
            let progress = self.progress.get_or_insert_with(|| Progress::begin(self.terms));
            ready!(progress.alarm.poll_unpin(context));
            let (end_at, fault) = progress.end();
            if end_at <= Instant::now() {
                return Poll::Ready(fault);
            }
            progress.alarm.as_mut().reset(end_at);
            if let Err(fault) = self.release_permit() {
                return Poll::Ready(fault);
            }
        }
    }

    fn release_permit(&mut self) -> Result<(), Fault> {
        if !self.permit.release() {
            return Ok(());
        }
        self.owes_permit = true;
        self.take_memory(self.arrived_bytes)
    }

    fn take_memory(&mut self, bytes: usize) -> Result<(), Fault> {
        match &mut self.memory {
            Some(memory) if self.owes_permit => {
                memory.try_grow(bytes).map_err(|refusal| Fault::Refused(Box::new(refusal)))
            }
            _ => Ok(()),
        }
    }

    /// Counts bytes that have arrived.
    fn count_arrived(&mut self, bytes: usize) -> Result<(), Fault> {
        let left_bytes = self.left_bytes.and_then(|left| left.checked_sub(bytes as u64));
        self.left_bytes = left_bytes;
        if left_bytes.is_none() {
            return Err(Fault::TooLong { bytes_max: self.bytes_max });
        }
        self.arrived_bytes += bytes;
        self.progress.get_or_insert_with(|| Progress::begin(self.terms)).note(bytes);
        self.take_memory(bytes)
    }

    /// Called at the end of the body. Ends the stream once the request holds its permit again.
    fn poll_permit(&mut self, context: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        if mem::take(&mut self.owes_permit) {
            self.reacquiring = Some(self.permit.clone().reacquire().boxed());
        }
        let Some(reacquiring) = &mut self.reacquiring else { return Poll::Ready(None) };
        let acquired = ready!(reacquiring.poll_unpin(context));
        self.reacquiring = None;
        match acquired {
            Ok(()) => Poll::Ready(None),
            Err(refusal) => failed(Fault::Refused(Box::new(refusal))),
        }
    }
}

impl<S: Stream<Item = io::Result<Bytes>> + Send + Unpin + 'static> Stream for BoundedBody<S> {
    type Item = io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.left_bytes.is_none() {
            return failed(Fault::TooLong { bytes_max: self.bytes_max });
        }
        let Some(rest) = &mut self.rest else { return self.poll_permit(context) };
        match rest.poll_next_unpin(context) {
            Poll::Pending => failed(ready!(self.poll_fault(context))),
            Poll::Ready(Some(Ok(bytes))) => match self.count_arrived(bytes.len()) {
                Ok(()) => Poll::Ready(Some(Ok(bytes))),
                Err(fault) => failed(fault),
            },
            Poll::Ready(Some(Err(error))) => {
                self.rest = None;
                Poll::Ready(Some(Err(error)))
            }
            Poll::Ready(None) => {
                self.rest = None;
                self.poll_permit(context)
            }
        }
    }
}

fn failed(fault: Fault) -> Poll<Option<io::Result<Bytes>>> {
    Poll::Ready(Some(Err(io::Error::other(fault))))
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
