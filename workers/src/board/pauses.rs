//! Queues that an operator has paused. No worker starts their jobs until they are resumed. Each process polls
//! the table every second, and at once when it is notified about a queue that it holds back.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::time::Duration;

use anyhow::Context;
use domain::{OperatorName, Queue, Time};
use service::Paused;
use tokio::time::{Instant, sleep, timeout};

use crate::Queues;
use crate::sql::on_either;

const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// While a queue is paused, every push to it is a reason to poll. This bounds how often.
const POLL_PAUSE: Duration = Duration::from_millis(100);

impl Queues {
    /// Handles a notification from another process: the queue has work, or is resumed.
    pub fn handle_wake(&self, queue: Queue) {
        if self.pauses.holds(queue) {
            self.pauses.poll.notify_one();
        }
        self.wakes.handle(queue).notify_one();
    }

    /// The paused queues. Rows of queues that this release does not know are skipped.
    pub(super) async fn paused(&self) -> anyhow::Result<BTreeMap<Queue, Paused>> {
        let text = "SELECT queue, paused_by, paused_at_ms FROM handbill_pauses";
        let rows: Vec<(String, String, i64)> =
            on_either!(&self.database, pool => sqlx::query_as(text).fetch_all(pool).await)
                .context("reading which queues are paused")?;
        let paused = rows.into_iter().filter_map(|(queue, by, since_ms)| {
            Some((Queue::parse(&queue)?, Paused { by, since: Time::from_millis(since_ms) }))
        });
        Ok(paused.collect())
    }

    /// Makes the workers of this process hold back the paused queues, and no others.
    pub(crate) async fn refresh_pauses(&self) -> anyhow::Result<()> {
        let paused = self.paused().await?;
        for queue in Queue::ALL {
            let is_paused = paused.contains_key(&queue);
            if !self.pauses.set(queue, is_paused) {
                continue;
            }
            if is_paused {
                tracing::info!(queue.name = queue.name(), "a queue is paused; its jobs are not started here");
            } else {
                tracing::info!(queue.name = queue.name(), "a queue is resumed");
            }
            self.wakes.handle(queue).notify_one();
        }
        Ok(())
    }

    /// Whether a queue is paused, for a process that may have no workers. The table is read once a second at
    /// most. While the database does not respond, the last known state holds.
    pub(super) async fn is_paused_lately(&self, queue: Queue) -> bool {
        let mut read_at = self.pauses.read_at.lock().await;
        if read_at.is_none_or(|at| at.elapsed() >= POLL_INTERVAL) {
            if let Err(error) = self.refresh_pauses().await {
                tracing::debug!(error = format!("{error:#}"), "the paused queues could not be read");
            }
            *read_at = Some(Instant::now());
        }
        drop(read_at);
        self.pauses.holds(queue)
    }

    /// Polls while the workers run. While the database does not respond, the last known state holds.
    pub(crate) async fn watch_pauses(&self) -> Infallible {
        loop {
            // Whichever comes first.
            let _ = timeout(POLL_INTERVAL, self.pauses.poll.notified()).await;
            if let Err(error) = self.refresh_pauses().await {
                tracing::debug!(error = format!("{error:#}"), "the paused queues could not be read");
            }
            sleep(POLL_PAUSE).await;
        }
    }

    pub(super) async fn note_pause(&self, queue: Queue, by: &OperatorName) -> anyhow::Result<()> {
        let text = "INSERT INTO handbill_pauses (queue, paused_by, paused_at_ms) VALUES ($1, $2, $3)
                    ON CONFLICT (queue) DO NOTHING";
        on_either!(&self.database, pool => {
            let insert = sqlx::query(text).bind(queue.name()).bind(by.as_str());
            insert.bind(self.clock.now().millis()).execute(pool).await.map(drop)
        })
        .context("pausing a queue")?;
        self.refresh_pauses().await
    }

    pub(super) async fn end_pause(&self, queue: Queue) -> anyhow::Result<bool> {
        let text = "DELETE FROM handbill_pauses WHERE queue = $1";
        let ended = on_either!(&self.database, pool => {
            sqlx::query(text).bind(queue.name()).execute(pool).await.map(|done| done.rows_affected())
        })
        .context("resuming a queue")?;
        self.refresh_pauses().await?;
        self.wakes.wake(queue);
        Ok(ended > 0)
    }
}
