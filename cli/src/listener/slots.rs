//! The places of a door: which connections it has open, and whose they are. There must never be more than there are
//! places, and one address has no more than its part of them.
//!
//! Whoever comes when all are taken gets the place of the connection that has been idle for longest, and who comes from
//! an address that has its part that of its own: of connections that nobody uses at the moment there may be any number,
//! and they must not keep anybody out. The locks here are taken when a connection comes and when it goes, never for a
//! request.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use ipnet::IpNet;
use telemetry::{ConnectionMeter, Cut};
use tokio::sync::Semaphore;
use tokio::time::Instant;

use crate::connections::RequestCounter;
use crate::listener::idle::{Free, IdleConnections, IdleEntry};

/// How long a newcomer waits for a place that somebody is to leave.
const LEAVE_WAIT: Duration = Duration::from_secs(3);
/// How many wait at a time for one of all places, and how many for one of their address's part.
pub(super) const WAITING_MAX: usize = 1_024;
/// How many of one address do either.
const OF_ADDRESS_WAITING_MAX: usize = 256;

pub(crate) struct ConnectionSlots {
    all: Arc<IdleConnections>,
    per_address_max: usize,
    /// Who may have any number of them.
    proxies: Vec<IpNet>,
    /// Those of which somebody is there, and at times some more.
    networks: Mutex<HashMap<IpAddr, Weak<IdleConnections>>>,
    networks_max: usize,
    waiting_in_networks: Semaphore,
    meter: ConnectionMeter,
}

/// A connection's place, as long as this is there.
pub(crate) struct ConnectionSlot {
    pub(crate) requests: RequestCounter,
    // It is counted off before the seats are free: there are never more than there may be.
    _counted: Counted,
    _in_network: Option<IdleEntry>,
    _in_all: IdleEntry,
}

struct Counted(Arc<ConnectionSlots>);

impl ConnectionSlots {
    pub(crate) fn new(
        limits: &config::ConnectionLimits,
        proxies: Vec<IpNet>,
        meter: ConnectionMeter,
    ) -> Self {
        Self {
            all: IdleConnections::of(limits.max, WAITING_MAX),
            per_address_max: limits.per_address_max,
            proxies,
            networks: Mutex::default(),
            networks_max: 2 * (limits.max + 2 * WAITING_MAX),
            waiting_in_networks: Semaphore::new(WAITING_MAX),
            meter,
        }
    }

    /// A place for a connection from this address, if there is one.
    pub(crate) fn take_now(self: &Arc<Self>, address: IpAddr) -> Option<ConnectionSlot> {
        let in_network = match self.room_of(address) {
            Some(room) => Some(room.free_now()?),
            None => None,
        };
        let in_all = self.all.free_now()?;
        Some(self.seat(in_all, in_network))
    }

    /// The place of somebody who leaves, or why there is none.
    pub(crate) async fn wait(self: &Arc<Self>, address: IpAddr) -> Result<ConnectionSlot, Cut> {
        let deadline = Instant::now() + LEAVE_WAIT;
        let waiting = async {
            let Some(room) = self.room_of(address) else {
                return Ok(self.seat(self.free_of_all(deadline).await.ok_or(Cut::Full)?, None));
            };
            // Until the end: no address fills the line for all of the places.
            let _in_line = room.stand_in_line().ok_or(Cut::Address)?;
            let in_network = self.free_in(&room, deadline).await.ok_or(Cut::Address)?;
            let in_all = self.free_of_all(deadline).await.ok_or(Cut::Full)?;
            Ok(self.seat(in_all, Some(in_network)))
        };
        waiting.await.inspect_err(|cut| self.meter.cut(*cut))
    }

    /// One of an address's part. Whoever waits for that stands in nobody's way who waits for one of all.
    async fn free_in(&self, room: &Arc<IdleConnections>, deadline: Instant) -> Option<Free> {
        if let Some(free) = room.free_now() {
            return Some(free);
        }
        let _one_of_a_few = self.waiting_in_networks.try_acquire().ok()?;
        room.free_by(deadline).await
    }

    async fn free_of_all(&self, deadline: Instant) -> Option<Free> {
        if let Some(free) = self.all.free_now() {
            return Some(free);
        }
        let _in_line = self.all.stand_in_line()?;
        self.all.free_by(deadline).await
    }

    /// Has somebody leave who is idle.
    pub(crate) fn make_room(&self) {
        self.all.make_room();
    }

    /// Tells all to leave as soon as what they have begun is answered.
    pub(crate) fn close(&self) {
        self.all.close();
    }

