//! A budget that is divided fairly between clients.
//!
//! A client may hold as many units as it leaves free: half of the budget if it is alone, a third each for
//! two, and so on. A client that holds none gets its first unit whenever one is free. So no client that fills
//! its share and stalls can block the others.

use std::collections::HashMap;
use std::hash::Hash;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, Semaphore};
use tokio::time::{Instant, timeout_at};

use crate::Shed;

/// A budget of units, such as bytes or responses, shared by the clients that `K` identifies. Clones share one
/// budget.
#[derive(Clone, Debug)]
pub struct FairShare<K>(Arc<Budget<K>>);

#[derive(Debug)]
struct Budget<K> {
    units: Mutex<Units<K>>,
    released: Notify,
    queue: Semaphore,
}

#[derive(Debug)]
struct Units<K> {
    free: usize,
    by_key: HashMap<K, usize>,
}

/// The units that one piece of work holds so far. Dropping it releases them.
#[derive(Debug)]
pub struct Share<K: Copy + Eq + Hash> {
    budget: FairShare<K>,
    key: Option<K>,
    held: usize,
}

impl<K: Copy + Eq + Hash> FairShare<K> {
    pub fn new(units_max: usize, queue_max: usize) -> Self {
        let units = Mutex::new(Units { free: units_max, by_key: HashMap::new() });
        let queue = Semaphore::new(queue_max.min(Semaphore::MAX_PERMITS));
        Self(Arc::new(Budget { units, released: Notify::new(), queue }))
    }

    /// A share without units yet. Without a key it is not limited by fairness, only by the budget.
    pub fn share(&self, key: Option<K>) -> Share<K> {
        Share { budget: self.clone(), key, held: 0 }
    }

    /// The counts are consistent at every point where a panic could poison the lock.
    fn units(&self) -> MutexGuard<'_, Units<K>> {
        self.0.units.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Copy + Eq + Hash> Share<K> {
    /// Adds units, or sheds at once if the key may not have them now.
    pub fn try_grow(&mut self, units: usize) -> Result<(), Shed> {
        if !self.budget.units().take(self.key, units) {
            return Err(Shed);
        }
        self.held += units;
        Ok(())
    }

    /// As [`Self::try_grow`], but waits in the queue until the deadline for units to be released.
    pub async fn grow(&mut self, units: usize, until: Instant) -> Result<(), Shed> {
        if self.try_grow(units).is_ok() {
            return Ok(());
        }
        let budget = self.budget.clone();
        let _queued = budget.0.queue.try_acquire().map_err(|_| Shed)?;
        timeout_at(until, self.wait(&budget, units)).await.map_err(|_| Shed)
    }

    async fn wait(&mut self, budget: &FairShare<K>, units: usize) {
        loop {
            let mut released = pin!(budget.0.released.notified());
            // Registered before the check, so that no release between check and wait is missed.
            released.as_mut().enable();
            if self.try_grow(units).is_ok() {
                return;
            }
            released.await;
        }
    }
}

impl<K: Copy + Eq + Hash> Units<K> {
    fn take(&mut self, key: Option<K>, units: usize) -> bool {
        if units == 0 {
            return true;
        }
        let Some(left) = self.free.checked_sub(units) else { return false };
        if let Some(key) = key {
            let held = self.by_key.get(&key).copied().unwrap_or(0) + units;
            if held > 1 && held > left {
                return false;
            }
            self.by_key.insert(key, held);
        }
        self.free = left;
        true
    }

    fn release(&mut self, key: Option<K>, units: usize) {
        self.free += units;
        let Some(key) = key else { return };
        if let Some(held) = self.by_key.get_mut(&key) {
            *held -= units;
            if *held == 0 {
                self.by_key.remove(&key);
            }
        }
    }
}

impl<K: Copy + Eq + Hash> Drop for Share<K> {
    fn drop(&mut self) {
        if self.held > 0 {
            self.budget.units().release(self.key, self.held);
            self.budget.0.released.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const UNITS: usize = 1024;
    const WAIT: Duration = Duration::from_secs(1);

    fn fill(budget: &FairShare<u8>, key: Option<u8>) -> Share<u8> {
        let mut share = budget.share(key);
        while share.try_grow(1).is_ok() {}
        share
    }

    #[test]
    fn another_client_gets_a_unit_even_when_many_have_filled_their_shares() {
        let budget = FairShare::new(UNITS, 1);
        let filled: Vec<_> = (1..=9).map(|client| fill(&budget, Some(client))).collect();
        assert_eq!((filled[0].held, filled[1].held), (UNITS / 2, UNITS / 4));
        assert!(filled.iter().all(|share| share.held > 0));
        budget.share(Some(10)).try_grow(1).unwrap();
        drop(filled);
        assert!(budget.units().by_key.is_empty());
        assert_eq!(budget.units().free, UNITS);
    }

    #[test]
    fn last_unit_is_reserved_for_a_client_without_units_and_unkeyed_shares_may_take_all() {
        let budget = FairShare::new(3, 1);
        let filled: Vec<_> = (1..=3).map(|client| fill(&budget, Some(client))).collect();
        assert_eq!(filled.iter().map(|share| share.held).collect::<Vec<_>>(), [1, 1, 1]);
        drop(filled);
        assert_eq!(fill(&budget, None).held, 3);
    }

    #[test]
    fn shares_of_one_client_are_counted_together_and_empty_shares_are_free() {
        let budget = FairShare::new(UNITS, 1);
        let mut first = budget.share(Some(1));
        first.try_grow(UNITS / 4).unwrap();
        first.try_grow(UNITS / 4).unwrap();
        let mut second = budget.share(Some(1));
        assert_eq!(second.try_grow(1).unwrap_err(), Shed);
        second.try_grow(0).unwrap();
        budget.share(Some(2)).try_grow(0).unwrap();
        drop(first);
        second.try_grow(UNITS / 2).unwrap();
        drop(second);
        assert!(budget.units().by_key.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn queued_share_gets_released_units_and_full_queue_sheds_at_once() {
        let budget = FairShare::new(4, 1);
        let (own, _other) = (fill(&budget, Some(1)), fill(&budget, Some(2)));
        let since = Instant::now();
        let mut queued = budget.share(Some(1));
        let waiting = tokio::spawn(async move { queued.grow(1, since + WAIT).await });
        tokio::task::yield_now().await;
        assert!(budget.share(Some(1)).grow(1, since + WAIT).await.is_err());
        assert_eq!(since.elapsed(), Duration::ZERO, "the queue is full");
        drop(own);
        waiting.await.unwrap().unwrap();
        assert_eq!(since.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn a_share_that_waits_past_its_deadline_takes_nothing() {
        let budget = FairShare::new(2, 1);
        let held = fill(&budget, Some(1));
        let until = Instant::now() + WAIT;
        let mut late = budget.share(Some(1));
        assert!(late.grow(1, until).await.is_err());
        assert_eq!((Instant::now(), late.held), (until, 0));
        drop(held);
        late.grow(1, until).await.unwrap();
    }
}
