//! Shares: what a visitor has still to take of each answer of a connection that may have several at a time, as with
//! HTTP/2. Taken all together they must be fast enough, and each must be for itself: or a trickle of one would pay for all
//! that are stalled. Where answers come one after the other there is nothing to share, and this must cost nothing.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Those of which there is something to take.
#[derive(Default)]
pub(super) struct Shares(Mutex<Vec<Share>>);

struct Share {
    answer: u64,
    /// Since when there has always been something to take.
    since: Instant,
    /// What was handed out since then.
    bytes: u64,
    pieces: usize,
}

impl Shares {
    /// A piece more is to be taken of this answer.
    pub(super) fn add(&self, answer: u64, bytes: u64) {
        let mut shares = self.all();
        if let Some(share) = shares.iter_mut().find(|share| share.answer == answer) {
            share.pieces += 1;
            share.bytes += bytes;
        } else {
            shares.push(Share { answer, since: Instant::now(), bytes, pieces: 1 });
        }
    }

    /// A piece of this answer is taken, or given up.
    pub(super) fn remove(&self, answer: u64) {
        let mut shares = self.all();
        if let Some(place) = shares.iter().position(|share| share.answer == answer) {
            shares[place].pieces -= 1;
            if shares[place].pieces == 0 {
                shares.swap_remove(place);
            }
        }
    }

    /// Whether any has been there for longer than what was handed out of it may last.
    pub(super) fn is_any_late(&self, may_last: impl Fn(u64) -> Duration) -> bool {
        self.all().iter().any(|share| share.since.elapsed() > may_last(share.bytes))
    }

    /// Only what is written and read over one connection waits here, and nobody keeps it.
    fn all(&self) -> MutexGuard<'_, Vec<Share>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
