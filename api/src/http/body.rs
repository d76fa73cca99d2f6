//! Every request body passes through here: it is bounded in bytes, in time and in how slowly it may come, and an answer
//! that comes before its end still reaches the client. While a body is waited for, others have the request's turn, and what
//! has come of it takes room. A pause must never end a body that came fast enough before, and silence must always.
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

use crate::http::permits::RequestPermit;
use crate::http::terms::{BodyLimit, Terms};
use crate::http::upload_budget::{BodyShare, RoomTaken};

/// The content of a publish, and what multipart and its field names may take besides.
pub const UPLOAD_BYTES_MAX: u64 = FileSet::BYTES_MAX + 1_048_576;
const JSON_BYTES_MAX: u64 = 64 * 1024;
/// An event that does nothing here is acknowledged all the same, however much it tells.
const EVENT_BYTES_MAX: u64 = 1_048_576;
/// The content of a publish as it stands in JSON: escaped, or in base64.
pub const MCP_BYTES_MAX: u64 = 16 * 1_048_576;

/// What has not come by then is waited for without the request's turn: most bodies come with their heads.
const TURN_KEPT_FOR: Duration = Duration::from_millis(20);

/// How far a body may be ahead of its least pace: so long a pause is made up for by what came before, however much it was.
const AHEAD_MAX: Duration = Duration::from_secs(64);

const LINGER_BYTES_MAX: u64 = 64 * 1_048_576;
const LINGER_WAIT_MAX: Duration = Duration::from_secs(5);

/// How slowly a body may come.
#[derive(Clone, Copy, Debug)]
pub struct BodyTerms {
    /// By when all of it must have come.
    pub timeout: Duration,
    /// What must come of it in a second, on the average since it began, but that no burst lasts for longer than a minute;
    /// 0: any pace will do.
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
    Refused(Box<Refusal>),
}

impl BodyLimit {
    fn bytes_max(self) -> u64 {
        match self {
            Self::Upload => UPLOAD_BYTES_MAX,
            Self::Message => MCP_BYTES_MAX,
            Self::Event => EVENT_BYTES_MAX,
            Self::Form | Self::Small => JSON_BYTES_MAX,
        }
    }

    /// The memory budget that its sender shares. A message is counted where it is read.
    fn share(self, request: &Request) -> Option<BodyShare> {
        match self {
            // The handler returns the permit before it reads, and counts the memory itself: this is for when it did not.
            Self::Upload => Some(BodyShare::of(request)),
            Self::Message => None,
            Self::Event | Self::Form | Self::Small => Some(BodyShare::of_small(request)),
        }
    }
}

/// Puts the bounds around the request's body.
pub fn bound(request: &mut Request, terms: BodyTerms, permit: &RequestPermit) {
    let body = request.take_body();
    if body.is_empty() {
        return;
    }
    let limit = Terms::of(request).body_limit(request);
    let bytes_max = limit.bytes_max();
    let is_hopeless = declared_bytes(request).is_some_and(|bytes| bytes > bytes_max);
    request.set_body(Body::from_bytes_stream(BoundedBody {
        rest: Some(body.into_bytes_stream()),
        bytes_max,
        left_bytes: if is_hopeless { None } else { Some(bytes_max) },
        terms,
        permit: permit.clone(),
        owes_permit: false,
        reacquiring: None,
        course: None,
        came_bytes: 0,
        room: limit.share(request).map(|share| share.enter()),
    }));
}

/// What the client says that the body is long.
pub fn declared_bytes(request: &Request) -> Option<u64> {
    request.header(header::CONTENT_LENGTH)?.parse().ok()
}

/// A refusal of whoever reads a body, as an error of reading it.
pub fn refused(refusal: Refusal) -> io::Error {
    io::Error::other(Fault::Refused(Box::new(refusal)))
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
                    "arrived too slowly: at least {bytes_per_second_min} bytes must come in a second on average, and \
                     no pause may be longer than {} s",
                    AHEAD_MAX.as_secs()
                ),
            ),
            Fault::Refused(refusal) => (**refusal).clone(),
        });
    }
    // `io::Error::source` leaves out the error that it wraps, so it is asked for by name.
    let inner = error.downcast_ref::<io::Error>().and_then(|error| error.get_ref());
    match inner {
        Some(inner) => refusal_behind(inner),
        None => error.source().and_then(refusal_behind),
    }
}

/// How a body has come since it was first read. The time before is not its sender's.
struct Course {
    terms: BodyTerms,
    begun_at: Instant,
    /// When what has come will have been too little.
    lasts_until: Instant,
    /// Rings first when the turn is to be given back, and then when what had come before no longer does.
    alarm: Pin<Box<Sleep>>,
}

impl Course {
    fn begin(terms: BodyTerms) -> Self {
        let begun_at = Instant::now();
        let alarm = Box::pin(sleep(TURN_KEPT_FOR.min(terms.timeout)));
        Self { terms, begun_at, lasts_until: begun_at, alarm }
    }

