//! A bound on concurrent work, with a bounded queue.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

use crate::Shed;

/// The slots for one kind of work.
#[derive(Debug)]
pub struct Slots {
    permits: Arc<Semaphore>,
    queue: Semaphore,
}

/// A slot in use. Dropping it gives the slot to the first caller in the queue.
#[derive(Debug)]
pub struct Permit {
    _slot: OwnedSemaphorePermit,
}

impl Slots {
    pub fn new(concurrent_max: usize, queue_max: usize) -> Self {
        let semaphore = |permits: usize| Semaphore::new(permits.min(Semaphore::MAX_PERMITS));
        Self { permits: Arc::new(semaphore(concurrent_max)), queue: semaphore(queue_max) }
    }

    /// A free slot is granted even after the deadline, since nothing has to wait for it.
    pub async fn acquire(&self, until: Instant) -> Result<Permit, Shed> {
        if let Ok(slot) = self.permits.clone().try_acquire_owned() {
            return Ok(Permit { _slot: slot });
        }
        let _queued = self.queue.try_acquire().map_err(|_| Shed)?;
        match timeout_at(until, self.permits.clone().acquire_owned()).await {
            Ok(Ok(slot)) => Ok(Permit { _slot: slot }),
            _ => Err(Shed),
        }
    }

    /// Whether [`Self::acquire`] would shed at once.
    pub fn is_full(&self) -> bool {
        self.permits.available_permits() == 0 && self.queue.available_permits() == 0
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const WAIT: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn caller_without_a_slot_in_time_is_shed_and_a_later_caller_gets_the_free_slot() {
        let slots = Slots::new(1, 1);
        let until = Instant::now() + WAIT;
        let held = slots.acquire(until).await.unwrap();
        assert_eq!(slots.acquire(until).await.unwrap_err(), Shed);
        assert_eq!(Instant::now(), until);
        drop(held);
        assert!(slots.acquire(until).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_full_queue_sheds_at_once_and_the_callers_in_it_get_the_slot_that_is_freed() {
        let slots = Arc::new(Slots::new(1, 2));
        let since = Instant::now();
        let held = slots.acquire(since + WAIT).await.unwrap();
        assert!(!slots.is_full(), "the queue is empty");
        let queue = || {
            let slots = slots.clone();
            tokio::spawn(async move { slots.acquire(since + WAIT).await.is_ok() })
        };
        let queued = [queue(), queue()];
        tokio::task::yield_now().await;
        assert!(slots.is_full());
        assert!(slots.acquire(since + WAIT).await.is_err());
        assert_eq!(since.elapsed(), Duration::ZERO);
        drop(held);
        for granted in queued {
            assert!(granted.await.unwrap());
        }
        assert_eq!(since.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn a_caller_that_stops_waiting_leaves_the_queue() {
        let slots = Slots::new(1, 1);
        let until = Instant::now() + WAIT;
        let _held = slots.acquire(until).await.unwrap();
        for _ in 0..2 {
            let waiting = tokio::time::timeout(WAIT / 2, slots.acquire(until + WAIT));
            assert!(waiting.await.is_err(), "it was in the queue");
        }
        assert!(!slots.is_full());
    }
}
