//! CPU-bound work.

use anyhow::Context;
use tokio::task::spawn_blocking;

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
