//! The connection to Redis: commands with a bound on every wait, and the names of keys and channels.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use anyhow::Context;
use domain::Queue;
use redis::aio::{MultiplexedConnection, PubSubSink, PubSubStream};
use redis::{AsyncConnectionConfig, Client, Cmd, FromRedisValue, RedisResult, ScriptInvocation};
use serde::Serialize;
use tokio::time::{Instant, timeout};

use crate::messages::{Announcement, Letter, Notice};

/// How long the list of live edges keeps a seat that is not refreshed.
pub(crate) const SEAT_VALID_FOR: Duration = Duration::from_secs(2);
/// How long any one command, and any one attempt to connect, may take.
pub(crate) const COMMAND_WITHIN: Duration = Duration::from_secs(1);

/// Names of keys and channels. All bear the database's number: publish/subscribe takes no account of databases, and
/// two deployments may share a server.
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

    /// Acknowledgements have a channel apart from the replies, so that a login of an edge may send the ones and not the
    /// others.
    pub(crate) fn acks(&self, instance: &str) -> String {
        format!("{}:ack:{instance}", self.prefix)
    }

    pub(crate) fn edges(&self) -> String {
        format!("{}:edges", self.prefix)
    }

    pub(crate) fn identity(&self) -> String {
        format!("{}:bus", self.prefix)
    }

    pub(crate) fn limit(&self, name: &str, key: &str) -> String {
        format!("{}:limit:{name}:{key}", self.prefix)
    }
}

/// The listening task opens the wire, proves every half second that it carries, and else opens it anew. (The
/// driver's own connection manager would wait for a silent peer until TCP gives up, a quarter of an hour.)
pub(crate) struct Wire {
    client: Client,
    names: Names,
    standing: RwLock<SubscriptionState>,
}

struct SubscriptionState {
    /// Present while Redis is there.
    commands: Option<MultiplexedConnection>,
    /// From then on an edge that is not in the list of edges does not trust its cache either.
    edges_listed_from: Instant,
}

impl Wire {
    pub(crate) fn new(client: Client) -> Self {
        let names = Names::new(client.get_connection_info().redis_settings().db());
        let standing = RwLock::new(SubscriptionState { commands: None, edges_listed_from: Instant::now() });
        Self { client, names, standing }
    }

    pub(crate) fn names(&self) -> &Names {
        &self.names
    }

    pub(crate) fn is_connected(&self) -> bool {
        self.read().commands.is_some()
    }

    /// Whether an edge that is missing in Redis' list is known not to serve from its cache.
    pub(crate) fn knows_all_edges(&self) -> bool {
        let standing = self.read();
        standing.commands.is_some() && standing.edges_listed_from <= Instant::now()
    }

    /// Subscribes first and then lets commands through, so that whoever sends can also be answered.
    pub(crate) async fn open(
        &self,
        instance: &str,
        list_fills_within: Duration,
    ) -> anyhow::Result<Subscription> {
        let names = &self.names;
        let channels = [names.announcements(), names.letters(instance), names.acks(instance)];
        let subscription = Subscription::open(&self.client, &channels).await?;
        let config = AsyncConnectionConfig::new().set_response_timeout(Some(COMMAND_WITHIN));
        let commands = within(self.client.get_multiplexed_async_connection_with_config(&config)).await?;
        let edges_listed_from = Instant::now() + list_fills_within;
        *self.write() = SubscriptionState { commands: Some(commands), edges_listed_from };
        Ok(subscription)
    }

    /// After a loss the server may come back empty, while edges still trust a seat in the list that it had before.
    pub(crate) async fn reopen(&self, instance: &str) -> anyhow::Result<Subscription> {
        self.open(instance, SEAT_VALID_FOR).await
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
        self.read().commands.clone().context("Redis is away")
    }

    fn read(&self) -> RwLockReadGuard<'_, SubscriptionState> {
        self.standing.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, SubscriptionState> {
        self.standing.write().unwrap_or_else(PoisonError::into_inner)
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

pub(crate) async fn within<T>(answer: impl Future<Output = RedisResult<T>>) -> anyhow::Result<T> {
    let answer = timeout(COMMAND_WITHIN, answer).await.context("Redis did not answer in time")?;
    answer.context("Redis refused or went away")
}
