//! Notices of changed routes to the edges of other processes, and their acknowledgements.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Context, ensure};
use domain::Host;
use tokio::sync::mpsc;

use crate::Receivers;
use crate::messages::Notice;
use crate::wire::{LEASE_VALID_FOR, Wire};

/// The largest number of hosts in a message.
const HOSTS_PER_NOTICE_MAX: usize = 1000;
/// The limit of unread acknowledgements of a notice, which is more than any installation has edges.
const ACKS_MAX: usize = 1024;

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

struct OpenNotice<'a> {
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

    fn open(&self) -> OpenNotice<'_> {
        let number = self.next_number.fetch_add(1, Ordering::Relaxed);
        let (sender, edges) = mpsc::channel(ACKS_MAX);
        self.lock().insert(number, sender);
        OpenNotice { acks: self, number, edges }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, mpsc::Sender<String>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for OpenNotice<'_> {
    fn drop(&mut self) {
        self.acks.lock().remove(&self.number);
    }
}

/// Returns when every running edge has acknowledged. The caller bounds the wait.
pub(crate) async fn notify_edges(wire: &Wire, receivers: &Receivers, hosts: &[Host]) -> anyhow::Result<()> {
    for batch in hosts.chunks(HOSTS_PER_NOTICE_MAX) {
        ensure!(
            wire.knows_all_edges(),
            "Redis is unreachable, or has just restarted without the list of edges"
        );
        let mut notice = receivers.acks.open();
        let mut expected = publish(wire, &receivers.instance, notice.number, batch).await?;
        while !expected.are_complete() {
            expected.acknowledged.insert(notice.edges.recv().await.context("the notice was closed")?);
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
