//! Writes how attempts ended, many with one statement.
//!
//! No request waits for an acknowledgement: the outcome is stored elsewhere, and running a job twice changes
//! nothing. So the acknowledgements of all queues are written together, a few milliseconds later. apalis' own
//! acknowledgement stops the fetches of its worker while it is written, and is lost if the database refuses
//! it.
//!
//! The acknowledgement of a publish that is done also removes the content from its row. Otherwise the queue
//! would store it for two more days, even if the page is purged.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::Context;
use serde::Serialize;
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

use crate::database::Database;
use crate::sql::on_either;
use crate::unacknowledged::Unacknowledged;

/// How long an acknowledgement waits for others.
const LINGER: Duration = Duration::from_millis(20);
/// Acknowledgements that one statement writes.
const BATCH_MAX: usize = 256;
/// After an error of the database.
const RETRY_AFTER: Duration = Duration::from_secs(1);
/// A slower statement is given up and repeated, because its connection may be broken.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a stopping pool waits for the database. A supervisor kills a process that takes much longer to
/// stop than its jobs may take.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(2);

/// How an attempt ended, as the job's row stores it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Acknowledgement {
    pub(crate) id: String,
    /// The worker that has locked the row.
    pub(crate) worker: String,
    pub(crate) attempt: u32,
    pub(crate) status: &'static str,
    /// As apalis stores it.
    pub(crate) result: Result<(), String>,
    /// Replaces the stored payload. `None` keeps it.
    pub(crate) new_payload: Option<String>,
}

/// The acknowledgements of a pool that are not written yet. While the database refuses them, they accumulate:
/// one entry for each job that has ended.
#[derive(Clone)]
pub(crate) struct Acknowledgements(Arc<Shared>);

struct Shared {
    waiting: Mutex<Vec<Acknowledgement>>,
    arrived: Notify,
    database: Database,
    unacknowledged: Unacknowledged,
}

impl Acknowledgements {
    pub(crate) fn new(database: Database, unacknowledged: Unacknowledged) -> Self {
        let (waiting, arrived) = (Mutex::default(), Notify::new());
        Self(Arc::new(Shared { waiting, arrived, database, unacknowledged }))
    }

    pub(crate) fn add(&self, acknowledgement: Acknowledgement) {
        self.waiting().push(acknowledgement);
        self.0.arrived.notify_one();
    }

    /// Writes acknowledgements until it is dropped.
    pub(crate) async fn run(&self) -> Infallible {
        loop {
            self.0.arrived.notified().await;
            sleep(LINGER).await;
            while let Err(error) = self.write_all().await {
                tracing::warn!(
                    error = format!("{error:#}"),
                    "the ends of jobs could not be recorded; retrying"
                );
                sleep(RETRY_AFTER).await;
            }
        }
    }

    /// Writes those that are left when the pool stops.
    pub(crate) async fn flush(&self) {
        match timeout(FLUSH_TIMEOUT, self.write_all()).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                tracing::warn!(error = format!("{error:#}"), "the ends of jobs could not be recorded");
            }
            Err(_) => tracing::warn!("the ends of jobs could not be recorded in time"),
        }
    }

    /// They stay until they are written. Writing one again changes nothing.
    async fn write_all(&self) -> anyhow::Result<()> {
        loop {
            let batch: Vec<Acknowledgement> = self.waiting().iter().take(BATCH_MAX).cloned().collect();
            if batch.is_empty() {
                return Ok(());
            }
            let ended = serde_json::to_string(&batch)?;
            let write = async {
                on_either!(&self.0.database, sql, pool => {
                    sqlx::query(sql::ACKNOWLEDGE).bind(&ended).execute(pool).await.map(drop)
                })
            };
            timeout(WRITE_TIMEOUT, write).await.context("the queue's database did not respond in time")??;
            // Others were only added at the end.
            self.waiting().drain(..batch.len());
            for Acknowledgement { id, attempt, .. } in &batch {
                self.0.unacknowledged.acknowledge(id, *attempt);
            }
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<Acknowledgement>> {
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