    fn note(&mut self, bytes: usize) {
        if self.terms.bytes_per_second_min > 0 {
            let lasts_seconds = bytes as f64 / f64::from(self.terms.bytes_per_second_min);
            let lasts_until = self.lasts_until + Duration::from_secs_f64(lasts_seconds);
            self.lasts_until = lasts_until.min(Instant::now() + AHEAD_MAX);
        }
    }

    /// When it is to be given up, if nothing more comes, and why.
    fn end(&self) -> (Instant, Fault) {
        let BodyTerms { timeout: within, bytes_per_second_min, grace } = self.terms;
        let (too_late_at, too_slow_at) =
            (self.begun_at + within, self.lasts_until.max(self.begun_at + grace));
        if bytes_per_second_min > 0 && too_slow_at < too_late_at {
            (too_slow_at, Fault::TooSlow { bytes_per_second_min })
        } else {
            (too_late_at, Fault::TooLate { within })
        }
    }
}

struct BoundedBody<S: Stream<Item = io::Result<Bytes>> + Send + Unpin + 'static> {
    /// `None` once the end was reached.
    rest: Option<S>,
    bytes_max: u64,
    /// `None` once the bound is passed, or when the declared length alone passes it.
    left_bytes: Option<u64>,
    terms: BodyTerms,
    permit: RequestPermit,
    /// The turn was given back here, because the body has not come with its head.
    owes_permit: bool,
    /// All has come, and the turn that was given back is not there yet.
    reacquiring: Option<BoxFuture<'static, Result<(), Refusal>>>,
    /// `None` until it is first read.
    course: Option<Course>,
    came_bytes: usize,
    /// For what has come, once others have the turn: who holds one is one of a few. `None` where whoever reads it takes it.
    room: Option<RoomTaken>,
}

impl<S: Stream<Item = io::Result<Bytes>> + Send + Unpin + 'static> BoundedBody<S> {
    /// While nothing comes: the fault of a body that is too slow, or that there is no room for.
    fn poll_fault(&mut self, context: &mut Context<'_>) -> Poll<Fault> {
        loop {
            let course = self.course.get_or_insert_with(|| Course::begin(self.terms));
            ready!(course.alarm.poll_unpin(context));
            let (end_at, fault) = course.end();
            if end_at <= Instant::now() {
                return Poll::Ready(fault);
            }
            course.alarm.as_mut().reset(end_at);
            if let Err(fault) = self.give_turn_back() {
                return Poll::Ready(fault);
            }
        }
    }

    fn give_turn_back(&mut self) -> Result<(), Fault> {
        if !self.permit.release() {
            return Ok(());
        }
        self.owes_permit = true;
        self.take_room(self.came_bytes)
    }

    fn take_room(&mut self, bytes: usize) -> Result<(), Fault> {
        match &mut self.room {
            Some(room) if self.owes_permit => {
                room.grow_at_once(bytes).map_err(|refusal| Fault::Refused(Box::new(refusal)))
            }
            _ => Ok(()),
        }
    }

    /// What has come more.
    fn weigh(&mut self, bytes: usize) -> Result<(), Fault> {
        let left_bytes = self.left_bytes.and_then(|left| left.checked_sub(bytes as u64));
        self.left_bytes = left_bytes;
        if left_bytes.is_none() {
            return Err(Fault::TooLong { bytes_max: self.bytes_max });
        }
        self.came_bytes += bytes;
        self.course.get_or_insert_with(|| Course::begin(self.terms)).note(bytes);
        self.take_room(bytes)
    }

    /// After the end of all: the end, once the request has its turn again.
    fn poll_permit(&mut self, context: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        if mem::take(&mut self.owes_permit) {
            self.reacquiring = Some(self.permit.clone().reacquire().boxed());
        }
        let Some(taking) = &mut self.reacquiring else { return Poll::Ready(None) };
        let taken = ready!(taking.poll_unpin(context));
        self.reacquiring = None;
        match taken {
            Ok(()) => Poll::Ready(None),
            Err(refusal) => told(Fault::Refused(Box::new(refusal))),
        }
    }
}

impl<S: Stream<Item = io::Result<Bytes>> + Send + Unpin + 'static> Stream for BoundedBody<S> {
    type Item = io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.left_bytes.is_none() {
            return told(Fault::TooLong { bytes_max: self.bytes_max });
        }
        let Some(rest) = &mut self.rest else { return self.poll_permit(context) };
        match rest.poll_next_unpin(context) {
            Poll::Pending => told(ready!(self.poll_fault(context))),
            Poll::Ready(Some(Ok(bytes))) => match self.weigh(bytes.len()) {
                Ok(()) => Poll::Ready(Some(Ok(bytes))),
                Err(fault) => told(fault),
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

/// A fault, as whoever reads the body hears of it.
fn told(fault: Fault) -> Poll<Option<io::Result<Bytes>>> {
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
