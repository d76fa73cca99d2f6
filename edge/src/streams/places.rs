//! Places: how many streamed answers are sent at a time, and to whom.
//!
//! An address may have as many of the places as it leaves free: half of them for one alone, a third for each of two, and
//! so on; its first it has whenever one is free. So nobody who takes many and stalls keeps the others out, over however
//! many connections.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, Semaphore};
use tokio::time::{Instant, timeout_at};

pub struct Places {
    taken: Mutex<Taken>,
    /// A place was given back.
    given_back: Notify,
    waiting: Semaphore,
}

struct Taken {
    free: usize,
    by_network: HashMap<IpAddr, usize>,
}

/// A place for one answer. It is given back when this is dropped.
pub struct Place {
    places: Arc<Places>,
    network: Option<IpAddr>,
}

impl Places {
    pub fn new(at_a_time_max: usize, waiting_max: usize) -> Self {
        let taken = Mutex::new(Taken { free: at_a_time_max, by_network: HashMap::new() });
        Self { taken, given_back: Notify::new(), waiting: Semaphore::new(waiting_max) }
    }

    /// None when there is none in time for this network, or too many wait already. Whoever comes from none has no share,
    /// and may have any number.
    pub async fn take(self: &Arc<Self>, network: Option<IpAddr>, until: Instant) -> Option<Place> {
        if let Some(place) = self.take_now(network) {
            return Some(place);
        }
        let _in_line = self.waiting.try_acquire().ok()?;
        timeout_at(until, self.wait(network)).await.ok()
    }

    async fn wait(self: &Arc<Self>, network: Option<IpAddr>) -> Place {
        loop {
            let given_back = self.given_back.notified();
            tokio::pin!(given_back);
            // From here on: what is given back after the look must not be missed.
            given_back.as_mut().enable();
            if let Some(place) = self.take_now(network) {
                return place;
            }
            given_back.await;
        }
    }

    fn take_now(self: &Arc<Self>, network: Option<IpAddr>) -> Option<Place> {
        let is_taken = self.taken().take(network);
        is_taken.then(|| Place { places: self.clone(), network })
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Taken {
    fn take(&mut self, network: Option<IpAddr>) -> bool {
        let Some(left) = self.free.checked_sub(1) else { return false };
        if let Some(network) = network {
            let held = self.by_network.get(&network).map_or(1, |held| held + 1);
            if held > 1 && held > left {
                return false;
            }
            self.by_network.insert(network, held);
        }
        self.free = left;
        true
    }

    fn give_back(&mut self, network: Option<IpAddr>) {
        self.free += 1;
        let Some(network) = network else { return };
        if let Some(held) = self.by_network.get_mut(&network) {
            *held -= 1;
            if *held == 0 {
                self.by_network.remove(&network);
            }
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.taken().give_back(self.network);
        self.places.given_back.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const PLACES: usize = 1024;

    fn network(number: u8) -> Option<IpAddr> {
        Some([192, 0, 2, number].into())
    }

    fn take_all(places: &Arc<Places>, network: Option<IpAddr>) -> Vec<Place> {
        std::iter::from_fn(|| places.take_now(network)).collect()
    }

    #[test]
    fn however_many_addresses_take_all_that_they_may_another_finds_a_place() {
        let places = Arc::new(Places::new(PLACES, 1));
        let mut stalled = Vec::new();
        for number in 1..=9 {
            stalled.push(take_all(&places, network(number)));
        }
        assert_eq!((stalled[0].len(), stalled[1].len()), (PLACES / 2, PLACES / 4));
        assert!(stalled.iter().all(|held| !held.is_empty()));
        assert!(places.take_now(network(10)).is_some());
        drop(stalled);
        assert!(places.taken().by_network.is_empty());
        assert_eq!(places.taken().free, PLACES);
    }

    #[test]
    fn the_last_place_is_for_whoever_has_none_and_those_without_a_share_may_have_all() {
        let places = Arc::new(Places::new(3, 1));
        let first = take_all(&places, network(1));
        let second = take_all(&places, network(2));
        let third = take_all(&places, network(3));
        assert_eq!([first.len(), second.len(), third.len()], [1, 1, 1]);
        drop((first, second, third));
        assert_eq!(take_all(&places, None).len(), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_gets_what_another_gives_back_and_who_finds_the_line_full_hears_so_at_once() {
        let places = Arc::new(Places::new(4, 1));
        let (mut own, _others) = (take_all(&places, network(1)), take_all(&places, network(2)));
        let until = Instant::now() + Duration::from_secs(1);
        let waiting = tokio::spawn({
            let places = places.clone();
            async move { places.take(network(1), until).await.is_some() }
        });
        tokio::task::yield_now().await;
        let since = Instant::now();
        assert!(places.take(network(1), until).await.is_none());
        assert_eq!(since.elapsed(), Duration::ZERO, "one waits already");
        own.clear();
        assert!(waiting.await.unwrap());
        assert_eq!(since.elapsed(), Duration::ZERO);
    }
}
