//! Signals between processes, besides jobs. They may be lost.
//!
//! Wake-ups of queues, replies to processes that wait for a job, notices to the edges that a host's route
//! changed, and the counters of rate limits. In one process they are plain calls. Between processes they go
//! through Redis.
//!
//! A lost signal costs latency, never correctness: workers also poll, callers also read the outcome's row,
//! and an edge never trusts a cached route longer than [`Bus::EDGE_TRUST`]. So this crate must never carry
//! data that exists nowhere else, never fail a caller because Redis is down, and never hang: every wait has a
//! bound.

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
mod writers;

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use domain::{Host, JobId, Outcome, Queue, Time};
use tokio::time::sleep_until;
use tracing::{Instrument, debug, warn};

pub use edges::EdgeLease;
pub use limits::{Budget, ExceededLimit, RateLimit, Remaining, RetryAfter, whole_seconds};
pub use replies::ReplyWaiter;

use connection::RedisConnection;
use edges::Edges;
use identity::Identity;
use limits::LocalCounters;
use messages::Letter;
use notices::Acks;
use replies::Replies;
use wakes::Wakes;
use writers::WriterRegistration;

/// The connection to the other processes, or to none if everything runs in one. Clones are cheap and share
/// the bus.
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

/// What this process receives.
struct Receivers {
    instance: String,
    identity: Identity,
    wakes: Wakes,
    replies: Arc<Replies>,
    edges: Edges,
    acks: Acks,
    registration: WriterRegistration,
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
            registration: WriterRegistration::default(),
        })
    }
}

impl Bus {
    /// An edge never serves from a cached route longer than this, unless it is certain to have a notice of
    /// every change since. After waiting this long, no visitor gets the old state, even if an edge has not
    /// acknowledged.
    pub const EDGE_TRUST: Duration = Duration::from_secs(2);

    /// The bus of a process that runs alone.
    pub fn local(instance: &str) -> Bus {
        Self { receivers: Receivers::new(instance), counters: Arc::default(), reach: Reach::Local }
    }

    /// The bus of one process among several. Replies are addressed to `instance`, so it must be unique. The
    /// first connection must succeed within 5 s. After that the bus reconnects by itself.
    pub async fn redis(url: &str, instance: &str) -> anyhow::Result<Bus> {
        let receivers = Receivers::new(instance);
        let connection = RedisConnection::connect(url, receivers.clone()).await?;
        Ok(Self { receivers, counters: Arc::default(), reach: Reach::Redis(Arc::new(connection)) })
    }

    /// Registers a process that will change routes. While the process cannot reach the bus, no edge trusts
    /// its cache without the database.
    pub async fn join_as_writer(&self) -> anyhow::Result<()> {
        let Reach::Redis(connection) = &self.reach else { return Ok(()) };
        let registration = &self.receivers.registration;
        registration.join(connection.wire(), self.instance()).await.context("register as a writer in Redis")
    }

    /// Call it after the last change of a writer.
    pub async fn leave_as_writer(&self) {
        let Reach::Redis(connection) = &self.reach else { return };
        let registration = &self.receivers.registration;
        if let Err(error) = registration.leave(connection.wire(), self.instance()).await {
            debug!(error = format!("{error:#}"), "could not leave the list of writers");
        }
    }

    pub fn instance(&self) -> &str {
        &self.receivers.instance
    }

    /// Two processes exchange signals if and only if they have the same identity. It may change at run time:
    /// after Redis has lost its data, all processes adopt the identity that is written first.
    pub fn identity(&self) -> String {
        self.receivers.identity.get()
    }

    pub fn is_connected(&self) -> bool {
        match &self.reach {
            Reach::Local => true,
            Reach::Redis(connection) => connection.wire().is_connected(),
        }
    }

    /// Announces to the other processes that a queue has work. Returns at once. Pending announcements are
    /// merged.
    pub fn announce(&self, queue: Queue) {
        if let Reach::Redis(_) = self.reach {
            self.receivers.wakes.announce(queue);
        }
    }

    /// Registers a callback for work that another process announces. It is also called for every queue after
    /// a reconnect, because announcements may have been missed. It runs on the listening task and must not
    /// block.
    pub fn on_wake(&self, callback: impl Fn(Queue) + Send + Sync + 'static) {
        self.receivers.wakes.on_wake(Arc::new(callback));
    }

