//! The active requests of a connection, and how much of their responses is unread. A request is active from
//! its head until the kernel has the last byte of its response, so a connection in the middle of a download
//! is never idle.
//!
//! The counters are written for every request and read now and then. They must never need a contended lock.
//! Both counts share one number, so that the thread that brings it to zero knows that it did.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use crate::connections::shares::Shares;

// Both counts in one number: active requests, and pieces of responses that wait for the client.
const REQUEST: u64 = 1;
const PIECE: u64 = 1 << 32;

/// The requests of a connection, and whether it is to close.
#[derive(Clone)]
pub(crate) struct RequestCounter(Arc<Requests>);

struct Requests {
    opened_at: Instant,
    started: AtomicU64,
    unfinished: AtomicU64,
    shares: Shares,
    completions: AtomicU64,
    taken_bytes: AtomicU64,
    /// How long after the opening the last request ended. Written before the count reaches zero and read
    /// afterwards.
    idle_since_ms: AtomicU64,
    is_evicted: AtomicBool,
    closing: Notify,
}

/// Marks a request as active until it is dropped.
pub(crate) struct ActiveRequest {
    requests: RequestCounter,
    /// The number of its response, if there may be several at a time.
    share: Option<u64>,
}

/// Marks a piece of a response as unread until it is dropped.
pub(crate) struct PendingPiece {
    requests: RequestCounter,
    share: Option<u64>,
}

/// What was read of the responses so far.
#[derive(Clone, Copy, Default)]
pub(crate) struct CountedRequest {
    pub(crate) bytes: u64,
    /// How often everything was read.
    pub(crate) completions: u64,
    /// Whether anything is unread now.
    pub(crate) is_pending: bool,
}

impl Default for RequestCounter {
    fn default() -> Self {
        Self(Arc::new(Requests {
            opened_at: Instant::now(),
            started: AtomicU64::new(0),
            unfinished: AtomicU64::new(0),
            shares: Shares::default(),
            completions: AtomicU64::new(0),
            taken_bytes: AtomicU64::new(0),
            idle_since_ms: AtomicU64::new(0),
            is_evicted: AtomicBool::new(false),
            closing: Notify::new(),
        }))
    }
}

impl RequestCounter {
    /// Starts a request that comes after the previous one was answered.
    pub(crate) fn start(&self) -> ActiveRequest {
        self.begin();
        ActiveRequest { requests: self.clone(), share: None }
    }

    /// Starts a request that may run concurrently with others.
    pub(crate) fn start_concurrent(&self) -> ActiveRequest {
        let number = self.begin();
        ActiveRequest { requests: self.clone(), share: Some(number) }
    }

    pub(crate) fn has_started(&self) -> bool {
        self.0.started.load(Ordering::Relaxed) > 0
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.0.unfinished.load(Ordering::Acquire) == 0
    }

    /// How long the connection has been idle, or `None` while a request is active.
    pub(crate) fn idle_for(&self) -> Option<Duration> {
        self.is_idle().then(|| {
            let idle_since = Duration::from_millis(self.0.idle_since_ms.load(Ordering::Relaxed));
            self.0.opened_at.elapsed().saturating_sub(idle_since)
        })
    }

    pub(crate) fn taken(&self) -> CountedRequest {
        CountedRequest {
            bytes: self.0.taken_bytes.load(Ordering::Relaxed),
            completions: self.0.completions.load(Ordering::Relaxed),
            is_pending: self.0.unfinished.load(Ordering::Relaxed) >= PIECE,
        }
    }

    /// Whether one of several responses has taken longer than it may.
    pub(crate) fn is_any_late(&self, may_last: impl Fn(u64) -> Duration) -> bool {
        self.0.shares.is_any_late(may_last)
    }

    /// Asks the connection to close once everything is answered.
    pub(crate) fn close(&self) {
        self.0.closing.notify_one();
    }

    /// The same, to free its slot for another connection. Repeated calls have no effect.
    pub(crate) fn evict(&self) {
        self.0.is_evicted.store(true, Ordering::Relaxed);
        self.close();
    }

    pub(crate) fn is_evicted(&self) -> bool {
        self.0.is_evicted.load(Ordering::Relaxed)
    }

    pub(crate) async fn closing(&self) {
        self.0.closing.notified().await;
    }

    /// Counts a request and returns its number.
    fn begin(&self) -> u64 {
        self.0.unfinished.fetch_add(REQUEST, Ordering::Relaxed);
        self.0.started.fetch_add(1, Ordering::Relaxed)
    }

    /// Counts one down and returns the previous counts. For the last one, the time is stored before any
    /// thread can see the zero.
    fn end(&self, one: u64) -> u64 {
        self.0.unfinished.update(Ordering::AcqRel, Ordering::Acquire, |unfinished| {
            if unfinished == one {
                let open_for = u64::try_from(self.0.opened_at.elapsed().as_millis()).unwrap_or(u64::MAX);
                self.0.idle_since_ms.store(open_for, Ordering::Relaxed);
            }
            unfinished - one
        })
    }
}

impl ActiveRequest {
    /// Marks bytes of the response as unread. 0: their number is not known yet.
    pub(crate) fn pending(&self, bytes: usize) -> PendingPiece {
        self.requests.0.unfinished.fetch_add(PIECE, Ordering::Relaxed);
        if let Some(number) = self.share {
            self.requests.0.shares.add(number, bytes as u64);
        }
        PendingPiece { requests: self.requests.clone(), share: self.share }
    }
}

impl Drop for ActiveRequest {
    fn drop(&mut self) {
        self.requests.end(REQUEST);
    }
}

impl PendingPiece {
    pub(crate) fn count_taken(&self, bytes: usize) {
        self.requests.0.taken_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

impl Drop for PendingPiece {
    fn drop(&mut self) {
        if let Some(number) = self.share {
            self.requests.0.shares.remove(number);
        }
        if self.requests.end(PIECE) / PIECE == 1 {
            self.requests.0.completions.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn idle_time_counts_from_the_end_of_the_last_request() {
        let requests = RequestCounter::default();
        advance(Duration::from_secs(5)).await;
        assert_eq!(requests.idle_for(), Some(Duration::from_secs(5)));
        let active = requests.start();
        assert_eq!(requests.idle_for(), None);
        drop(active);
        advance(Duration::from_secs(2)).await;
        assert_eq!(requests.idle_for(), Some(Duration::from_secs(2)));
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn simultaneous_completions_record_the_idle_time_once() {
        for _ in 0..100 {
            let requests = RequestCounter::default();
            let held: Vec<_> = (0..4).map(|_| requests.start_concurrent().pending(1)).collect();
            tokio::time::sleep(Duration::from_millis(2)).await;
            let ending = held.into_iter().map(|piece| tokio::spawn(async move { drop(piece) }));
            futures::future::join_all(ending).await;
            assert!(requests.is_idle() && requests.0.idle_since_ms.load(Ordering::Relaxed) >= 2);
            assert_eq!(requests.taken().completions, 1);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn connection_is_not_idle_until_the_last_chunk_is_sent() {
        let requests = RequestCounter::default();
        let active = requests.start();
        let (first, last) = (active.pending(3), active.pending(3));
        drop(active);
        first.count_taken(3);
        drop(first);
        advance(Duration::from_secs(5)).await;
        assert_eq!(requests.idle_for(), None);
        assert!(requests.taken().is_pending);
        drop(last);
        assert_eq!(requests.idle_for(), Some(Duration::ZERO));
        let taken = requests.taken();
        assert_eq!((taken.bytes, taken.completions, taken.is_pending), (3, 1, false));
    }
}
