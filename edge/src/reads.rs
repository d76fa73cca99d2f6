//! Reads: how much is fetched at a time of what is not in memory. A flood of pages that nobody has asked for before, or
//! that are not there, must neither fill the memory nor take the database away from those who publish.
//!
//! Only whoever really reads takes a turn: those who wait for the same page wait for them. What is in memory needs none.

use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// How much is read at a time.
#[derive(Clone, Copy, Debug)]
pub struct ReadTerms {
    /// Looks at the database, and reads of contents.
    pub at_a_time_max: usize,
    /// How long a visitor waits for a turn.
    pub wait_max: Duration,
}

/// The turns of an edge. Clones are the same.
#[derive(Clone)]
pub struct Reads {
    turns: Arc<Semaphore>,
    wait_max: Duration,
}

impl Default for ReadTerms {
    fn default() -> Self {
        Self { at_a_time_max: 64, wait_max: Duration::from_secs(1) }
    }
}

impl Reads {
    pub fn new(terms: ReadTerms) -> Self {
        Self { turns: Arc::new(Semaphore::new(terms.at_a_time_max)), wait_max: terms.wait_max }
    }

    /// A turn, as long as it is held. That there is none in time is trouble, which the visitor is told as 503.
    pub async fn take(&self) -> anyhow::Result<OwnedSemaphorePermit> {
        if let Ok(Ok(turn)) = timeout(self.wait_max, self.turns.clone().acquire_owned()).await {
            return Ok(turn);
        }
        telemetry::shed("edge", "reads");
        bail!("more is to be read at a time than edge.reads_max allows")
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn who_gets_no_turn_in_time_hears_so() {
        let terms = ReadTerms { at_a_time_max: 1, ..ReadTerms::default() };
        let reads = Reads::new(terms);
        let held = reads.take().await.unwrap();
        let began_at = Instant::now();
        assert!(reads.take().await.is_err());
        assert_eq!(began_at.elapsed(), terms.wait_max);
        drop(held);
        assert!(reads.take().await.is_ok());
    }
}