    fn seat(self: &Arc<Self>, in_all: Free, in_network: Option<Free>) -> ConnectionSlot {
        // Made only now: nobody is idle while they wait for a place.
        let requests = RequestCounter::default();
        ConnectionSlot {
            _in_network: in_network.map(|free| free.take(&requests)),
            _in_all: in_all.take(&requests),
            _counted: Counted::one_of(self.clone()),
            requests,
        }
    }

    /// The part of this address; none for those who may have any.
    fn room_of(&self, address: IpAddr) -> Option<Arc<IdleConnections>> {
        let address = address.to_canonical();
        if self.proxies.iter().any(|proxies| proxies.contains(&address)) {
            return None;
        }
        let network = api::network_of(address);
        let mut networks = self.networks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(room) = networks.get(&network).and_then(Weak::upgrade) {
            return Some(room);
        }
        if networks.len() >= self.networks_max {
            networks.retain(|_, room| room.strong_count() > 0);
        }
        let room = IdleConnections::of(self.per_address_max, OF_ADDRESS_WAITING_MAX);
        networks.insert(network, Arc::downgrade(&room));
        Some(room)
    }
}

impl Counted {
    fn one_of(places: Arc<ConnectionSlots>) -> Self {
        places.meter.opened();
        Self(places)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.meter.closed();
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use tokio::time::advance;

    use super::*;
    use crate::listener::tests::LIMITS;

    const LONG: Duration = Duration::from_secs(2);

    fn places(max: usize, per_address_max: usize) -> Arc<ConnectionSlots> {
        let limits = config::ConnectionLimits { max, per_address_max, ..LIMITS };
        let proxies = vec!["10.0.0.0/8".parse().unwrap()];
        Arc::new(ConnectionSlots::new(&limits, proxies, ConnectionMeter::default()))
    }

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn take(places: &Arc<ConnectionSlots>, from: &str) -> ConnectionSlot {
        places.take_now(address(from)).unwrap()
    }

    /// Takes a place, and gives it up when told to, as every connection does.
    fn take_and_leave_when_told(places: &Arc<ConnectionSlots>, from: &str) {
        let place = take(places, from);
        tokio::spawn(async move {
            let place = place;
            place.requests.told_to_leave().await;
        });
    }

    async fn is_told(place: &ConnectionSlot) -> bool {
        tokio::time::timeout(Duration::ZERO, place.requests.told_to_leave()).await.is_ok()
    }

    #[tokio::test]
    async fn an_address_has_its_part_of_the_places_and_a_proxy_any() {
        let places = places(100, 2);
        let mut held = Vec::new();
        for from in ["192.0.2.1", "::ffff:192.0.2.1", "2001:db8::1", "2001:db8::2"] {
            held.push(take(&places, from));
        }
        for from in ["192.0.2.1", "2001:db8::3"] {
            assert!(places.take_now(address(from)).is_none(), "{from}");
        }
        held.push(take(&places, "192.0.2.2"));
        for _ in 0..10 {
            held.push(take(&places, "10.1.2.3"));
        }
        drop(held.remove(0));
        assert!(places.take_now(address("192.0.2.1")).is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn who_has_been_idle_for_longest_makes_room() {
        let places = places(3, 10);
        let mut held = Vec::new();
        for _ in 0..3 {
            held.push(take(&places, "192.0.2.1"));
            advance(LONG).await;
        }
        // The first is in use, so that the second is the oldest of the idle.
        let _in_hand = held[0].requests.note();
        let newcomer = tokio::spawn({
            let places = places.clone();
            async move { places.wait(address("192.0.2.2")).await }
        });
        held[1].requests.told_to_leave().await;
        drop(held.remove(1));
        assert!(newcomer.await.unwrap().is_ok());
        assert!(!is_told(&held[1]).await, "one was enough");
    }

    #[tokio::test(start_paused = true)]
    async fn an_address_that_has_its_part_makes_room_for_itself() {
        let places = places(100, 2);
        let others = take(&places, "192.0.2.9");
        advance(LONG).await;
        let busy = take(&places, "192.0.2.1");
        let in_hand = busy.requests.note();
        take_and_leave_when_told(&places, "192.0.2.1");
        advance(LONG).await;
        let second = places.wait(address("192.0.2.1")).await.unwrap();
        assert!(!is_told(&others).await, "that is another's");
        let _in_hand_too = second.requests.note();
        assert_eq!(places.wait(address("192.0.2.1")).await.err(), Some(Cut::Address));
        drop((in_hand, busy));
        assert!(places.wait(address("192.0.2.1")).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn as_many_as_come_at_once_find_room_where_all_are_idle() {
        let places = places(1_000, 1_000);
        for _ in 0..1_000 {
            take_and_leave_when_told(&places, "192.0.2.1");
        }
        advance(LONG).await;
        let came = Instant::now();
        let addresses = ["192.0.2.2", "192.0.2.3"].map(address);
        let newcomers = (0..500).map(|number| places.wait(addresses[number % 2]));
        let taken = futures::future::join_all(newcomers).await;
        assert!(taken.iter().all(Result::is_ok));
        assert!(came.elapsed() < Duration::from_secs(1), "{:?}", came.elapsed());
        assert!(places.all.taken() >= 980, "{}", places.all.taken());
    }

    #[tokio::test(start_paused = true)]
    async fn who_was_told_and_does_not_go_is_not_told_again() {
        let places = places(2, 10);
        let (stubborn, busy) = (take(&places, "192.0.2.1"), take(&places, "192.0.2.1"));
        let _in_hand = busy.requests.note();
        advance(LONG).await;
        assert_eq!(places.wait(address("192.0.2.2")).await.err(), Some(Cut::Full));
        stubborn.requests.told_to_leave().await;
        assert_eq!(places.wait(address("192.0.2.2")).await.err(), Some(Cut::Full));
        assert!(!is_told(&stubborn).await);
    }

    #[tokio::test(start_paused = true)]
    async fn no_address_fills_the_line_of_those_who_wait() {
        // All came a moment ago, so that everybody may hope, and nobody leaves.
        let places = places(2_000, 1_000);
        let _held: Vec<_> =
            (0..2_000).map(|number| take(&places, &format!("192.0.2.{}", number / 1_000))).collect();
        // Of the first all wait for its own part; of the second, which has none, for one of all.
        for from in ["192.0.2.1", "192.0.2.7"] {
            let mut line: Vec<_> =
                (0..2 * OF_ADDRESS_WAITING_MAX).map(|_| Box::pin(places.wait(address(from)))).collect();
            let refused = line.iter_mut().filter_map(|waiting| waiting.now_or_never()).count();
            assert_eq!(refused, OF_ADDRESS_WAITING_MAX, "{from}");
            for other in ["192.0.2.0", "192.0.2.8"] {
                assert!(places.wait(address(other)).now_or_never().is_none(), "{other} may wait");
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_no_longer_is_not_waited_for() {
        let places = places(1, 1);
        let _held = take(&places, "192.0.2.1");
        for from in ["192.0.2.1", "192.0.2.2"] {
            assert!(places.wait(address(from)).now_or_never().is_none(), "{from}");
        }
        let room = places.room_of(address("192.0.2.1")).unwrap();
        assert_eq!((room.waiting(), places.all.waiting()), (0, 0));
        assert_eq!(places.waiting_in_networks.available_permits(), WAITING_MAX);
    }

    #[tokio::test]
    async fn who_sits_down_while_the_door_closes_is_told_to_leave_too() {
        let places = places(2, 10);
        let free = places.all.free_now().unwrap();
        places.close();
        assert!(is_told(&places.seat(free, None)).await);
        assert!(places.take_now(address("192.0.2.1")).is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn where_all_are_at_work_there_is_no_room_and_no_waiting() {
        let places = places(2, 10);
        let (busy, fresh) = (take(&places, "192.0.2.1"), take(&places, "192.0.2.1"));
        let _in_hand = (busy.requests.note(), fresh.requests.note());
        advance(LONG).await;
        let came = Instant::now();
        assert_eq!(places.wait(address("192.0.2.2")).await.err(), Some(Cut::Full));
        assert_eq!(came.elapsed(), Duration::ZERO);
        assert!(!is_told(&busy).await && !is_told(&fresh).await);
    }

    #[tokio::test(start_paused = true)]
    async fn who_came_a_moment_ago_makes_room_a_moment_later() {
        let places = places(2, 10);
        for _ in 0..2 {
            take_and_leave_when_told(&places, "192.0.2.1");
        }
        assert!(places.wait(address("192.0.2.2")).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn addresses_that_were_here_are_forgotten() {
        let places = places(2, 10);
        for number in 0..10_000_u32 {
            drop(take(&places, &IpAddr::from(number.to_be_bytes()).to_string()));
        }
        assert!(places.networks.lock().unwrap().len() <= places.networks_max);
    }
}
