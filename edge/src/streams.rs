//! Streamed responses, which are too large for memory. Each holds a slot until the client has read it whole,
//! has disconnected, or has read too slowly for too long.
//!
//! An HTTP/2 connection in use may hold responses that the client never reads. Such a body is not polled, so
//! it cannot check a timeout itself. A separate task reads one chunk ahead and waits for the client to take
//! it. The time that the store takes must never count against a visitor.

use std::io;
use std::net::IpAddr;
use std::time::Duration;

use admission::{FairShare, Share};
use async_stream::try_stream;
use bytes::Bytes;
use futures::TryStreamExt;
use poem::Body;
use telemetry::{ConnectionMeter, Cut};
use tokio::sync::mpsc::{Sender, channel};
use tokio::time::{Instant, timeout};
use tokio_util::task::AbortOnDropHandle;

use crate::chunks::Chunks;
use crate::load::{LoadQueue, LoadTerms};

/// The largest credit of a client that reads faster than the minimum rate. A burst, as buffers produce it,
/// earns as much idle time as it would take at the minimum rate.
const LEAD_BYTES_MAX: u64 = 1 << 20;
/// The timeout of a response without a minimum rate. Timers have no infinite one.
const NO_TIMEOUT: Duration = Duration::from_secs(365 * 24 * 3600);

/// The stream slots of an edge. Clones share them.
#[derive(Clone)]
pub struct Streams {
    shares: FairShare<IpAddr>,
    pace: Pace,
    meter: ConnectionMeter,
}

/// The slots as one network sees them. `None`: clients that cannot be distinguished and have no fair share.
#[derive(Clone)]
pub struct StreamShare {
    streams: Streams,
    network: Option<IpAddr>,
}

/// The minimum rate and the longest stall of a response.
#[derive(Clone, Copy, Debug)]
struct Pace {
    rest_max: Duration,
    bytes_per_second_min: u32,
}

/// A slot for one response.
pub struct StreamSlot {
    _share: Share<IpAddr>,
    pace: Pace,
    meter: ConnectionMeter,
}

impl Streams {
    pub fn new(terms: &LoadTerms) -> Self {
        Self {
            shares: FairShare::new(terms.streamed_answers_max, terms.waiting_max),
            pace: Pace { rest_max: terms.rest_max, bytes_per_second_min: terms.bytes_per_second_min },
            meter: ConnectionMeter::of("edge"),
        }
    }

    pub fn open_to(&self, network: Option<IpAddr>) -> StreamShare {
        StreamShare { streams: self.clone(), network }
    }
}

impl StreamShare {
    /// Acquires a slot. Call this before opening anything.
    pub async fn enter(&self, until: Instant) -> anyhow::Result<StreamSlot> {
        let Streams { shares, pace, meter } = &self.streams;
        let mut share = shares.share(self.network);
        share.grow(1, until).await.map_err(|_| LoadQueue::StreamedAnswers.shed())?;
        Ok(StreamSlot { _share: share, pace: *pace, meter: meter.clone() })
    }
}

impl StreamSlot {
    /// A body that holds the slot.
    pub fn deliver(self, chunks: Chunks) -> Body {
        let (sender, mut receiver) = channel(1);
        let delivery = AbortOnDropHandle::new(tokio::spawn(self.forward(chunks, sender)));
        let taken = try_stream! {
            while let Some(chunk) = receiver.recv().await {
                yield chunk;
            }
            delivery.await.map_err(io::Error::other)??;
        };
        Body::from_bytes_stream(taken.map_err(|error: io::Error| error))
    }

    /// Reads a chunk only after the previous one was taken, so it ends when all of them were.
    async fn forward(self, mut chunks: Chunks, sender: Sender<Bytes>) -> io::Result<()> {
        let (mut may_rest, mut sent_bytes) = (self.pace.first_rest(), 0);
        loop {
            let since = Instant::now();
            let Ok(permit) = timeout(may_rest, sender.reserve()).await else {
                self.meter.cut(Cut::Untaken);
                tracing::debug!("cut off a streamed response: the client reads too slowly");
                return Err(io::Error::new(
                    io::ErrorKind::TimedOut,
                    "the client reads the response too slowly",
                ));
            };
            let permit = permit.map_err(io::Error::other)?;
            // The previous chunk has been taken.
            may_rest = self.pace.rest_after(may_rest.saturating_sub(since.elapsed()), sent_bytes);
            let Some(chunk) = chunks.try_next().await? else { return Ok(()) };
            sent_bytes = chunk.len();
            permit.send(chunk);
        }
    }
}

impl Pace {
    /// The longest stall before the first chunk is taken.
    fn first_rest(&self) -> Duration {
        if self.bytes_per_second_min == 0 { NO_TIMEOUT } else { self.rest_max }
    }

    /// The longest stall after so many bytes were taken, given what was left of the previous one.
    fn rest_after(&self, left: Duration, bytes: usize) -> Duration {
        match (self.lasting(bytes as u64), self.lasting(LEAD_BYTES_MAX)) {
            (Some(earned), Some(lead)) => (left + earned).min(self.rest_max + lead),
            _ => NO_TIMEOUT,
        }
    }

    /// The time that this many bytes take at the minimum rate. `None` without a minimum.
    fn lasting(&self, bytes: u64) -> Option<Duration> {
        (bytes * 1_000_000).checked_div(self.bytes_per_second_min.into()).map(Duration::from_micros)
    }
}

#[cfg(test)]
mod tests;
