//! Notices of changed routes to the edges of other processes, and their acknowledgements.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::Context;
use domain::Host;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::messages::Notice;
use crate::wire::{LEASE_VALID_FOR, Wire};
use crate::{Bus, Receivers};

/// The largest number of hosts in a message.
const HOSTS_PER_NOTICE_MAX: usize = 1000;
/// The limit of unread acknowledgements of a notice, which is more than any installation has edges.
const ACKS_MAX: usize = 1024;

/// How long after a failure a notice is sent again.
const RETRY_AFTER: Duration = Duration::from_millis(100);

/// Lists the running edges and publishes the notice in one step. An edge that joins later reads the new route
/// anyway.
///
/// Redis may lose the list by a flush or an eviction while edges still trust their leases. So the list also
/// holds its creation time, which never expires. While the list is young, an edge may be missing in it,
/// and the number of receivers counts too. An old list is complete: a receiver that is not in it trusts no
/// cached route.
const NOTIFY: &str = r"
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local known_since = redis.call('ZRANGEBYSCORE', KEYS[1], '+inf', '+inf')[1]
if not known_since then
  known_since = now
  redis.call('ZADD', KEYS[1], '+inf', known_since)
end
local edges = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', '(+inf')
local heard_by = redis.call('PUBLISH', ARGV[1], ARGV[2])
if now - tonumber(known_since) >= tonumber(ARGV[3]) then heard_by = 0 end
return {edges, heard_by}
";

/// Notices of this process that await acknowledgements.
#[derive(Default)]
pub(crate) struct Acks {
    open: Mutex<HashMap<u64, mpsc::Sender<String>>>,
    next_number: AtomicU64,
    is_silence_logged: AtomicBool,
}

/// A sent notice whose acknowledgements are received until this is dropped.
pub(crate) struct OpenNotice<'a> {
    acks: &'a Acks,
    number: u64,
    edges: mpsc::Receiver<String>,
}

impl Acks {
    pub(crate) fn acknowledge(&self, number: u64, edge: String) {
        if let Some(notice) = self.lock().get(&number) {
            // Beyond the bound an acknowledgement is dropped, and the notice waits until the trust expires.
            let _ = notice.try_send(edge);
        }
    }

    /// Returns whether this is a change: the edges have acknowledged until now.
    pub(crate) fn record_silence(&self) -> bool {
        !self.is_silence_logged.swap(true, Ordering::Relaxed)
    }

    pub(crate) fn record_all_acknowledged(&self) {
        self.is_silence_logged.store(false, Ordering::Relaxed);
    }

    pub(crate) fn open(&self) -> OpenNotice<'_> {
        let number = self.next_number.fetch_add(1, Ordering::Relaxed);
        let (sender, edges) = mpsc::channel(ACKS_MAX);
        self.lock().insert(number, sender);
        OpenNotice { acks: self, number, edges }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, mpsc::Sender<String>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenNotice<'_> {
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// The next process that acknowledges it.
    pub(crate) async fn next(&mut self) -> anyhow::Result<String> {
        self.edges.recv().await.context("the notice was closed")
    }
}

impl Drop for OpenNotice<'_> {
    fn drop(&mut self) {
        self.acks.lock().remove(&self.number);
    }
}

/// Not all edges have acknowledged. After `until`, none of them serves the old routes.
pub(crate) struct Silence {
    pub(crate) until: Instant,
    pub(crate) error: anyhow::Error,
}

/// Waits until every running edge has acknowledged. On failure, returns why that is not certain.
pub(crate) async fn notify_edges(wire: &Wire, receivers: &Receivers, hosts: &[Host]) -> Result<(), Silence> {
    let mut notices = Vec::new();
    for batch in hosts.chunks(HOSTS_PER_NOTICE_MAX) {
        let notice = receivers.acks.open();
        let expected = publish_or_be_missed(wire, receivers, notice.number, batch).await?;
        notices.push((notice, expected));
    }
    // The time counts from here. If an edge renews its trust later, it has already received the notices.
    let until = Instant::now() + Bus::EDGE_TRUST;
    let listed_from = wire.edges_listed_from();
    if listed_from > Instant::now() {
        let error = anyhow::anyhow!("Redis has just restarted, maybe without the list of edges");
        return Err(Silence { until: until.max(listed_from), error });
    }
    match timeout_at(until, all_acknowledged(notices)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(Silence { until, error }),
        Err(_) => Err(Silence { until, error: anyhow::anyhow!("an edge did not acknowledge in time") }),
    }
}

/// Retries until the notice is sent, or until no edge believes any more that this process can send it. While
/// this process renews its registration, edges rely on its notices, so no notice may be skipped.
async fn publish_or_be_missed(
    wire: &Wire,
    receivers: &Receivers,
    number: u64,
    batch: &[Host],
) -> Result<ExpectedAcks, Silence> {
    let trusted_until = Instant::now() + Bus::EDGE_TRUST;
    loop {
        let error = match publish(wire, &receivers.instance, number, batch).await {
            Ok(expected) => return Ok(expected),
            Err(error) => error,
        };
        let until = receivers.registration.edges_miss_notices_from().max(trusted_until);
        if until <= Instant::now() {
            return Err(Silence { until, error });
        }
        sleep_until(until.min(Instant::now() + RETRY_AFTER)).await;
    }
}

async fn all_acknowledged(notices: Vec<(OpenNotice<'_>, ExpectedAcks)>) -> anyhow::Result<()> {
    for (mut notice, mut expected) in notices {
        while !expected.are_complete() {
            expected.acknowledged.insert(notice.next().await?);
        }
    }
    Ok(())
}

/// The acknowledgements that a notice needs: from every listed edge, and while the list may be incomplete, as
/// many as there were receivers.
struct ExpectedAcks {
    listed: HashSet<String>,
    heard_by: usize,
    acknowledged: HashSet<String>,
}

impl ExpectedAcks {
    fn are_complete(&self) -> bool {
        self.acknowledged.len() >= self.heard_by && self.listed.is_subset(&self.acknowledged)
    }
}

async fn publish(wire: &Wire, from: &str, number: u64, hosts: &[Host]) -> anyhow::Result<ExpectedAcks> {
    let notice = Notice { from: from.to_owned(), number, hosts: hosts.to_vec(), hears_acks_apart: true };
    let script = redis::Script::new(NOTIFY);
    let mut call = script.key(wire.names().edges());
    call.arg(wire.names().notices()).arg(serde_json::to_string(&notice)?);
    call.arg(LEASE_VALID_FOR.as_millis() as u64);
    let (mut listed, heard_by): (HashSet<String>, usize) = wire.run(&call).await?;
    // The edges of this process were called directly.
    listed.remove(from);
    Ok(ExpectedAcks { listed, heard_by, acknowledged: HashSet::new() })
}
