//! Plain workers: each takes a job, runs it, and polls for the next.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::Context;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// The pause of a worker after it found no job.
const IDLE_PAUSE: Duration = Duration::from_millis(2);

pub struct Crew {
    done: Arc<AtomicU64>,
    shutdown: CancellationToken,
    workers: JoinSet<anyhow::Result<()>>,
}

/// The result of polling for a job.
pub enum TakenJob {
    Done,
    Nothing,
}

impl Crew {
    /// Each worker repeats its function until it stops.
    pub fn start<F, W>(takes: impl IntoIterator<Item = F>) -> Self
    where
        F: Fn() -> W + Send + 'static,
        W: Future<Output = anyhow::Result<TakenJob>> + Send,
    {
        let (done, shutdown) = (Arc::new(AtomicU64::new(0)), CancellationToken::new());
        let mut workers = JoinSet::new();
        for take in takes {
            let (done, shutdown) = (done.clone(), shutdown.clone());
            workers.spawn(async move {
                while !shutdown.is_cancelled() {
                    match take().await? {
                        TakenJob::Done => drop(done.fetch_add(1, Ordering::Relaxed)),
                        TakenJob::Nothing => tokio::time::sleep(IDLE_PAUSE).await,
                    }
                }
                Ok(())
            });
        }
        Self { done, shutdown, workers }
    }

    pub fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    pub async fn stop(mut self) -> anyhow::Result<()> {
        self.shutdown.cancel();
        while let Some(ended) = self.workers.join_next().await {
            ended.context("a worker fell")??;
        }
        Ok(())
    }
}
