//! The connection of this process to Redis, and the tasks that use it.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use redis::Client;
use tokio::time::{Instant, sleep};
use tokio_util::task::AbortOnDropHandle;

use crate::Receivers;
use crate::listen::{keep_announcing, keep_listening};
use crate::wire::{ListFills, Subscription, Wire};

const FIRST_CONNECT_WITHIN: Duration = Duration::from_secs(5);
const FIRST_CONNECT_PAUSE: Duration = Duration::from_millis(200);

/// The connection and its tasks, which end with it.
pub(crate) struct RedisConnection {
    wire: Arc<Wire>,
    _tasks: [AbortOnDropHandle<()>; 2],
}

impl RedisConnection {
    pub(crate) async fn connect(url: &str, receivers: Arc<Receivers>) -> anyhow::Result<RedisConnection> {
        let client = Client::open(url).context("parse the Redis address")?;
        let (wire, subscription) = first_connect(client, &receivers).await?;
        let listening = tokio::spawn(keep_listening(wire.clone(), receivers.clone(), subscription));
        let announcing = tokio::spawn(keep_announcing(wire.clone(), receivers));
        Ok(RedisConnection { wire, _tasks: [listening, announcing].map(AbortOnDropHandle::new) })
    }

    pub(crate) fn wire(&self) -> &Arc<Wire> {
        &self.wire
    }
}

async fn first_connect(client: Client, receivers: &Receivers) -> anyhow::Result<(Arc<Wire>, Subscription)> {
    // The address without username and password, for the error.
    let address = client.get_connection_info().addr().to_string();
    let wire = Arc::new(Wire::new(client));
    let give_up_at = Instant::now() + FIRST_CONNECT_WITHIN;
    loop {
        let opened = async {
            let subscription = wire.open(&receivers.instance, ListFills::now()).await?;
            receivers.identity.agree(&wire).await.context("read the identity of the bus")?;
            anyhow::Ok(subscription)
        };
        match opened.await {
            Ok(subscription) => return Ok((wire, subscription)),
            Err(error) if Instant::now() + FIRST_CONNECT_PAUSE > give_up_at => {
                let within = FIRST_CONNECT_WITHIN.as_secs();
                return Err(error)
                    .context(format!("could not connect to Redis at {address} within {within} s"));
            }
            Err(_) => sleep(FIRST_CONNECT_PAUSE).await,
        }
    }
}
