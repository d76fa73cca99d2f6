//! A bounded set of connections: a listener's, or one address's share of it. When it is full, a new
//! connection waits briefly while the longest idle ones are closed. A connection is closed only once, and
//! never for others while a request is active.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};
use tokio::time::{Instant, timeout_at};

use crate::connections::RequestCounter;

/// A connection that was used or opened more recently is not closed, because its next request may be on its
/// way.
const IDLE_AFTER: Duration = Duration::from_secs(1);
/// When slots are needed, at least one in this many is closed, so the next connections find one at once.
const EVICTED_SHARE: usize = 100;
/// How often a waiting connection checks for idle ones, because more become idle meanwhile.
const RECHECK_AFTER: Duration = Duration::from_millis(100);
/// The minimum time between two checks of all connections, however many are waiting.
const CHECK_PAUSE: Duration = Duration::from_millis(50);

pub(super) struct IdleConnections {
    max: usize,
    permits: Arc<Semaphore>,
    waiting_max: usize,
    queue: Semaphore,
    connections: Mutex<Connections>,
}

#[derive(Default)]
struct Connections {
    next_number: u64,
    by_number: HashMap<u64, RequestCounter>,
    last_check: Option<IdleCheck>,
}

#[derive(Clone, Copy)]
struct IdleCheck {
    at: Instant,
    /// Whether a connection is closing or may soon be idle.
    may_free_slot: bool,
}

/// An acquired slot without a connection.
pub(super) struct FreeSlot {
    set: Arc<IdleConnections>,
    permit: OwnedSemaphorePermit,
}

/// A connection's slot, until it is dropped.
pub(super) struct IdleEntry {
    set: Arc<IdleConnections>,
    number: u64,
    _permit: OwnedSemaphorePermit,
}

impl IdleConnections {
    /// A set with so many slots, and a queue of this length.
    pub(super) fn of(max: usize, waiting_max: usize) -> Arc<Self> {
        let max = max.min(Semaphore::MAX_PERMITS);
        let (permits, queue) = (Arc::new(Semaphore::new(max)), Semaphore::new(waiting_max));
        Arc::new(Self { max, permits, waiting_max, queue, connections: Mutex::default() })
    }

    pub(super) fn try_acquire(self: &Arc<Self>) -> Option<FreeSlot> {
        let permit = self.permits.clone().try_acquire_owned().ok()?;
        Some(FreeSlot { set: self.clone(), permit })
    }

    /// A position in the queue, or `None` if it is full.
    pub(super) fn enter_queue(&self) -> Option<SemaphorePermit<'_>> {
        self.queue.try_acquire().ok()
    }

    /// A slot for a queued connection, as soon as one is free. `None` if no connection can be closed, or none
    /// was in time.
    pub(super) async fn acquire_by(self: &Arc<Self>, deadline: Instant) -> Option<FreeSlot> {
        let permit = self.wait_by(deadline).await?;
        Some(FreeSlot { set: self.clone(), permit })
    }

    async fn wait_by(&self, deadline: Instant) -> Option<OwnedSemaphorePermit> {
        // One wait throughout, so that the order of arrival is kept.
        let mut acquired = std::pin::pin!(self.permits.clone().acquire_owned());
        while self.evict_idle() {
            let recheck_at = deadline.min(Instant::now() + RECHECK_AFTER);
            match timeout_at(recheck_at, acquired.as_mut()).await {
                Ok(permit) => return permit.ok(),
                Err(_) if Instant::now() >= deadline => return None,
                Err(_) => {}
            }
        }
        None
    }

    /// Closes as many of the longest idle connections as there are waiting ones. Returns whether a slot may
    /// become free.
    pub(super) fn evict_idle(&self) -> bool {
        let mut connections = self.connections();
        if let Some(check) = connections.last_check.filter(|check| check.at.elapsed() < CHECK_PAUSE) {
            return check.may_free_slot;
        }
        let needed = self.waiting().max(self.max / EVICTED_SHARE).max(1);
        let may_free_slot = evict_longest_idle(connections.by_number.values(), needed);
        connections.last_check = Some(IdleCheck { at: Instant::now(), may_free_slot });
        may_free_slot
    }

    pub(super) fn waiting(&self) -> usize {
        self.waiting_max - self.queue.available_permits()
    }

    #[cfg(test)]
    pub(super) fn taken(&self) -> usize {
        self.connections().by_number.len()
    }

    /// Hands out no more slots, and closes every connection as soon as its active requests are answered.
    pub(super) fn close(&self) {
        self.permits.close();
        self.connections().by_number.values().for_each(RequestCounter::close);
    }

    fn connections(&self) -> MutexGuard<'_, Connections> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Closes this many, less those that are closing already. Returns whether any is closing or may be soon.
fn evict_longest_idle<'a>(connections: impl Iterator<Item = &'a RequestCounter>, needed: usize) -> bool {
    let (mut idle, mut leaving, mut is_any_young) = (Vec::new(), 0, false);
    for requests in connections {
        match requests.idle_for() {
            None => {}
            Some(_) if requests.is_evicted() => leaving += 1,
            Some(idle_for) if idle_for < IDLE_AFTER => is_any_young = true,
            Some(idle_for) => idle.push((idle_for, requests)),
        }
    }
    let evicted = needed.saturating_sub(leaving).min(idle.len());
    if evicted > 0 {
        idle.select_nth_unstable_by(evicted - 1, |(one, _), (other, _)| other.cmp(one));
        idle[..evicted].iter().for_each(|(_, requests)| requests.evict());
    }
    evicted > 0 || leaving > 0 || is_any_young
}

impl FreeSlot {
    pub(super) fn take(self, requests: &RequestCounter) -> IdleEntry {
        let Self { set, permit } = self;
        let mut connections = set.connections();
        let number = connections.next_number;
        connections.next_number += 1;
        connections.by_number.insert(number, requests.clone());
        drop(connections);
        // `close` may have missed a connection that is added at the same time.
        if set.permits.is_closed() {
            requests.close();
        }
        IdleEntry { set, number, _permit: permit }
    }
}

impl Drop for IdleEntry {
    fn drop(&mut self) {
        self.set.connections().by_number.remove(&self.number);
    }
}
