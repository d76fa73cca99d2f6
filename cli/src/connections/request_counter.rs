//! What is asked over a connection: the requests in hand, and how much of their answers is still to be taken. A request is
//! in hand from its head until the last byte of its answer is with the kernel, so a connection in the midst of a download
//! is never idle.
//!
//! It is written for every request and read now and then by whoever looks after the connection or its place: it must
//! never need a lock that anybody else may hold. Both counts are one number, so that whoever takes it to nothing knows.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use crate::connections::shares::Shares;

// The two counts in one number: requests in hand, and pieces of answers that wait for the visitor.
const IN_HAND: u64 = 1;
const TO_TAKE: u64 = 1 << 32;

/// The requests that have come over a connection; and whether it is to end.
#[derive(Clone)]
pub(crate) struct RequestCounter(Arc<Requests>);

struct Requests {
    opened_at: Instant,
    begun: AtomicU64,
    unfinished: AtomicU64,
    shares: Shares,
    times_all_taken: AtomicU64,
    taken_bytes: AtomicU64,
    /// How long after the opening the last request ended. It is written before that is counted, and read after.
    rests_since_ms: AtomicU64,
    makes_room: AtomicBool,
    leave: Notify,
}

/// A request that is worked on or answered, as long as this is there.
pub(crate) struct InHand {
    requests: RequestCounter,
    /// Its answer's number, where it may be one of several at a time.
    share: Option<u64>,
}

/// Something of an answer that the visitor can take and has not taken, as long as this is there.
pub(crate) struct ToTake {
    requests: RequestCounter,
    share: Option<u64>,
}

/// What was taken of the answers so far.
#[derive(Clone, Copy, Default)]
pub(crate) struct CountedRequest {
    pub(crate) bytes: u64,
    /// How often there was nothing left to take.
    pub(crate) times_all: u64,
    /// Whether there is something now.
    pub(crate) is_awaited: bool,
}

impl Default for RequestCounter {
    fn default() -> Self {
        Self(Arc::new(Requests {
            opened_at: Instant::now(),
            begun: AtomicU64::new(0),
            unfinished: AtomicU64::new(0),
            shares: Shares::default(),
            times_all_taken: AtomicU64::new(0),
            taken_bytes: AtomicU64::new(0),
            rests_since_ms: AtomicU64::new(0),
            makes_room: AtomicBool::new(false),
            leave: Notify::new(),
        }))
    }
}

impl RequestCounter {
    /// A request that comes when the one before is answered.
    pub(crate) fn note(&self) -> InHand {
        self.begin();
        InHand { requests: self.clone(), share: None }
    }

    /// One that may come besides others.
    pub(crate) fn note_one_of_several(&self) -> InHand {
        let number = self.begin();
        InHand { requests: self.clone(), share: Some(number) }
    }

    pub(crate) fn has_begun(&self) -> bool {
        self.0.begun.load(Ordering::Relaxed) > 0
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.0.unfinished.load(Ordering::Acquire) == 0
    }

    /// For how long nothing has been asked; none while something is in hand.
    pub(crate) fn idle_for(&self) -> Option<Duration> {
        self.is_idle().then(|| {
            let rests_since = Duration::from_millis(self.0.rests_since_ms.load(Ordering::Relaxed));
            self.0.opened_at.elapsed().saturating_sub(rests_since)
        })
    }

    pub(crate) fn taken(&self) -> CountedRequest {
        CountedRequest {
            bytes: self.0.taken_bytes.load(Ordering::Relaxed),
            times_all: self.0.times_all_taken.load(Ordering::Relaxed),
            is_awaited: self.0.unfinished.load(Ordering::Relaxed) >= TO_TAKE,
        }
    }

    /// Whether one of several answers lasts longer than what was handed out of it may.
    pub(crate) fn is_any_late(&self, may_last: impl Fn(u64) -> Duration) -> bool {
        self.0.shares.is_any_late(may_last)
    }

