//! Notices to the edges of other processes that routes changed, and their acknowledgements.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Context, ensure};
use domain::Host;
use tokio::sync::mpsc;

use crate::Receivers;
use crate::messages::Notice;
use crate::wire::{SEAT_VALID_FOR, Wire};

/// Hosts in one message; more go in several.
const HOSTS_PER_NOTICE_MAX: usize = 1000;
/// Acknowledgements of one notice that may wait to be read: more edges than anybody runs.
const ACKS_MAX: usize = 1024;

/// Lists the live edges and tells whoever listens, in one step: an edge that joins later reads the new route anyway.
///
/// Redis may lose the list, by a flush or an eviction, while edges still trust their seats. So the list holds the moment
/// since which it is known, beside the edges and for ever. While it is young, an edge may be missing on it, and the
/// number of those who heard counts too. An old list is complete: who heard and is not on it trusts no cached route.
const TELL: &str = r"
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

/// The notices of this process that are not acknowledged by all.
#[derive(Default)]
pub(crate) struct Acks {
    open: Mutex<HashMap<u64, mpsc::Sender<String>>>,
    next_number: AtomicU64,
    silence_is_known: AtomicBool,
}

struct OpenNotice<'a> {
    acks: &'a Acks,
    number: u64,
    edges: mpsc::Receiver<String>,
}

impl Acks {
    pub(crate) fn acknowledge(&self, number: u64, edge: String) {
        if let Some(notice) = self.lock().get(&number) {
            // Past the bound an acknowledgement is lost, and the notice waits the trust out.
            let _ = notice.try_send(edge);
        }
    }

    /// Whether this is news: the edges answered until now.
    pub(crate) fn note_silence(&self) -> bool {
        !self.silence_is_known.swap(true, Ordering::Relaxed)
    }

    pub(crate) fn note_all_answered(&self) {
        self.silence_is_known.store(false, Ordering::Relaxed);
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

/// Returns when every live edge has acknowledged. The caller bounds the wait.
pub(crate) async fn tell_edges(wire: &Wire, receivers: &Receivers, hosts: &[Host]) -> anyhow::Result<()> {
    for some in hosts.chunks(HOSTS_PER_NOTICE_MAX) {
        ensure!(wire.knows_all_edges(), "Redis is away, or has just come back without the list of edges");
        let mut notice = receivers.acks.open();
        let mut owing = publish(wire, &receivers.instance, notice.number, some).await?;
        while !owing.have_all_answered() {
            owing.answered.insert(notice.edges.recv().await.context("the notice was closed")?);
        }
    }
    Ok(())
}

/// Who owes an acknowledgement of a notice: every edge that is on the list, and while that may lack some, as many as
/// heard the notice.
struct Owing {
    listed: HashSet<String>,
    heard_by: usize,
    answered: HashSet<String>,
}

impl Owing {
    fn have_all_answered(&self) -> bool {
        self.answered.len() >= self.heard_by && self.listed.is_subset(&self.answered)
    }
}

async fn publish(wire: &Wire, from: &str, number: u64, hosts: &[Host]) -> anyhow::Result<Owing> {
    let notice = Notice { from: from.to_owned(), number, hosts: hosts.to_vec(), hears_acks_apart: true };
    let script = redis::Script::new(TELL);
    let mut call = script.key(wire.names().edges());
    call.arg(wire.names().notices()).arg(serde_json::to_string(&notice)?);
    call.arg(SEAT_VALID_FOR.as_millis() as u64);
    let (mut listed, heard_by): (HashSet<String>, usize) = wire.run(&call).await?;
    // The edges of this very process were told directly.
    listed.remove(from);
    Ok(Owing { listed, heard_by, answered: HashSet::new() })
}
