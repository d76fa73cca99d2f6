//! CPU-bound work.

use std::sync::LazyLock;
use std::thread::available_parallelism;

use anyhow::Context;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

/// One permit per core.
static CORES: LazyLock<Semaphore> =
    LazyLock::new(|| Semaphore::new(available_parallelism().map_or(1, usize::from)));

/// Work on this many bytes takes a fraction of a millisecond, and moving it to another thread would cost as
/// much.
pub(crate) const DONE_IN_PLACE_BYTES_MAX: u64 = 16 * 1024;

/// Runs work on this many bytes on a blocking thread, unless it is small.
pub(crate) async fn compute<T: Send + 'static>(
    bytes: u64,
    work: impl FnOnce() -> T + Send + 'static,
) -> anyhow::Result<T> {
    if bytes <= DONE_IN_PLACE_BYTES_MAX {
        return Ok(work());
    }
    spawn_blocking(work).await.context("compute")
}

/// Runs work that may take seconds or many megabytes on a blocking thread, one at a time per core.
pub(crate) async fn compute_long<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> anyhow::Result<T> {
    let _core = CORES.acquire().await;
    spawn_blocking(work).await.context("compute")
}