    /// Tells the connection to end once everything is answered.
    pub(crate) fn tell_to_leave(&self) {
        self.0.leave.notify_one();
    }

    /// The same, because another wants the place. Nobody need be told twice.
    pub(crate) fn tell_to_make_room(&self) {
        self.0.makes_room.store(true, Ordering::Relaxed);
        self.tell_to_leave();
    }

    pub(crate) fn makes_room(&self) -> bool {
        self.0.makes_room.load(Ordering::Relaxed)
    }

    pub(crate) async fn told_to_leave(&self) {
        self.0.leave.notified().await;
    }

    /// The number of the request that begins.
    fn begin(&self) -> u64 {
        self.0.unfinished.fetch_add(IN_HAND, Ordering::Relaxed);
        self.0.begun.fetch_add(1, Ordering::Relaxed)
    }

    /// One of these is done; how many of both there were. When it was the last of all, the moment is there before anybody
    /// can see that.
    fn end(&self, one: u64) -> u64 {
        self.0.unfinished.update(Ordering::AcqRel, Ordering::Acquire, |unfinished| {
            if unfinished == one {
                let open_for = u64::try_from(self.0.opened_at.elapsed().as_millis()).unwrap_or(u64::MAX);
                self.0.rests_since_ms.store(open_for, Ordering::Relaxed);
            }
            unfinished - one
        })
    }
}

impl InHand {
    /// So many bytes of its answer, or none while it is not known how many.
    pub(crate) fn to_take(&self, bytes: usize) -> ToTake {
        self.requests.0.unfinished.fetch_add(TO_TAKE, Ordering::Relaxed);
        if let Some(number) = self.share {
            self.requests.0.shares.add(number, bytes as u64);
        }
        ToTake { requests: self.requests.clone(), share: self.share }
    }
}

impl Drop for InHand {
    fn drop(&mut self) {
        self.requests.end(IN_HAND);
    }
}

impl ToTake {
    pub(crate) fn note_taken(&self, bytes: usize) {
        self.requests.0.taken_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

impl Drop for ToTake {
    fn drop(&mut self) {
        if let Some(number) = self.share {
            self.requests.0.shares.remove(number);
        }
        if self.requests.end(TO_TAKE) / TO_TAKE == 1 {
            self.requests.0.times_all_taken.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn it_is_known_for_how_long_nothing_was_asked() {
        let requests = RequestCounter::default();
        advance(Duration::from_secs(5)).await;
        assert_eq!(requests.idle_for(), Some(Duration::from_secs(5)));
        let in_hand = requests.note();
        assert_eq!(requests.idle_for(), None);
        drop(in_hand);
        advance(Duration::from_secs(2)).await;
        assert_eq!(requests.idle_for(), Some(Duration::from_secs(2)));
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn of_several_that_end_at_once_one_notes_the_moment() {
        for _ in 0..100 {
            let requests = RequestCounter::default();
            let held: Vec<_> = (0..4).map(|_| requests.note_one_of_several().to_take(1)).collect();
            tokio::time::sleep(Duration::from_millis(2)).await;
            let ending = held.into_iter().map(|piece| tokio::spawn(async move { drop(piece) }));
            futures::future::join_all(ending).await;
            assert!(requests.is_idle() && requests.0.rests_since_ms.load(Ordering::Relaxed) >= 2);
            assert_eq!(requests.taken().times_all, 1);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn it_is_not_idle_until_the_last_piece_is_taken() {
        let requests = RequestCounter::default();
        let in_hand = requests.note();
        let (first, last) = (in_hand.to_take(3), in_hand.to_take(3));
        drop(in_hand);
        first.note_taken(3);
        drop(first);
        advance(Duration::from_secs(5)).await;
        assert_eq!(requests.idle_for(), None);
        assert!(requests.taken().is_awaited);
        drop(last);
        assert_eq!(requests.idle_for(), Some(Duration::ZERO));
        let taken = requests.taken();
        assert_eq!((taken.bytes, taken.times_all, taken.is_awaited), (3, 1, false));
    }
}
