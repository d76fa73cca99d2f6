//! The edge leases of this process, and how long the other processes are sure to notify it of changes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use domain::Host;
use tokio::sync::Notify;
use tokio::time::Instant;
use tracing::debug;

use crate::messages::Letter;
use crate::wire::{LEASE_VALID_FOR, Wire, within_time};
use crate::writers::list_if_all_heard;
use crate::{Bus, Reach, Receivers};

/// Sets the lease's expiry by the server's clock, so that the clocks of the hosts do not matter. The message
/// to this process itself arrives after every notice that was sent before.
const REFRESH: &str = r"
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[1], now + tonumber(ARGV[2]), ARGV[1])
redis.call('PUBLISH', ARGV[3], ARGV[4])
return 1
";

type DropHost = Arc<dyn Fn(&Host) + Send + Sync>;

#[derive(Default)]
pub(crate) struct Edges {
    leases: RwLock<Vec<(u64, DropHost)>>,
    next_lease: AtomicU64,
    tenures: RwLock<Tenures>,
    /// Signals a new lease: the listening task then subscribes and refreshes at once.
    pub(crate) joined: Notify,
}

#[derive(Default)]
struct Tenures {
    lease: Option<Tenure>,
    /// The list of writers, and for how long all of them were connected.
    writers: Option<(String, Tenure)>,
}

/// An uninterrupted period in which the other processes waited for this one to acknowledge every notice, or
/// in which all writers were connected.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Tenure {
    since: Instant,
    until: Instant,
}

impl Tenure {
    /// The tenure after a refresh that was sent and confirmed at these times. The server wrote it at some
    /// time in between, so a new tenure starts at the later time, and its end is counted from the earlier
    /// one.
    fn refreshed(before: Option<Tenure>, sent_at: Instant, confirmed_at: Instant) -> Tenure {
        let unbroken = before.filter(|tenure| confirmed_at < tenure.until);
        Tenure { since: unbroken.map_or(confirmed_at, |t| t.since), until: sent_at + LEASE_VALID_FOR }
    }

    fn covers(&self, read_at: Instant, now: Instant) -> bool {
        self.since <= read_at && now < self.until
    }
}

impl Tenures {
    fn refresh(&mut self, writers: Option<String>, sent_at: Instant, confirmed_at: Instant) {
        self.lease = Some(Tenure::refreshed(self.lease, sent_at, confirmed_at));
        let before = self.writers.take();
        self.writers = writers.map(|list| {
            let same = before.filter(|(known, _)| *known == list).map(|(_, tenure)| tenure);
            (list, Tenure::refreshed(same, sent_at, confirmed_at))
        });
    }

    fn cover(&self, confirmed_at: Instant, is_recent: bool, now: Instant) -> bool {
        let covers = |tenure: &Tenure| tenure.covers(confirmed_at, now);
        self.lease.as_ref().is_some_and(covers)
            && (is_recent || self.writers.as_ref().is_some_and(|(_, tenure)| covers(tenure)))
    }
}

impl Edges {
    pub(crate) fn is_empty(&self) -> bool {
        self.leases.read().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    pub(crate) fn drop_hosts(&self, hosts: &[Host]) {
        for (_, drop_host) in self.leases.read().unwrap_or_else(PoisonError::into_inner).iter() {
            hosts.iter().for_each(|host| drop_host(host));
        }
    }

    /// Registers that this process receives notices, and proves that it has received all notices that were
    /// sent before `sent_at`.
    pub(crate) async fn refresh(
        &self,
        wire: &Wire,
        receivers: &Receivers,
        sent_at: Instant,
    ) -> anyhow::Result<()> {
        let instance = &receivers.instance;
        let mut own = receivers.acks.open();
        let letter = Letter::Ack { notice: own.number(), edge: instance.clone() };
        let script = redis::Script::new(REFRESH);
        let mut call = script.key(wire.names().edges());
        call.arg(instance).arg(LEASE_VALID_FOR.as_millis() as u64);
        call.arg(wire.names().acks(instance)).arg(serde_json::to_string(&letter)?);
        let _: u8 = wire.run(&call).await?;
        within_time(own.next()).await??;
        let writers = list_if_all_heard(wire).await.unwrap_or_else(|error| {
            debug!(error = format!("{error:#}"), "could not read the list of writers");
            None
        });
        let mut tenures = self.tenures.write().unwrap_or_else(PoisonError::into_inner);
        tenures.refresh(writers, sent_at, Instant::now());
        Ok(())
    }

    pub(crate) fn end_tenure(&self) {
        *self.tenures.write().unwrap_or_else(PoisonError::into_inner) = Tenures::default();
    }

    fn add(&self, drop_host: DropHost) -> u64 {
        let number = self.next_lease.fetch_add(1, Ordering::Relaxed);
        let mut leases = self.leases.write().unwrap_or_else(PoisonError::into_inner);
        if leases.is_empty() {
            self.end_tenure();
        }
        leases.push((number, drop_host));
        self.joined.notify_one();
        number
    }

    /// Returns whether this was the last lease.
    fn remove(&self, number: u64) -> bool {
        let mut leases = self.leases.write().unwrap_or_else(PoisonError::into_inner);
        let count = leases.len();
        leases.retain(|(lease, _)| *lease != number);
        count > 0 && leases.is_empty()
    }
}

/// An edge's lease. Until it is dropped, the edge gets notices of changed routes and the senders wait for its
/// acknowledgement.
pub struct EdgeLease {
    bus: Bus,
    number: u64,
}

impl EdgeLease {
    pub(crate) fn take(bus: Bus, drop_host: DropHost) -> EdgeLease {
        let number = bus.receivers.edges.add(drop_host);
        EdgeLease { bus, number }
    }

