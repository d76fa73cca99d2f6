//! The places of a door: which connections it has open, and whose they are. There must never be more than there are
//! places, and one address has no more than its part of them.
//!
//! Whoever comes when all places are taken gets that of the connection that has been idle for longest: of those that
//! nobody uses at the moment there may be any number, and they must not keep anybody out. The lock here is taken when a
//! connection comes and when it goes, never for a request.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ipnet::IpNet;
use telemetry::{ConnectionMeter, Cut};
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::connections::Asked;

/// A connection that was used, or opened, within this time is not idle: its next request may be on its way.
const IDLE_AFTER: Duration = Duration::from_secs(1);
/// One in so many is told to leave when room is wanted, so that the idle need not be looked for each time.
const LEAVE_SHARE: usize = 100;
/// How long a newcomer waits for a place that somebody was told to leave.
const LEAVE_WAIT: Duration = Duration::from_secs(1);

pub(crate) struct Places {
    max: usize,
    per_address_max: usize,
    /// Who may have any number of them.
    proxies: Vec<IpNet>,
    held: Mutex<Held>,
    /// A place was left.
    left: Notify,
    meter: ConnectionMeter,
}

#[derive(Default)]
struct Held {
    next_number: u64,
    by_number: HashMap<u64, Asked>,
    by_network: HashMap<IpAddr, usize>,
}

/// A connection's place, as long as this is there.
pub(crate) struct Place {
    places: Arc<Places>,
    number: u64,
    network: IpAddr,
}

impl Places {
    pub(crate) fn new(
        limits: &config::ConnectionLimits,
        proxies: Vec<IpNet>,
        meter: ConnectionMeter,
    ) -> Self {
        let (held, left) = (Mutex::default(), Notify::new());
        Self { max: limits.max, per_address_max: limits.per_address_max, proxies, held, left, meter }
    }

    /// A place for a connection from this address, or why it gets none.
    pub(crate) async fn take(self: &Arc<Self>, address: IpAddr, asked: &Asked) -> Result<Place, Cut> {
        let taking = async {
            loop {
                let left = self.left.notified();
                tokio::pin!(left);
                // From here on: a place that is left after the look must not be missed.
                left.as_mut().enable();
                match self.take_now(address, asked) {
                    Err(Cut::Full) if self.make_room() => left.await,
                    taken => return taken,
                }
            }
        };
        let taken = timeout(LEAVE_WAIT, taking).await.unwrap_or(Err(Cut::Full));
        taken.inspect_err(|cut| self.meter.cut(*cut))
    }

    /// Tells all to leave as soon as what they have begun is answered.
    pub(crate) fn close(&self) {
        self.held().by_number.values().for_each(Asked::tell_to_leave);
    }

    fn take_now(self: &Arc<Self>, address: IpAddr, asked: &Asked) -> Result<Place, Cut> {
        let address = address.to_canonical();
        let network = api::network_of(address);
        let mut held = self.held();
        let of_network = held.by_network.get(&network).copied().unwrap_or(0);
        let may_have_any = self.proxies.iter().any(|proxies| proxies.contains(&address));
        if of_network >= self.per_address_max && !may_have_any {
            return Err(Cut::Address);
        }
        if held.by_number.len() >= self.max {
            return Err(Cut::Full);
        }
        let number = held.next_number;
        held.next_number += 1;
        held.by_network.insert(network, of_network + 1);
        held.by_number.insert(number, asked.clone());
        self.meter.set_open(held.by_number.len());
        Ok(Place { places: self.clone(), number, network })
    }

    /// Tells the longest idle to leave, if any are, or were told so already and are about to.
    fn make_room(&self) -> bool {
        let held = self.held();
        let mut idle: Vec<_> = held
            .by_number
            .values()
            .filter_map(|asked| asked.idle_for().filter(|idle| *idle >= IDLE_AFTER).map(|idle| (idle, asked)))
            .collect();
        if idle.is_empty() {
            return false;
        }
        let leaving = (self.max / LEAVE_SHARE).clamp(1, idle.len());
        idle.select_nth_unstable_by(leaving - 1, |(one, _), (other, _)| other.cmp(one));
        for (_, asked) in &idle[..leaving] {
            asked.tell_to_make_room();
            self.meter.cut(Cut::Idle);
        }
        true
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut held = self.places.held();
        held.by_number.remove(&self.number);
        if let Some(of_network) = held.by_network.get_mut(&self.network) {
            *of_network -= 1;
            if *of_network == 0 {
                held.by_network.remove(&self.network);
            }
        }
        self.places.meter.set_open(held.by_number.len());
        drop(held);
        self.places.left.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;
    use crate::doors::tests::LIMITS;

    fn places(max: usize, per_address_max: usize) -> Arc<Places> {
        let limits = config::ConnectionLimits { max, per_address_max, ..LIMITS };
        let proxies = vec!["10.0.0.0/8".parse().unwrap()];
        Arc::new(Places::new(&limits, proxies, ConnectionMeter::default()))
    }

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn an_address_has_its_part_of_the_places_and_a_proxy_any() {
        let (places, asked) = (places(100, 2), Asked::default());
        let mut held = Vec::new();
        for from in ["192.0.2.1", "::ffff:192.0.2.1", "2001:db8::1", "2001:db8::2"] {
            held.push(places.take(address(from), &asked).await.unwrap());
        }
        for from in ["192.0.2.1", "2001:db8::3"] {
            assert_eq!(places.take(address(from), &asked).await.err(), Some(Cut::Address), "{from}");
        }
        held.push(places.take(address("192.0.2.2"), &asked).await.unwrap());
        for _ in 0..10 {
            held.push(places.take(address("10.1.2.3"), &asked).await.unwrap());
        }
        drop(held.remove(0));
        assert!(places.take(address("192.0.2.1"), &asked).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn who_has_been_idle_for_longest_makes_room() {
        let places = places(3, 10);
        let visitors = [Asked::default(), Asked::default(), Asked::default()];
        let mut held = Vec::new();
        for asked in &visitors {
            drop(asked.note());
            held.push(Some(places.take(address("192.0.2.1"), asked).await.unwrap()));
            advance(Duration::from_secs(2)).await;
        }
        // The first is in use, so that the second is the oldest of the idle.
        let _in_hand = visitors[0].note();
        let newcomer = tokio::spawn({
            let places = places.clone();
            async move { places.take(address("192.0.2.2"), &Asked::default()).await }
        });
        visitors[1].told_to_leave().await;
        drop(held[1].take());
        assert!(newcomer.await.unwrap().is_ok());
        let told = timeout(Duration::from_secs(1), visitors[2].told_to_leave()).await;
        assert!(told.is_err(), "one was enough");
    }

    #[tokio::test(start_paused = true)]
    async fn where_none_is_idle_there_is_no_room() {
        let places = places(2, 10);
        let (busy, fresh) = (Asked::default(), Asked::default());
        let _in_hand = busy.note();
        let _busy = places.take(address("192.0.2.1"), &busy).await.unwrap();
        advance(Duration::from_secs(60)).await;
        let _fresh = places.take(address("192.0.2.1"), &fresh).await.unwrap();
        let refused = places.take(address("192.0.2.2"), &Asked::default()).await;
        assert_eq!(refused.err(), Some(Cut::Full));
    }
}
