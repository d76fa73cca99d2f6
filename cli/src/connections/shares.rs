//! The unread bytes of each response on a connection that may have several at a time, as with HTTP/2. The
//! responses together must be read fast enough, and each one by itself. Otherwise a client could read one
//! response slowly and stall all others. With sequential responses this must cost nothing.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// The responses with unread pieces.
#[derive(Default)]
pub(super) struct Shares(Mutex<Vec<Share>>);

struct Share {
    response: u64,
    /// The start of the current unread period.
    since: Instant,
    /// How much was handed out since then.
    bytes: u64,
    pieces: usize,
}

impl Shares {
    /// Adds an unread piece of this response.
    pub(super) fn add(&self, response: u64, bytes: u64) {
        let mut shares = self.all();
        if let Some(share) = shares.iter_mut().find(|share| share.response == response) {
            share.pieces += 1;
            share.bytes += bytes;
        } else {
            shares.push(Share { response, since: Instant::now(), bytes, pieces: 1 });
        }
    }

    /// Removes a piece of this response, which was read or dropped.
    pub(super) fn remove(&self, response: u64) {
        let mut shares = self.all();
        if let Some(index) = shares.iter().position(|share| share.response == response) {
            shares[index].pieces -= 1;
            if shares[index].pieces == 0 {
                shares.swap_remove(index);
            }
        }
    }

    /// Whether a response has taken longer than it may.
    pub(super) fn is_any_late(&self, may_last: impl Fn(u64) -> Duration) -> bool {
        self.all().iter().any(|share| share.since.elapsed() > may_last(share.bytes))
    }

    /// The lock is used by one connection's reads and writes only, and briefly.
    fn all(&self) -> MutexGuard<'_, Vec<Share>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
