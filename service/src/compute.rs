//! Work that burns processor time.

use anyhow::Context;
use tokio::task::spawn_blocking;

/// Up to so many bytes of content the work takes a fraction of a millisecond, and two changes of thread would cost as
/// much.
pub(crate) const DONE_IN_PLACE_BYTES_MAX: u64 = 16 * 1024;

/// Does work over so many bytes: off the async threads, unless there is little of it.
pub(crate) async fn compute<T: Send + 'static>(
    bytes: u64,
    work: impl FnOnce() -> T + Send + 'static,
) -> anyhow::Result<T> {
    if bytes <= DONE_IN_PLACE_BYTES_MAX {
        return Ok(work());
    }
    spawn_blocking(work).await.context("compute")
}