    /// Whether a route that was read or confirmed at this time, before the query started, may be served from
    /// the cache now. It must be younger than [`Bus::EDGE_TRUST`], or all writers must have been connected
    /// since. And since then the other processes must have waited for this edge's acknowledgements without
    /// interruption. An edge that serves only such routes never serves an old one, even when it alone is cut
    /// off from Redis or from the database.
    pub fn covers(&self, confirmed_at: Instant) -> bool {
        let now = Instant::now();
        let is_recent = now.duration_since(confirmed_at) < Bus::EDGE_TRUST;
        match self.bus.reach {
            Reach::Local => is_recent,
            Reach::Redis(_) => {
                let tenures = self.bus.receivers.edges.tenures.read();
                tenures.unwrap_or_else(PoisonError::into_inner).cover(confirmed_at, is_recent, now)
            }
        }
    }

    /// Gives up the lease and removes it from the list, so that no notice waits for a stopped edge.
    pub async fn leave(self) {
        if let Some(wire) = self.remove() {
            remove_from_list(&wire, self.bus.instance()).await;
        }
    }

    /// Returns the connection for the removal, if it is needed.
    fn remove(&self) -> Option<Arc<Wire>> {
        if !self.bus.receivers.edges.remove(self.number) {
            return None;
        }
        self.bus.receivers.edges.end_tenure();
        match &self.bus.reach {
            Reach::Local => None,
            Reach::Redis(connection) => Some(connection.wire().clone()),
        }
    }
}

impl Drop for EdgeLease {
    fn drop(&mut self) {
        let Some(wire) = self.remove() else { return };
        // Without a runtime nothing can be sent, and the list drops the lease when it expires.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let instance = self.bus.instance().to_owned();
            runtime.spawn(async move { remove_from_list(&wire, &instance).await });
        }
    }
}

async fn remove_from_list(wire: &Wire, instance: &str) {
    let mut command = redis::cmd("ZREM");
    command.arg(wire.names().edges()).arg(instance);
    if let Err(error) = wire.command::<u64>(&command).await {
        debug!(
            error = format!("{error:#}"),
            "could not remove this edge from the list; its entry expires by itself"
        );
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn lease_continues_while_refreshes_are_confirmed_in_time() {
        let start = Instant::now();
        let at = |millis| start + Duration::from_millis(millis);
        let first = Tenure::refreshed(None, at(0), at(10));
        assert_eq!(first, Tenure { since: at(10), until: at(2000) });
        let second = Tenure::refreshed(Some(first), at(500), at(600));
        assert_eq!(second, Tenure { since: at(10), until: at(2500) });
        let late = Tenure::refreshed(Some(second), at(2400), at(2500));
        assert_eq!(late, Tenure { since: at(2500), until: at(4400) }, "the server may have let it lapse");
    }

    #[test]
    fn lease_covers_only_reads_within_its_duration() {
        let start = Instant::now();
        let at = |millis| start + Duration::from_millis(millis);
        let tenure = Tenure { since: at(10), until: at(2000) };
        assert!(tenure.covers(at(10), at(1999)));
        assert!(!tenure.covers(at(9), at(1999)), "read before the lease was taken");
        assert!(!tenure.covers(at(10), at(2000)), "the lease has expired");
    }
}
