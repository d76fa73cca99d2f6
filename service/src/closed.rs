//! Whether publishes can be executed now. One that cannot is refused at once with the reason, instead of
//! waiting for its deadline.

use std::time::Duration;

use domain::{Queue, Refusal};
use store::Blobs;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use crate::Service;

/// An operator's pause rarely ends within seconds.
const PAUSED_RETRY_SECONDS: u64 = 15;
/// How long to wait for the query whether the queue is paused.
const PAUSE_WAIT: Duration = Duration::from_secs(1);

/// The state of the file store. The store is pinged only while something may be wrong: a publish is waiting,
/// or the last ping failed.
#[derive(Debug, Default)]
pub struct FileStoreWatch(Mutex<FileStoreState>);

#[derive(Clone, Copy, Debug, Default)]
struct FileStoreState {
    checked_at: Option<Instant>,
    failing_since: Option<Instant>,
}

impl FileStoreWatch {
    const CHECK_INTERVAL: Duration = Duration::from_secs(1);
    const PING_WAIT: Duration = Duration::from_millis(1500);
    /// How long a restart of the store may take.
    const RESTART_WAIT: Duration = Duration::from_secs(2);
    /// An older observation is ignored.
    const FORGOTTEN_AFTER: Duration = Duration::from_secs(30);

    /// Whether the store has been failing for longer than a restart takes.
    async fn is_down(&self, blobs: &Blobs) -> bool {
        let mut state = self.0.lock().await;
        if state.checked_at.is_none_or(|at| at.elapsed() >= Self::CHECK_INTERVAL) {
            let began = Instant::now();
            if state.checked_at.is_some_and(|at| at.elapsed() >= Self::FORGOTTEN_AFTER) {
                state.failing_since = None;
            }
            let has_responded = matches!(timeout(Self::PING_WAIT, blobs.ping()).await, Ok(Ok(())));
            state.failing_since = (!has_responded).then(|| state.failing_since.unwrap_or(began));
            state.checked_at = Some(Instant::now());
        }
        state.failing_since.is_some_and(|since| since.elapsed() >= Self::RESTART_WAIT)
    }

    /// As [`Self::is_down`], for a request that has not waited yet: a store that was well is not pinged.
    async fn is_still_down(&self, blobs: &Blobs) -> bool {
        let was_failing = self.0.lock().await.failing_since.is_some();
        was_failing && self.is_down(blobs).await
    }
}

impl Service {
    /// Why a new publish could not be executed, if that is known.
    pub(crate) async fn closed(&self) -> Option<Refusal> {
        if let Some(refusal) = self.closed_here().await {
            return Some(refusal);
        }
        self.0.file_store.is_still_down(&self.0.blobs).await.then(file_store_is_down)
    }

    /// Why a publish that waits for its worker cannot be executed, if that is known.
    pub(crate) async fn closed_meanwhile(&self) -> Option<Refusal> {
        if let Some(refusal) = self.closed_here().await {
            return Some(refusal);
        }
        self.0.file_store.is_down(&self.0.blobs).await.then(file_store_is_down)
    }

    async fn closed_here(&self) -> Option<Refusal> {
        // While the database hangs this is unknown, and a publish must not wait for it beyond its deadline.
        let is_paused = timeout(PAUSE_WAIT, self.0.board.is_paused(Queue::Publish)).await.unwrap_or(false);
        if is_paused {
            let fault = "publishing is paused by the operator; nothing was done".to_owned();
            return Some(Refusal::Overloaded { fault, retry_after_seconds: PAUSED_RETRY_SECONDS });
        }
        let error = self.0.disk.check().err()?;
        tracing::error!(error = format!("{error:#}"), "a publish is refused: the disk is full");
        Some(Refusal::overloaded("the disk is full; your request was not processed"))
    }
}

fn file_store_is_down() -> Refusal {
    Refusal::overloaded("the file store is unavailable; your request was not processed")
}
