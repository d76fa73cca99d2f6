//! A timeout for calls to the object store.

use std::time::Duration;

use anyhow::Context;
use tokio::time::timeout;

/// A caller waits no longer than this for a store that does not respond.
const ANSWER_WAIT_MAX: Duration = Duration::from_secs(10);

/// Fails if the store does not respond in time.
pub(crate) async fn within<T>(answer: impl Future<Output = T>) -> anyhow::Result<T> {
    timeout(ANSWER_WAIT_MAX, answer)
        .await
        .map_err(std::io::Error::from)
        .context("the blob store does not respond")
}
