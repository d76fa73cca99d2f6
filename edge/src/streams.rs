//! Streams: answers that are too large for memory, sent while they are read. Each takes a place until all of it was taken,
//! or its visitor is gone, or takes too little for too long.
//!
//! A connection of HTTP/2 that is in use may hold answers of which nothing is ever taken. Such a body is not even asked for
//! more, so it cannot look at a clock itself: a task beside it reads one chunk ahead, and waits for that to be taken.
//! It must never count against a visitor what the store takes.

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

/// Nobody is further ahead of the least pace: what is taken in a burst, as buffers take it, may rest for as long as it
/// lasts at that pace.
const LEAD_BYTES_MAX: u64 = 1 << 20;
/// How long an answer may rest that is not looked at. Timers have no way to say never.
const FOR_GOOD: Duration = Duration::from_secs(365 * 24 * 3600);

/// The places of an edge's streamed answers. Clones are the same.
#[derive(Clone)]
pub struct Streams {
    shares: FairShare<IpAddr>,
    pace: Pace,
    meter: ConnectionMeter,
}

/// The places as they are open to one network; to none: to visitors who cannot be told apart, and have no share.
#[derive(Clone)]
pub struct StreamShare {
    streams: Streams,
    network: Option<IpAddr>,
}

/// How an answer is to be taken.
#[derive(Clone, Copy, Debug)]
struct Pace {
    rest_max: Duration,
    bytes_per_second_min: u32,
}

/// A place for one answer.
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
    /// To be had before anything is opened.
    pub async fn enter(&self, until: Instant) -> anyhow::Result<StreamSlot> {
        let Streams { shares, pace, meter } = &self.streams;
        let mut share = shares.share(self.network);
        share.grow(1, until).await.map_err(|_| LoadQueue::StreamedAnswers.shed())?;
        Ok(StreamSlot { _share: share, pace: *pace, meter: meter.clone() })
    }
}

impl StreamSlot {
    /// A body that holds the place.
    pub fn deliver(self, chunks: Chunks) -> Body {
        let (hand, mut handed) = channel(1);
        let delivery = AbortOnDropHandle::new(tokio::spawn(self.hand_over(chunks, hand)));
        let taken = try_stream! {
            while let Some(chunk) = handed.recv().await {
                yield chunk;
            }
            delivery.await.map_err(io::Error::other)??;
        };
        Body::from_bytes_stream(taken.map_err(|error: io::Error| error))
    }

    /// Nothing is read before what was read last has been taken; so this ends when all has.
    async fn hand_over(self, mut chunks: Chunks, hand: Sender<Bytes>) -> io::Result<()> {
        let (mut may_rest, mut handed_bytes) = (self.pace.first_rest(), 0);
        loop {
            let since = Instant::now();
            let Ok(room) = timeout(may_rest, hand.reserve()).await else {
                self.meter.cut(Cut::Untaken);
                tracing::debug!("a streamed answer is cut off: too little of it is taken");
                return Err(io::Error::new(io::ErrorKind::TimedOut, "too little of the answer is taken"));
            };
            let room = room.map_err(io::Error::other)?;
            // What was handed over last has been taken.
            may_rest = self.pace.rest_after(may_rest.saturating_sub(since.elapsed()), handed_bytes);
            let Some(chunk) = chunks.try_next().await? else { return Ok(()) };
            handed_bytes = chunk.len();
            room.send(chunk);
        }
    }
}

impl Pace {
    /// How long an answer may rest of which nothing was taken yet.
    fn first_rest(&self) -> Duration {
        if self.bytes_per_second_min == 0 { FOR_GOOD } else { self.rest_max }
    }

    /// How long an answer may rest that might still rest for so long, and of which so much has been taken now.
    fn rest_after(&self, left: Duration, bytes: usize) -> Duration {
        match (self.lasting(bytes as u64), self.lasting(LEAD_BYTES_MAX)) {
            (Some(earned), Some(lead)) => (left + earned).min(self.rest_max + lead),
            _ => FOR_GOOD,
        }
    }

    /// How long so many bytes last at the least pace; none when any pace will do.
    fn lasting(&self, bytes: u64) -> Option<Duration> {
        (bytes * 1_000_000).checked_div(self.bytes_per_second_min.into()).map(Duration::from_micros)
    }
}

#[cfg(test)]
mod tests;
