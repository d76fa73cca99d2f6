//! The connection to Redis: commands with a bound on every wait, and the names of keys and channels.

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use anyhow::Context;
use domain::{JobId, Outcome, Queue};
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, Cmd, FromRedisValue, RedisResult, ScriptInvocation};
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::task::AbortOnDropHandle;

use crate::Receivers;
use crate::edges::SEAT_VALID_FOR;
use crate::listen::{Subscription, keep_announcing, keep_listening};
use crate::notices::Notice;

/// How long any one command, and any one attempt to connect, may take.
pub(crate) const COMMAND_WITHIN: Duration = Duration::from_secs(1);
const FIRST_CONNECT_WITHIN: Duration = Duration::from_secs(5);
const FIRST_CONNECT_PAUSE: Duration = Duration::from_millis(200);

/// A message to every process: a queue has work.
#[derive(Serialize, Deserialize)]
pub(crate) struct Announcement {
    pub(crate) from: String,
    pub(crate) queue: String,
}

/// A message to one process.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Letter {
    Reply { job: JobId, outcome: Box<Outcome> },
    Ack { notice: u64, edge: String },
}

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

/// The wire, and the tasks that listen on it and end with it.
pub(crate) struct WireMessage {
    wire: Arc<Wire>,
    _tasks: [AbortOnDropHandle<()>; 2],
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

impl WireMessage {
    pub(crate) async fn connect(url: &str, receivers: Arc<Receivers>) -> anyhow::Result<WireMessage> {
        let client = Client::open(url).context("the Redis address cannot be read")?;
        let (wire, subscription) = first_connect(client, &receivers).await?;
        let listening = tokio::spawn(keep_listening(wire.clone(), receivers.clone(), subscription));
        let announcing = tokio::spawn(keep_announcing(wire.clone(), receivers));
        Ok(WireMessage { wire, _tasks: [listening, announcing].map(AbortOnDropHandle::new) })
    }

    pub(crate) fn wire(&self) -> &Arc<Wire> {
        &self.wire
    }
}

async fn first_connect(client: Client, receivers: &Receivers) -> anyhow::Result<(Arc<Wire>, Subscription)> {
    // The address without user and password, for the error.
    let address = client.get_connection_info().addr().to_string();
    let names = Names::new(client.get_connection_info().redis_settings().db());
    let standing = RwLock::new(SubscriptionState { commands: None, edges_listed_from: Instant::now() });
    let wire = Arc::new(Wire { client, names, standing });
    let give_up_at = Instant::now() + FIRST_CONNECT_WITHIN;
    loop {
        let opened = async {
            let subscription = wire.open(&receivers.instance, Duration::ZERO).await?;
            receivers.identity.agree(&wire).await.context("reading the identity of the bus")?;
            anyhow::Ok(subscription)
        };
        match opened.await {
            Ok(subscription) => return Ok((wire, subscription)),
            Err(error) if Instant::now() + FIRST_CONNECT_PAUSE > give_up_at => {
                let within = FIRST_CONNECT_WITHIN.as_secs();
                return Err(error)
                    .context(format!("Redis at {address} gave no connection within {within} s"));
            }
            Err(_) => sleep(FIRST_CONNECT_PAUSE).await,
        }
    }
}

impl Wire {
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
    async fn open(&self, instance: &str, list_fills_within: Duration) -> anyhow::Result<Subscription> {
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

pub(crate) async fn within<T>(answer: impl Future<Output = RedisResult<T>>) -> anyhow::Result<T> {
    let answer = timeout(COMMAND_WITHIN, answer).await.context("Redis did not answer in time")?;
    answer.context("Redis refused or went away")
}
