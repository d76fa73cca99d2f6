//! The edge leases of this process, and how long the other processes are sure to notify it of changes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use domain::Host;
use tokio::sync::Notify;
use tokio::time::Instant;
use tracing::debug;

use crate::wire::{LEASE_VALID_FOR, Wire};
use crate::{Bus, Reach};

/// Sets the lease's expiry by the server's clock, so that the clocks of the hosts do not matter.
const REFRESH: &str = r"
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[1], now + tonumber(ARGV[2]), ARGV[1])
return 1
";

type DropHost = Arc<dyn Fn(&Host) + Send + Sync>;

#[derive(Default)]
pub(crate) struct Edges {
    leases: RwLock<Vec<(u64, DropHost)>>,
    next_lease: AtomicU64,
    tenure: RwLock<Option<Tenure>>,
    /// Signals a new lease: the listening task then subscribes and refreshes at once.
    pub(crate) joined: Notify,
}

/// An uninterrupted period in which the other processes waited for this one to acknowledge every notice.
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

impl Edges {
    pub(crate) fn is_empty(&self) -> bool {
        self.leases.read().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    pub(crate) fn drop_hosts(&self, hosts: &[Host]) {
        for (_, drop_host) in self.leases.read().unwrap_or_else(PoisonError::into_inner).iter() {
            hosts.iter().for_each(|host| drop_host(host));
        }
    }

    /// Registers that this process receives notices. `sent_at` must be before the check that it does.
    pub(crate) async fn refresh(&self, wire: &Wire, instance: &str, sent_at: Instant) -> anyhow::Result<()> {
        let script = redis::Script::new(REFRESH);
        let mut call = script.key(wire.names().edges());
        call.arg(instance).arg(LEASE_VALID_FOR.as_millis() as u64);
        let _: u8 = wire.run(&call).await?;
        let mut tenure = self.tenure.write().unwrap_or_else(PoisonError::into_inner);
        *tenure = Some(Tenure::refreshed(*tenure, sent_at, Instant::now()));
        Ok(())
    }

    pub(crate) fn end_tenure(&self) {
        *self.tenure.write().unwrap_or_else(PoisonError::into_inner) = None;
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

    /// Whether a route that was read at `read_at`, the time before the read started, may be served from the
    /// cache now. It must be younger than [`Bus::EDGE_TRUST`], and since it was read the other processes must
    /// have waited for this edge's acknowledgements without interruption. An edge that serves only such
    /// routes never serves an old one, even when it alone is cut off from Redis.
    pub fn covers(&self, read_at: Instant) -> bool {
        let now = Instant::now();
        if now.duration_since(read_at) >= Bus::EDGE_TRUST {
            return false;
        }
        match self.bus.reach {
            Reach::Local => true,
            Reach::Redis(_) => {
                let tenure = self.bus.receivers.edges.tenure.read().unwrap_or_else(PoisonError::into_inner);
                tenure.is_some_and(|tenure| tenure.covers(read_at, now))
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
    fn a_tenure_goes_on_while_refreshes_are_confirmed_in_time() {
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
    fn a_tenure_covers_only_what_was_read_within_it() {
        let start = Instant::now();
        let at = |millis| start + Duration::from_millis(millis);
        let tenure = Tenure { since: at(10), until: at(2000) };
        assert!(tenure.covers(at(10), at(1999)));
        assert!(!tenure.covers(at(9), at(1999)), "read before the lease was taken");
        assert!(!tenure.covers(at(10), at(2000)), "the lease has expired");
    }
}
