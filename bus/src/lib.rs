//! Signals that may be lost: what crosses processes besides jobs.
//!
//! Wake-ups of queues, replies to who waits for a job, notices to the edges that a host's route changed, and the
//! counters of rate limits. In one process they are plain calls; between processes they go through Redis.
//!
//! A lost signal costs latency, never correctness: workers also look by themselves, callers also look at the
//! outcome's row, and an edge never trusts a cached route longer than [`Bus::EDGE_TRUST`]. So this crate must never
//! carry anything that exists nowhere else, never fail a caller because Redis is away, and never hang one: every
//! wait in here has a bound.

mod connection;
mod edges;
mod identity;
mod limits;
mod listen;
mod messages;
mod notices;
mod replies;
mod wakes;
mod wire;

use std::sync::Arc;
use std::time::Duration;

use domain::{Host, JobId, Outcome, Queue, Time};
use tokio::time::{Instant, sleep_until, timeout_at};
use tracing::{Instrument, debug, warn};

pub use edges::EdgeLease;
pub use limits::{Budget, RateLimit, RetryAfter};
pub use replies::ReplyWaiter;

use connection::RedisConnection;
use edges::Edges;
use identity::Identity;
use limits::LocalCounters;
use messages::Letter;
use notices::Acks;
use replies::Replies;
use wakes::Wakes;

/// The way to the other processes, or to nobody when everything runs in one. Clones are cheap and the same bus.
#[derive(Clone)]
pub struct Bus {
    receivers: Arc<Receivers>,
    counters: Arc<LocalCounters>,
    reach: Reach,
}

#[derive(Clone)]
enum Reach {
    /// Everything is in this process.
    Local,
    Redis(Arc<RedisConnection>),
}

/// What this process listens for.
struct Receivers {
    instance: String,
    identity: Identity,
    wakes: Wakes,
    replies: Arc<Replies>,
    edges: Edges,
    acks: Acks,
}

impl Receivers {
    fn new(instance: &str) -> Arc<Self> {
        Arc::new(Self {
            instance: instance.to_owned(),
            identity: Identity::of_one_process(instance),
            wakes: Wakes::default(),
            replies: Arc::default(),
            edges: Edges::default(),
            acks: Acks::default(),
        })
    }
}

impl Bus {
    /// An edge never serves from a cached route longer than this. So who waits it out after a change knows that
    /// nobody is served the old state, whatever became of the notice.
    pub const EDGE_TRUST: Duration = Duration::from_secs(2);

    /// The bus of a process that is all there is.
    pub fn local(instance: &str) -> Bus {
        Self { receivers: Receivers::new(instance), counters: Arc::default(), reach: Reach::Local }
    }

    /// The bus of one process among several. `instance` must be unique to the process: replies are addressed to it.
    /// The first connect must succeed within 5 s; after that it survives outages by itself.
    pub async fn redis(url: &str, instance: &str) -> anyhow::Result<Bus> {
        let receivers = Receivers::new(instance);
        let line = RedisConnection::connect(url, receivers.clone()).await?;
        Ok(Self { receivers, counters: Arc::default(), reach: Reach::Redis(Arc::new(line)) })
    }

    pub fn instance(&self) -> &str {
        &self.receivers.instance
    }

    /// Two processes with the same identity hear each other, and two with different ones do not. It may change while the
    /// process runs: then another process came first after Redis had lost its data, and all others change with this one.
    pub fn identity(&self) -> String {
        self.receivers.identity.get()
    }

    pub fn is_connected(&self) -> bool {
        match &self.reach {
            Reach::Local => true,
            Reach::Redis(line) => line.wire().is_connected(),
        }
    }

    /// Tells the other processes that a queue has work. Returns at once; announcements that pile up become one.
    pub fn announce(&self, queue: Queue) {
        if let Reach::Redis(_) = self.reach {
            self.receivers.wakes.announce(queue);
        }
    }

    /// What to do when another process announces work. It is also called for every queue after a reconnect, because
    /// announcements may have been missed. `heard` runs on the listening task and must not block.
    pub fn on_wake(&self, heard: impl Fn(Queue) + Send + Sync + 'static) {
        self.receivers.wakes.on_wake(Arc::new(heard));
    }

