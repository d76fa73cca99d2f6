//! The connection to Redis, with a timeout for every command, and the names of keys and channels.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use anyhow::Context;
use domain::Queue;
use redis::aio::{MultiplexedConnection, PubSubSink, PubSubStream};
use redis::{AsyncConnectionConfig, Client, Cmd, FromRedisValue, RedisResult, ScriptInvocation};
use serde::Serialize;
use tokio::time::{Instant, timeout};

use crate::messages::{Announcement, Letter, Notice};

/// How long a lease stays in the list of running edges without a refresh.
pub(crate) const LEASE_VALID_FOR: Duration = Duration::from_secs(2);
/// The timeout of a command and of an attempt to connect.
pub(crate) const COMMAND_WITHIN: Duration = Duration::from_secs(1);

/// Names of keys and channels. All contain the database's number, because publish/subscribe ignores databases
/// and two installations may share a server.
pub(crate) struct Names {
    prefix: String,
}

impl Names {
    fn new(database: i64) -> Self {
        Self { prefix: format!("handbill:{database}") }
    }

    pub(crate) fn announcements(&self) -> String {
        format!("{}:wake", self.prefix)
    }

    pub(crate) fn notices(&self) -> String {
        format!("{}:notices", self.prefix)
    }

    pub(crate) fn letters(&self, instance: &str) -> String {
        format!("{}:to:{instance}", self.prefix)
    }

    /// Acknowledgements and replies have separate channels, so that an edge's login may send only
    /// acknowledgements.
    pub(crate) fn acks(&self, instance: &str) -> String {
        format!("{}:ack:{instance}", self.prefix)
    }

    pub(crate) fn edges(&self) -> String {
        format!("{}:edges", self.prefix)
    }

    pub(crate) fn writers(&self) -> String {
        format!("{}:writers", self.prefix)
    }

    pub(crate) fn identity(&self) -> String {
        format!("{}:bus", self.prefix)
    }

    pub(crate) fn limit(&self, name: &str, key: &str) -> String {
        format!("{}:limit:{name}:{key}", self.prefix)
    }
}

/// The listening task opens the connection, checks it every half second and reopens it when it is dead. (The
/// driver's own connection manager waits for a silent peer until TCP gives up after a quarter of an hour.)
pub(crate) struct Wire {
    client: Client,
    names: Names,
    state: RwLock<SubscriptionState>,
}

struct SubscriptionState {
    /// `None` while Redis is unreachable.
    commands: Option<MultiplexedConnection>,
    /// From this time on, an edge that is not listed does not trust its cache.
    edges_listed_from: Instant,
}

/// When all edges are in the list of a server that was just connected.
#[derive(Clone, Copy)]
pub(crate) struct ListFills {
    pub(crate) within: Duration,
    pub(crate) not_before: Instant,
}

impl ListFills {
    /// The list is complete already.
    pub(crate) fn now() -> Self {
        Self { within: Duration::ZERO, not_before: Instant::now() }
    }
}

impl Wire {
    pub(crate) fn new(client: Client) -> Self {
        let names = Names::new(client.get_connection_info().redis_settings().db());
        let state = RwLock::new(SubscriptionState { commands: None, edges_listed_from: Instant::now() });
        Self { client, names, state }
    }

    pub(crate) fn names(&self) -> &Names {
        &self.names
    }

    pub(crate) fn is_connected(&self) -> bool {
        self.read().commands.is_some()
    }

    /// From this time on, every edge that serves from its cache is in Redis' list.
    pub(crate) fn edges_listed_from(&self) -> Instant {
        self.read().edges_listed_from
    }

    /// Subscribes before commands are allowed, so that a reply to a sent message cannot be missed.
    pub(crate) async fn open(&self, instance: &str, list_fills: ListFills) -> anyhow::Result<Subscription> {
        let names = &self.names;
        let channels = [names.announcements(), names.letters(instance), names.acks(instance)];
        let subscription = Subscription::open(&self.client, &channels).await?;
        let config = AsyncConnectionConfig::new().set_response_timeout(Some(COMMAND_WITHIN));
        let commands = within(self.client.get_multiplexed_async_connection_with_config(&config)).await?;
        let edges_listed_from = (Instant::now() + list_fills.within).max(list_fills.not_before);
        *self.write() = SubscriptionState { commands: Some(commands), edges_listed_from };
        Ok(subscription)
    }

    pub(crate) fn close(&self) {
        self.write().commands = None;
    }

    pub(crate) async fn ping(&self) -> anyhow::Result<()> {
        self.command::<String>(&redis::cmd("PING")).await.map(drop)
    }

    pub(crate) async fn announce(&self, from: &str, queue: Queue) -> anyhow::Result<()> {
        let announcement = Announcement { from: from.to_owned(), queue: queue.name().to_owned() };
        self.publish(&self.names.announcements(), &announcement).await
    }

    pub(crate) async fn send(&self, to: &str, letter: &Letter) -> anyhow::Result<()> {
        self.publish(&self.names.letters(to), letter).await
    }

    pub(crate) async fn acknowledge(&self, notice: &Notice, letter: &Letter) -> anyhow::Result<()> {
        let channel = match notice.hears_acks_apart {
            true => self.names.acks(&notice.from),
            false => self.names.letters(&notice.from),
        };
        self.publish(&channel, letter).await
    }

    async fn publish(&self, channel: &str, message: &impl Serialize) -> anyhow::Result<()> {
        let mut command = redis::cmd("PUBLISH");
        command.arg(channel).arg(serde_json::to_string(message)?);
        self.command::<u64>(&command).await.map(drop)
    }

    pub(crate) async fn command<T: FromRedisValue>(&self, command: &Cmd) -> anyhow::Result<T> {
        within(command.query_async(&mut self.commands()?)).await
    }

    pub(crate) async fn run<T: FromRedisValue>(&self, script: &ScriptInvocation<'_>) -> anyhow::Result<T> {
        within(script.invoke_async(&mut self.commands()?)).await
    }

    fn commands(&self) -> anyhow::Result<MultiplexedConnection> {
        self.read().commands.clone().context("Redis is unreachable")
    }

    fn read(&self) -> RwLockReadGuard<'_, SubscriptionState> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, SubscriptionState> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) struct Subscription {
    pub(crate) sink: PubSubSink,
    pub(crate) stream: PubSubStream,
}

impl Subscription {
    pub(crate) async fn open(client: &Client, channels: &[String]) -> anyhow::Result<Self> {
        let (mut sink, stream) = within(client.get_async_pubsub()).await?.split();
        within(sink.subscribe(channels)).await?;
        Ok(Self { sink, stream })
    }
}

pub(crate) async fn within_time<T>(response: impl Future<Output = T>) -> anyhow::Result<T> {
    timeout(COMMAND_WITHIN, response).await.context("Redis did not respond in time")
}

pub(crate) async fn within<T>(response: impl Future<Output = RedisResult<T>>) -> anyhow::Result<T> {
    within_time(response).await?.context("the Redis command failed")
}
