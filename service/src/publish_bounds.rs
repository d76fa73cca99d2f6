//! Bounds on the memory and CPU that the publishes of one process use concurrently.

use std::sync::Arc;
use std::thread::available_parallelism;

use anyhow::Context;
use domain::Content;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};

use crate::compute::DONE_IN_PLACE_BYTES_MAX;

/// Content of large publishes in memory at a time: six of the largest. Without a bound, a worker holds one
/// for each of its job slots.
const CONTENT_KIB_MAX: u32 = 64 * 1024;

/// Shared by all publishes of a process.
#[derive(Debug)]
pub struct PublishBounds {
    /// One permit per KiB.
    content: Semaphore,
    /// One permit per core. A compression uses about 15 MB, so more of them would cost memory without any
    /// gain.
    compressions: Arc<Semaphore>,
    cores: usize,
}

impl Default for PublishBounds {
    fn default() -> Self {
        let cores = available_parallelism().map_or(1, usize::from);
        Self {
            content: Semaphore::new(CONTENT_KIB_MAX as usize),
            compressions: Arc::new(Semaphore::new(cores)),
            cores,
        }
    }
}

impl PublishBounds {
    /// Waits until content of this size fits. Inline content is in memory already, so it does not wait behind
    /// large publishes.
    pub(crate) async fn content_permit(
        &self,
        content: &Content,
        size_bytes: u64,
    ) -> anyhow::Result<Option<SemaphorePermit<'_>>> {
        match content {
            Content::Inline(_) | Content::Removed => Ok(None),
            Content::Spooled => {
                let permits = kib_of(size_bytes);
                self.content.acquire_many(permits).await.map(Some).context("publishes are closed")
            }
        }
    }

    pub(crate) fn cores(&self) -> usize {
        self.cores
    }

    /// Waits for a core without another compression, unless the publish is small. The permit is owned, so
    /// that it can move into the computation, which continues when the publish is given up.
    pub(crate) async fn compression_permit(
        &self,
        publish_bytes: u64,
    ) -> anyhow::Result<Option<OwnedSemaphorePermit>> {
        if publish_bytes <= DONE_IN_PLACE_BYTES_MAX {
            return Ok(None);
        }
        let permit = self.compressions.clone().acquire_owned().await;
        permit.map(Some).context("compressions are closed")
    }
}

/// A publish larger than the bound takes all of it, and so is executed alone.
fn kib_of(size_bytes: u64) -> u32 {
    u32::try_from(size_bytes.div_ceil(1024)).map_or(CONTENT_KIB_MAX, |kib| kib.min(CONTENT_KIB_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LARGEST: u64 = 10_000_000;

    #[tokio::test]
    async fn large_publishes_wait_for_memory_and_small_ones_do_not() {
        let bounds = PublishBounds::default();
        let mut held = Vec::new();
        for _ in 0..6 {
            held.push(bounds.content_permit(&Content::Spooled, LARGEST).await.unwrap());
        }
        let waiting = bounds.content_permit(&Content::Spooled, LARGEST);
        let mut waiting = Box::pin(waiting);
        assert!(futures::poll!(waiting.as_mut()).is_pending());
        assert!(bounds.content_permit(&Content::Inline(String::new()), 40_000).await.unwrap().is_none());
        held.pop();
        assert!(waiting.await.unwrap().is_some());
    }

    #[tokio::test]
    async fn publish_above_the_memory_limit_runs_alone() {
        let bounds = PublishBounds::default();
        let alone = bounds.content_permit(&Content::Spooled, u64::MAX).await.unwrap();
        assert!(alone.is_some());
        assert!(futures::poll!(Box::pin(bounds.content_permit(&Content::Spooled, 1))).is_pending());
    }
}
