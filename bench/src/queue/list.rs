//! A list in Redis: pushed at one end, popped at the other. A popped job is stored nowhere else, and this
//! Redis does not persist.

use std::time::Duration;

use anyhow::Context;
use futures::future::try_join_all;
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client};

use super::workers::{Crew, TakenJob};
use super::{CONCURRENCY, PAYLOAD};

const KEY: &str = "handbill-bench-jobs";
/// How long a worker waits for the next job before it checks whether to stop.
const POP_WAIT_S: u32 = 1;
/// Longer than `POP_WAIT_S`.
const ANSWER_WAIT_MAX: Duration = Duration::from_secs(5);

pub struct List {
    connection: MultiplexedConnection,
    pub workers: Crew,
}

impl List {
    pub async fn start(redis: &str) -> anyhow::Result<Self> {
        let client = Client::open(redis)?;
        // One connection for each, because a blocking pop delays everything behind it.
        let connections = try_join_all((0..CONCURRENCY).map(|_| connect(&client))).await?;
        let takes = connections.into_iter().map(|connection| move || take(connection.clone()));
        Ok(Self { connection: connect(&client).await?, workers: Crew::start(takes) })
    }

    pub async fn push(&self) -> anyhow::Result<()> {
        let mut connection = self.connection.clone();
        redis::cmd("LPUSH").arg(KEY).arg(PAYLOAD).query_async::<()>(&mut connection).await?;
        Ok(())
    }
}

async fn connect(client: &Client) -> anyhow::Result<MultiplexedConnection> {
    let config = AsyncConnectionConfig::new().set_response_timeout(Some(ANSWER_WAIT_MAX));
    client.get_multiplexed_async_connection_with_config(&config).await.context("connect to Redis")
}

async fn take(mut connection: MultiplexedConnection) -> anyhow::Result<TakenJob> {
    let mut pop = redis::cmd("BRPOP");
    let next: Option<(String, String)> = pop.arg(KEY).arg(POP_WAIT_S).query_async(&mut connection).await?;
    Ok(if next.is_some() { TakenJob::Done } else { TakenJob::Nothing })
}
