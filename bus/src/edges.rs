//! The edges of this process: their seats, and how long the other processes are sure to tell them of changes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use domain::Host;
use tokio::sync::Notify;
use tokio::time::Instant;
use tracing::debug;

use crate::wire::{SEAT_VALID_FOR, Wire};
use crate::{Bus, Reach};

/// Writes the seat's end by the server's own clock, so that the clocks of hosts do not matter.
const REFRESH: &str = r"
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[1], now + tonumber(ARGV[2]), ARGV[1])
return 1
";

type DropHost = Arc<dyn Fn(&Host) + Send + Sync>;

#[derive(Default)]
pub(crate) struct Edges {
    seats: RwLock<Vec<(u64, DropHost)>>,
    next_seat: AtomicU64,
    tenure: RwLock<Option<Tenure>>,
    /// Somebody sat down: the listening task subscribes and refreshes at once.
    pub(crate) joined: Notify,
}

/// A time without a gap in which every notice of another process counted on an answer from here.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Tenure {
    since: Instant,
    until: Instant,
}

impl Tenure {
    /// The tenure after a refresh that was asked for and confirmed at these moments. Nobody knows when in between
    /// the server wrote it, so it begins at the later one and ends counted from the earlier one.
    fn refreshed(before: Option<Tenure>, asked_at: Instant, confirmed_at: Instant) -> Tenure {
        let unbroken = before.filter(|tenure| confirmed_at < tenure.until);
        Tenure { since: unbroken.map_or(confirmed_at, |t| t.since), until: asked_at + SEAT_VALID_FOR }
    }

    fn covers(&self, read_at: Instant, now: Instant) -> bool {
        self.since <= read_at && now < self.until
    }
}

impl Edges {
    pub(crate) fn is_empty(&self) -> bool {
        self.seats.read().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    pub(crate) fn drop_hosts(&self, hosts: &[Host]) {
        for (_, drop_host) in self.seats.read().unwrap_or_else(PoisonError::into_inner).iter() {
            hosts.iter().for_each(|host| drop_host(host));
        }
    }

    /// Tells the other processes that notices reach this one. `asked_at` lies before the proof that they do.
    pub(crate) async fn refresh(&self, wire: &Wire, instance: &str, asked_at: Instant) -> anyhow::Result<()> {
        let script = redis::Script::new(REFRESH);
        let mut call = script.key(wire.names().edges());
        call.arg(instance).arg(SEAT_VALID_FOR.as_millis() as u64);
        let _: u8 = wire.run(&call).await?;
        let mut tenure = self.tenure.write().unwrap_or_else(PoisonError::into_inner);
        *tenure = Some(Tenure::refreshed(*tenure, asked_at, Instant::now()));
        Ok(())
    }

    pub(crate) fn end_tenure(&self) {
        *self.tenure.write().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn sit_down(&self, drop_host: DropHost) -> u64 {
        let number = self.next_seat.fetch_add(1, Ordering::Relaxed);
        let mut seats = self.seats.write().unwrap_or_else(PoisonError::into_inner);
        if seats.is_empty() {
            self.end_tenure();
        }
        seats.push((number, drop_host));
        self.joined.notify_one();
        number
    }

    /// Whether that was the last seat.
    fn stand_up(&self, number: u64) -> bool {
        let mut seats = self.seats.write().unwrap_or_else(PoisonError::into_inner);
        let count = seats.len();
        seats.retain(|(lease, _)| *lease != number);
        count > 0 && seats.is_empty()
    }
}

/// An edge's seat: until it is dropped, the edge is told of changed routes and others wait for its acknowledgement.
pub struct EdgeLease {
    bus: Bus,
    number: u64,
}

impl EdgeLease {
    pub(crate) fn take(bus: Bus, drop_host: DropHost) -> EdgeLease {
        let number = bus.receivers.edges.sit_down(drop_host);
        EdgeLease { bus, number }
    }

    /// Whether a route that was read at that moment may be served from the cache now: it is younger than
    /// [`Bus::EDGE_TRUST`], and ever since it was read the other processes have counted on this edge's answer. An
    /// edge that serves only such routes serves nothing old, also when it is cut off from Redis while others are not.
    /// `read_at` is the moment before the reading began.
    pub fn vouches_for(&self, read_at: Instant) -> bool {
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

    /// Gives the seat up and waits until the others know, so that an edge that stops holds nobody up.
    pub async fn leave(self) {
        if let Some(wire) = self.stand_up() {
            strike_from_list(&wire, self.bus.instance()).await;
        }
    }

    /// The way to tell the others, when there are others to tell.
    fn stand_up(&self) -> Option<Arc<Wire>> {
        if !self.bus.receivers.edges.stand_up(self.number) {
            return None;
        }
        self.bus.receivers.edges.end_tenure();
        match &self.bus.reach {
            Reach::Local => None,
            Reach::Redis(line) => Some(line.wire().clone()),
        }
    }
}

impl Drop for EdgeLease {
    fn drop(&mut self) {
        let Some(wire) = self.stand_up() else { return };
        // Outside a runtime nobody can be told; the list forgets the seat by itself.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let instance = self.bus.instance().to_owned();
            runtime.spawn(async move { strike_from_list(&wire, &instance).await });
        }
    }
}

async fn strike_from_list(wire: &Wire, instance: &str) {
    let mut command = redis::cmd("ZREM");
    command.arg(wire.names().edges()).arg(instance);
    if let Err(error) = wire.command::<u64>(&command).await {
        debug!(error = format!("{error:#}"), "the list of edges keeps this one until it expires");
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
        assert!(!tenure.covers(at(9), at(1999)), "read before the seat was taken");
        assert!(!tenure.covers(at(10), at(2000)), "the seat has lapsed");
    }
}