    /// Registers for the reply to a job. Call it before pushing the job, or the reply may be missed.
    pub fn expect_reply(&self, job: JobId) -> ReplyWaiter {
        self.receivers.replies.expect(job)
    }

    /// Sends the outcome of a job to `to`. In the same process this is a call, otherwise one message that may
    /// be lost.
    pub async fn reply(&self, to: &str, job: JobId, outcome: &Outcome) {
        if to == self.instance() {
            return self.receivers.replies.deliver(job, outcome.clone());
        }
        let Reach::Redis(connection) = &self.reach else {
            return debug!(reply.to = to, "dropped a reply to another process: there is no Redis");
        };
        let letter = Letter::Reply { job, outcome: Box::new(outcome.clone()) };
        if let Err(error) = connection.wire().send(to, &letter).await {
            debug!(error = format!("{error:#}"), reply.to = to, "could not send a reply");
        }
    }

    /// Registers an edge. While its lease is held, `drop_host` is called for every host whose route changed,
    /// before the change is acknowledged.
    ///
    /// `drop_host` must not block, and it must also invalidate a read of that host in progress: a result that
    /// was read before the call must not enter the cache after it.
    pub fn join_as_edge(&self, drop_host: impl Fn(&Host) + Send + Sync + 'static) -> EdgeLease {
        EdgeLease::take(self.clone(), Arc::new(drop_host))
    }

    /// Call it after the change is committed. When it returns, no edge serves the old route of these hosts:
    /// every running edge has acknowledged, or [`Bus::EDGE_TRUST`] has passed since the notice was sent. A
    /// process that has just lost Redis waits for some seconds longer.
    pub async fn notify_edges(&self, hosts: &[Host]) {
        self.drop_on_edges(hosts).instrument(telemetry::spans::edge_notice(hosts.len())).await;
    }

    async fn drop_on_edges(&self, hosts: &[Host]) {
        self.receivers.edges.drop_hosts(hosts);
        let Reach::Redis(connection) = &self.reach else { return };
        let Err(silence) = notices::notify_edges(connection.wire(), &self.receivers, hosts).await else {
            return self.receivers.acks.record_all_acknowledged();
        };
        if self.receivers.acks.record_silence() {
            warn!(
                error = format!("{:#}", silence.error),
                "edges do not acknowledge: each change waits until their cached routes expire"
            );
        }
        sleep_until(silence.until).await;
    }

    /// Takes one from each of these limits. If one of them refuses, nothing is taken from any window.
    pub async fn take_each(&self, limits: &[RateLimit], now: Time) -> Result<Vec<Remaining>, ExceededLimit> {
        let mut remaining = Vec::with_capacity(limits.len());
        for (number, limit) in limits.iter().enumerate() {
            match self.take(limit, now).await {
                Ok(left) => remaining.push(left),
                Err(retry_after) => {
                    self.give_back_each(&limits[..number]).await;
                    return Err(ExceededLimit { limit: limit.clone(), retry_after });
                }
            }
        }
        Ok(remaining)
    }

    /// Undoes one take from each of these limits. Only windows need this, because a bucket refills by itself.
    pub async fn give_back_each(&self, limits: &[RateLimit]) {
        for limit in limits.iter().filter(|limit| matches!(limit.budget, Budget::Window { .. })) {
            self.give_back(limit).await;
        }
    }

    /// Takes one from a limit that all processes share. Without Redis this process counts alone, so that an
    /// outage never causes refusals.
    pub async fn take(&self, limit: &RateLimit, now: Time) -> Result<Remaining, RetryAfter> {
        if let Reach::Redis(connection) = &self.reach
            && connection.wire().is_connected()
        {
            match limits::take_shared(connection.wire(), limit, now).await {
                Ok(verdict) => return verdict,
                Err(error) => {
                    debug!(
                        error = format!("{error:#}"),
                        limit.name = limit.name,
                        "could not count in Redis; this process counts alone"
                    )
                }
            }
        }
        self.counters.take(limit, now)
    }

    async fn give_back(&self, limit: &RateLimit) {
        if let Reach::Redis(connection) = &self.reach
            && connection.wire().is_connected()
        {
            match limits::give_back_shared(connection.wire(), limit).await {
                Ok(()) => return,
                Err(error) => {
                    debug!(
                        error = format!("{error:#}"),
                        limit.name = limit.name,
                        "could not count in Redis; this process counts alone"
                    )
                }
            }
        }
        self.counters.give_back(limit);
    }
}

#[cfg(test)]
mod tests;
