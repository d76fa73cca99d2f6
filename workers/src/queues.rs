//! The queues as a process opens them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64};

use domain::{Chance, Clock, Queue};
use tokio::sync::Notify;

use crate::database::Database;
use crate::pauses::Pauses;
use crate::rates::Rates;
use crate::wake::{OnPushed, Wakes};

/// The queues of this installation, as one process sees them. Cheap to clone.
#[derive(Clone)]
pub struct Queues {
    pub(crate) database: Database,
    pub(crate) wakes: Arc<Wakes>,
    pub(crate) clock: Clock,
    pub(crate) chance: Chance,
    pub(crate) instance: Arc<str>,
    pub(crate) pauses: Arc<Pauses>,
    pub(crate) rates: Arc<Rates>,
    /// The minute in which this process last recorded the depths of the queues, or saw that another had.
    pub(crate) depths_at_s: Arc<AtomicI64>,
    /// Whether every running process reads the newest format of stored data, at the last heartbeat.
    pub(crate) is_format_shared: Arc<AtomicBool>,
}

/// The parameters for opening the queues.
pub struct Opening<'a> {
    /// `sqlite://<path>` or `postgres://…`.
    pub url: &'a str,
    /// For PostgreSQL: a worker of each queue, the pushes, a postponement and operators use connections
    /// concurrently.
    pub connections_max: u32,
    /// The process's name, which is part of the names of its workers.
    pub instance: &'a str,
    pub clock: Clock,
    /// Generates worker names that no earlier start of the same instance has used.
    pub chance: Chance,
    /// Called once per queue that a committed batch of pushes went to, so that other processes wake too.
    pub on_pushed: OnPushed,
}

impl Queues {
    pub async fn open(opening: Opening<'_>) -> anyhow::Result<Self> {
        Ok(Self {
            database: Database::open(opening.url, opening.connections_max).await?,
            wakes: Arc::new(Wakes::new(opening.on_pushed)),
            clock: opening.clock,
            chance: opening.chance,
            instance: opening.instance.into(),
            pauses: Arc::default(),
            rates: Arc::default(),
            depths_at_s: Arc::default(),
            is_format_shared: Arc::default(),
        })
    }

    /// Wakes this process's worker of the queue. Call `notify_one` when another process reports a push.
    pub fn wake_handle(&self, queue: Queue) -> Arc<Notify> {
        self.wakes.handle(queue)
    }
}
