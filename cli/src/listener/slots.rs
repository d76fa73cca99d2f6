//! The connection slots of a listener. There must never be more connections than slots, and one address has
//! no more than its share of them.
//!
//! When all are taken, a new connection evicts the one that has been idle longest; when its address has its
//! share, it evicts that address's own. So any number of unused connections does not keep clients out. The
//! locks here are taken when a connection opens and closes, never for a request.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use ipnet::IpNet;
use telemetry::{ConnectionMeter, Cut};
use tokio::sync::Semaphore;
use tokio::time::Instant;

use crate::connections::RequestCounter;
use crate::listener::idle::{FreeSlot, IdleConnections, IdleEntry};

/// How long a new connection waits for a slot to become free.
const FREE_SLOT_WAIT: Duration = Duration::from_secs(3);
/// How many connections may wait for a slot of the whole listener, and how many for one of their address.
pub(super) const WAITING_MAX: usize = 1_024;
/// The same for each address.
const OF_ADDRESS_WAITING_MAX: usize = 256;

pub(crate) struct ConnectionSlots {
    all: Arc<IdleConnections>,
    per_address_max: usize,
    /// Networks without a limit per address.
    proxies: Vec<IpNet>,
    /// The addresses with connections, and at times some without.
    networks: Mutex<HashMap<IpAddr, Weak<IdleConnections>>>,
    networks_max: usize,
    waiting_in_networks: Semaphore,
    meter: ConnectionMeter,
}

/// A connection's slot, until it is dropped.
pub(crate) struct ConnectionSlot {
    pub(crate) requests: RequestCounter,
    // Dropped before the slots are freed, so that the metric never exceeds the limit.
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

    /// A slot for a connection from this address, if one is free.
    pub(crate) fn try_acquire(self: &Arc<Self>, address: IpAddr) -> Option<ConnectionSlot> {
        let in_network = match self.share_of(address) {
            Some(share) => Some(share.try_acquire()?),
            None => None,
        };
        let in_all = self.all.try_acquire()?;
        Some(self.occupy(in_all, in_network))
    }

    /// Waits for a slot to become free. Returns why none did.
    pub(crate) async fn wait(self: &Arc<Self>, address: IpAddr) -> Result<ConnectionSlot, Cut> {
        let deadline = Instant::now() + FREE_SLOT_WAIT;
        let waiting = async {
            let Some(share) = self.share_of(address) else {
                return Ok(self.occupy(self.acquire_from_all(deadline).await.ok_or(Cut::Full)?, None));
            };
            // Held until the end, so that no address fills the queue for all slots.
            let _queued = share.enter_queue().ok_or(Cut::Address)?;
            let in_network = self.acquire_in(&share, deadline).await.ok_or(Cut::Address)?;
            let in_all = self.acquire_from_all(deadline).await.ok_or(Cut::Full)?;
            Ok(self.occupy(in_all, Some(in_network)))
        };
        waiting.await.inspect_err(|cut| self.meter.cut(*cut))
    }

    /// A slot of an address's share. Waiting for it does not count in the queue for all slots.
    async fn acquire_in(&self, share: &Arc<IdleConnections>, deadline: Instant) -> Option<FreeSlot> {
        if let Some(free) = share.try_acquire() {
            return Some(free);
        }
        let _waiting = self.waiting_in_networks.try_acquire().ok()?;
        share.acquire_by(deadline).await
    }

    async fn acquire_from_all(&self, deadline: Instant) -> Option<FreeSlot> {
        if let Some(free) = self.all.try_acquire() {
            return Some(free);
        }
        let _queued = self.all.enter_queue()?;
        self.all.acquire_by(deadline).await
    }

    /// Closes idle connections.
    pub(crate) fn evict_idle(&self) {
        self.all.evict_idle();
    }

    /// Closes every connection as soon as its active requests are answered.
    pub(crate) fn close(&self) {
        self.all.close();
    }

    fn occupy(self: &Arc<Self>, in_all: FreeSlot, in_network: Option<FreeSlot>) -> ConnectionSlot {
        // Created only now, because waiting for a slot is not idle time.
        let requests = RequestCounter::default();
        ConnectionSlot {
            _in_network: in_network.map(|free| free.take(&requests)),
            _in_all: in_all.take(&requests),
            _counted: Counted::one_of(self.clone()),
            requests,
        }
    }

