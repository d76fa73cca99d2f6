//! What is asked over a connection: the requests in hand, and how much of their answers is still to be taken. A request is
//! in hand from its head until the last byte of its answer is with the kernel, so a connection in the midst of a download
//! is never idle.
//!
//! It is written for every request and read now and then by whoever looks after the connection or its place: it must
//! never need a lock.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

/// The requests that have come over a connection; and whether it is to end.
#[derive(Clone)]
pub(crate) struct Asked(Arc<Requests>);

struct Requests {
    opened_at: Instant,
    begun: AtomicU64,
    in_hand: AtomicUsize,
    /// Pieces of answers that wait for the visitor.
    to_take: AtomicUsize,
    times_all_taken: AtomicU64,
    taken_bytes: AtomicU64,
    /// How long after the opening the last request ended.
    rests_since_ms: AtomicU64,
    makes_room: AtomicBool,
    leave: Notify,
}

/// A request that is worked on or answered, as long as this is there.
pub(crate) struct InHand(Asked);

/// Something of an answer that the visitor can take and has not taken, as long as this is there.
pub(crate) struct ToTake(Asked);

/// What was taken of the answers so far.
#[derive(Clone, Copy, Default)]
pub(crate) struct Taken {
    pub(crate) bytes: u64,
    /// How often there was nothing left to take.
    pub(crate) times_all: u64,
    /// Whether there is something now.
    pub(crate) is_awaited: bool,
}

impl Default for Asked {
    fn default() -> Self {
        Self(Arc::new(Requests {
            opened_at: Instant::now(),
            begun: AtomicU64::new(0),
            in_hand: AtomicUsize::new(0),
            to_take: AtomicUsize::new(0),
            times_all_taken: AtomicU64::new(0),
            taken_bytes: AtomicU64::new(0),
            rests_since_ms: AtomicU64::new(0),
            makes_room: AtomicBool::new(false),
            leave: Notify::new(),
        }))
    }
}

impl Asked {
    pub(crate) fn note(&self) -> InHand {
        self.0.begun.fetch_add(1, Ordering::Relaxed);
        self.0.in_hand.fetch_add(1, Ordering::Relaxed);
        InHand(self.clone())
    }

    pub(crate) fn has_begun(&self) -> bool {
        self.0.begun.load(Ordering::Relaxed) > 0
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.0.in_hand.load(Ordering::Relaxed) == 0 && self.0.to_take.load(Ordering::Relaxed) == 0
    }

    /// For how long nothing has been asked; none while something is in hand.
    pub(crate) fn idle_for(&self) -> Option<Duration> {
        let rests_since = Duration::from_millis(self.0.rests_since_ms.load(Ordering::Relaxed));
        self.is_idle().then(|| self.0.opened_at.elapsed().saturating_sub(rests_since))
    }

    pub(crate) fn taken(&self) -> Taken {
        Taken {
            bytes: self.0.taken_bytes.load(Ordering::Relaxed),
            times_all: self.0.times_all_taken.load(Ordering::Relaxed),
            is_awaited: self.0.to_take.load(Ordering::Relaxed) > 0,
        }
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

    fn note_rest(&self) {
        if self.is_idle() {
            let open_for = u64::try_from(self.0.opened_at.elapsed().as_millis()).unwrap_or(u64::MAX);
            self.0.rests_since_ms.store(open_for, Ordering::Relaxed);
        }
    }
}

impl InHand {
    pub(crate) fn to_take(&self) -> ToTake {
        self.0.0.to_take.fetch_add(1, Ordering::Relaxed);
        ToTake(self.0.clone())
    }
}

impl Drop for InHand {
    fn drop(&mut self) {
        self.0.0.in_hand.fetch_sub(1, Ordering::Relaxed);
        self.0.note_rest();
    }
}

impl ToTake {
    pub(crate) fn note_taken(&self, bytes: usize) {
        self.0.0.taken_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

impl Drop for ToTake {
    fn drop(&mut self) {
        if self.0.0.to_take.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.0.0.times_all_taken.fetch_add(1, Ordering::Relaxed);
        }
        self.0.note_rest();
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn it_is_known_for_how_long_nothing_was_asked() {
        let asked = Asked::default();
        advance(Duration::from_secs(5)).await;
        assert_eq!(asked.idle_for(), Some(Duration::from_secs(5)));
        let in_hand = asked.note();
        assert_eq!(asked.idle_for(), None);
        drop(in_hand);
        advance(Duration::from_secs(2)).await;
        assert_eq!(asked.idle_for(), Some(Duration::from_secs(2)));
    }

    #[tokio::test(start_paused = true)]
    async fn it_is_not_idle_until_the_last_piece_is_taken() {
        let asked = Asked::default();
        let in_hand = asked.note();
        let (first, last) = (in_hand.to_take(), in_hand.to_take());
        drop(in_hand);
        first.note_taken(3);
        drop(first);
        advance(Duration::from_secs(5)).await;
        assert_eq!(asked.idle_for(), None);
        assert!(asked.taken().is_awaited);
        drop(last);
        assert_eq!(asked.idle_for(), Some(Duration::ZERO));
        let taken = asked.taken();
        assert_eq!((taken.bytes, taken.times_all, taken.is_awaited), (3, 1, false));
    }
}