    /// Registers interest in the reply to a job. Call it before the job is pushed, or the reply may come first.
    pub fn expect_reply(&self, job: JobId) -> ReplyWaiter {
        self.receivers.replies.expect(job)
    }

    /// Tells `to` how its job ended. In the same process that is a call; otherwise one message, bounded and unsure.
    pub async fn reply(&self, to: &str, job: JobId, outcome: &Outcome) {
        if to == self.instance() {
            return self.receivers.replies.deliver(job, outcome.clone());
        }
        let Reach::Redis(line) = &self.reach else {
            return debug!(reply.to = to, "nobody of that name is in this process");
        };
        let letter = Letter::Reply { job, outcome: Box::new(outcome.clone()) };
        if let Err(error) = line.wire().send(to, &letter).await {
            debug!(error = format!("{error:#}"), reply.to = to, "a reply was not sent");
        }
    }

    /// Takes a seat among the edges. While the seat is held, `drop_host` is called for every host whose route
    /// changed, before the change is acknowledged.
    ///
    /// `drop_host` must not block, and it must also spoil a read of that host that is under way: what was read before
    /// the call must not enter the cache after it.
    pub fn join_as_edge(&self, drop_host: impl Fn(&Host) + Send + Sync + 'static) -> EdgeLease {
        EdgeLease::take(self.clone(), Arc::new(drop_host))
    }

    /// Call it after the change is committed. When it returns, no edge serves the old route of these hosts: every
    /// live edge has acknowledged, or [`Bus::EDGE_TRUST`] has passed since the call.
    pub async fn notify_edges(&self, hosts: &[Host]) {
        self.have_dropped(hosts).instrument(telemetry::spans::edge_notice(hosts.len())).await;
    }

    async fn have_dropped(&self, hosts: &[Host]) {
        let trusted_until = Instant::now() + Self::EDGE_TRUST;
        self.receivers.edges.drop_hosts(hosts);
        let Reach::Redis(line) = &self.reach else { return };
        let told =
            match timeout_at(trusted_until, notices::tell_edges(line.wire(), &self.receivers, hosts)).await {
                Ok(told) => told,
                Err(_) => Err(anyhow::anyhow!("an edge stayed silent")),
            };
        let Err(error) = told else { return self.receivers.acks.note_all_answered() };
        if self.receivers.acks.note_silence() {
            warn!(error = format!("{error:#}"), "edges do not answer: each change waits until they forget");
        }
        sleep_until(trusted_until).await;
    }

    /// Takes one from each of these limits. When one of them refuses, nothing is taken from any window.
    pub async fn take_each(&self, limits: &[RateLimit], now: Time) -> Result<(), RetryAfter> {
        for (number, limit) in limits.iter().enumerate() {
            if let Err(refused) = self.take(limit, now).await {
                self.give_back_each(&limits[..number]).await;
                return Err(refused);
            }
        }
        Ok(())
    }

    /// Undoes a take of each of these limits. Only windows need that: a bucket refills by itself.
    pub async fn give_back_each(&self, limits: &[RateLimit]) {
        for limit in limits.iter().filter(|limit| matches!(limit.budget, Budget::Window { .. })) {
            self.give_back(limit).await;
        }
    }

    /// Takes one from a limit that all processes share. Without Redis this process counts alone: a limit is never
    /// the reason why an outage refuses people.
    pub async fn take(&self, limit: &RateLimit, now: Time) -> Result<(), RetryAfter> {
        if let Reach::Redis(line) = &self.reach
            && line.wire().is_connected()
        {
            match limits::take_shared(line.wire(), limit, now).await {
                Ok(verdict) => return verdict,
                Err(error) => {
                    debug!(error = format!("{error:#}"), limit.name = limit.name, "this process counts alone")
                }
            }
        }
        self.counters.take(limit, now)
    }

    async fn give_back(&self, limit: &RateLimit) {
        if let Reach::Redis(line) = &self.reach
            && line.wire().is_connected()
        {
            match limits::give_back_shared(line.wire(), limit).await {
                Ok(()) => return,
                Err(error) => {
                    debug!(error = format!("{error:#}"), limit.name = limit.name, "this process counts alone")
                }
            }
        }
        self.counters.give_back(limit);
    }
}

#[cfg(test)]
mod tests;