    /// The share of this address, or `None` without a limit.
    fn share_of(&self, address: IpAddr) -> Option<Arc<IdleConnections>> {
        let address = address.to_canonical();
        if self.proxies.iter().any(|proxies| proxies.contains(&address)) {
            return None;
        }
        let network = api::network_of(address);
        let mut networks = self.networks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(share) = networks.get(&network).and_then(Weak::upgrade) {
            return Some(share);
        }
        if networks.len() >= self.networks_max {
            networks.retain(|_, share| share.strong_count() > 0);
        }
        let share = IdleConnections::of(self.per_address_max, OF_ADDRESS_WAITING_MAX);
        networks.insert(network, Arc::downgrade(&share));
        Some(share)
    }
}

impl Counted {
    fn one_of(slots: Arc<ConnectionSlots>) -> Self {
        slots.meter.opened();
        Self(slots)
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

    fn slots(max: usize, per_address_max: usize) -> Arc<ConnectionSlots> {
        let limits = config::ConnectionLimits { max, per_address_max, ..LIMITS };
        let proxies = vec!["10.0.0.0/8".parse().unwrap()];
        Arc::new(ConnectionSlots::new(&limits, proxies, ConnectionMeter::default()))
    }

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn take(slots: &Arc<ConnectionSlots>, from: &str) -> ConnectionSlot {
        slots.try_acquire(address(from)).unwrap()
    }

    /// Takes a slot and frees it when asked to close, as every connection does.
    fn take_until_closed(slots: &Arc<ConnectionSlots>, from: &str) {
        let slot = take(slots, from);
        tokio::spawn(async move {
            let slot = slot;
            slot.requests.closing().await;
        });
    }

    async fn is_closing(slot: &ConnectionSlot) -> bool {
        tokio::time::timeout(Duration::ZERO, slot.requests.closing()).await.is_ok()
    }

    #[tokio::test]
    async fn addresses_have_a_slot_limit_and_trusted_proxies_do_not() {
        let slots = slots(100, 2);
        let mut held = Vec::new();
        for from in ["192.0.2.1", "::ffff:192.0.2.1", "2001:db8::1", "2001:db8::2"] {
            held.push(take(&slots, from));
        }
        for from in ["192.0.2.1", "2001:db8::3"] {
            assert!(slots.try_acquire(address(from)).is_none(), "{from}");
        }
        held.push(take(&slots, "192.0.2.2"));
        for _ in 0..10 {
            held.push(take(&slots, "10.1.2.3"));
        }
        drop(held.remove(0));
        assert!(slots.try_acquire(address("192.0.2.1")).is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn longest_idle_connection_is_evicted() {
        let slots = slots(3, 10);
        let mut held = Vec::new();
        for _ in 0..3 {
            held.push(take(&slots, "192.0.2.1"));
            advance(LONG).await;
        }
        // The first is active, so the second is the longest idle.
        let _active = held[0].requests.start();
        let newcomer = tokio::spawn({
            let slots = slots.clone();
            async move { slots.wait(address("192.0.2.2")).await }
        });
        held[1].requests.closing().await;
        drop(held.remove(1));
        assert!(newcomer.await.unwrap().is_ok());
        assert!(!is_closing(&held[1]).await, "one was enough");
    }

    #[tokio::test(start_paused = true)]
    async fn address_at_its_limit_evicts_only_its_own_idle_connections() {
        let slots = slots(100, 2);
        let others = take(&slots, "192.0.2.9");
        advance(LONG).await;
        let busy = take(&slots, "192.0.2.1");
        let in_hand = busy.requests.start();
        take_until_closed(&slots, "192.0.2.1");
        advance(LONG).await;
        let second = slots.wait(address("192.0.2.1")).await.unwrap();
        assert!(!is_closing(&others).await, "that is another's");
        let _in_hand_too = second.requests.start();
        assert_eq!(slots.wait(address("192.0.2.1")).await.err(), Some(Cut::Address));
        drop((in_hand, busy));
        assert!(slots.wait(address("192.0.2.1")).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn many_simultaneous_connections_get_slots_of_idle_ones() {
        let slots = slots(1_000, 1_000);
        for _ in 0..1_000 {
            take_until_closed(&slots, "192.0.2.1");
        }
        advance(LONG).await;
        let came = Instant::now();
        let addresses = ["192.0.2.2", "192.0.2.3"].map(address);
        let newcomers = (0..500).map(|number| slots.wait(addresses[number % 2]));
        let taken = futures::future::join_all(newcomers).await;
        assert!(taken.iter().all(Result::is_ok));
        assert!(came.elapsed() < Duration::from_secs(1), "{:?}", came.elapsed());
        assert!(slots.all.taken() >= 980, "{}", slots.all.taken());
    }

    #[tokio::test(start_paused = true)]
    async fn connection_asked_to_close_is_not_asked_again() {
        let slots = slots(2, 10);
        let (stubborn, busy) = (take(&slots, "192.0.2.1"), take(&slots, "192.0.2.1"));
        let _active = busy.requests.start();
        advance(LONG).await;
        assert_eq!(slots.wait(address("192.0.2.2")).await.err(), Some(Cut::Full));
        stubborn.requests.closing().await;
        assert_eq!(slots.wait(address("192.0.2.2")).await.err(), Some(Cut::Full));
        assert!(!is_closing(&stubborn).await);
    }

    #[tokio::test(start_paused = true)]
    async fn no_address_fills_the_queue_for_slots() {
        // All are new, so every wait is allowed, and none closes.
        let slots = slots(2_000, 1_000);
        let _held: Vec<_> =
            (0..2_000).map(|number| take(&slots, &format!("192.0.2.{}", number / 1_000))).collect();
        // For the first address all wait for its own share. The second has none, so all wait for one of all
        // slots.
        for from in ["192.0.2.1", "192.0.2.7"] {
            let mut queue: Vec<_> =
                (0..2 * OF_ADDRESS_WAITING_MAX).map(|_| Box::pin(slots.wait(address(from)))).collect();
            let refused = queue.iter_mut().filter_map(|waiting| waiting.now_or_never()).count();
            assert_eq!(refused, OF_ADDRESS_WAITING_MAX, "{from}");
            for other in ["192.0.2.0", "192.0.2.8"] {
                assert!(slots.wait(address(other)).now_or_never().is_none(), "{other} may wait");
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn cancelled_wait_leaves_the_queue_for_slots() {
        let slots = slots(1, 1);
        let _held = take(&slots, "192.0.2.1");
        for from in ["192.0.2.1", "192.0.2.2"] {
            assert!(slots.wait(address(from)).now_or_never().is_none(), "{from}");
        }
        let share = slots.share_of(address("192.0.2.1")).unwrap();
        assert_eq!((share.waiting(), slots.all.waiting()), (0, 0));
        assert_eq!(slots.waiting_in_networks.available_permits(), WAITING_MAX);
    }

    #[tokio::test]
    async fn connection_accepted_during_shutdown_is_closed_too() {
        let slots = slots(2, 10);
        let free = slots.all.try_acquire().unwrap();
        slots.close();
        assert!(is_closing(&slots.occupy(free, None)).await);
        assert!(slots.try_acquire(address("192.0.2.1")).is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn without_idle_connections_new_ones_are_rejected_at_once() {
        let slots = slots(2, 10);
        let (busy, fresh) = (take(&slots, "192.0.2.1"), take(&slots, "192.0.2.1"));
        let _active = (busy.requests.start(), fresh.requests.start());
        advance(LONG).await;
        let came = Instant::now();
        assert_eq!(slots.wait(address("192.0.2.2")).await.err(), Some(Cut::Full));
        assert_eq!(came.elapsed(), Duration::ZERO);
        assert!(!is_closing(&busy).await && !is_closing(&fresh).await);
    }

    #[tokio::test(start_paused = true)]
    async fn new_connections_can_be_evicted_after_a_moment() {
        let slots = slots(2, 10);
        for _ in 0..2 {
            take_until_closed(&slots, "192.0.2.1");
        }
        assert!(slots.wait(address("192.0.2.2")).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn counters_of_past_addresses_are_dropped() {
        let slots = slots(2, 10);
        for number in 0..10_000_u32 {
            drop(take(&slots, &IpAddr::from(number.to_be_bytes()).to_string()));
        }
        assert!(slots.networks.lock().unwrap().len() <= slots.networks_max);
    }
}
