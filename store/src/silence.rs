//! How long a call to the object store may take.

use std::time::Duration;

use anyhow::Context;
use tokio::time::timeout;

/// A store that does not answer makes the caller wait no longer than this.
const ANSWER_WAIT_MAX: Duration = Duration::from_secs(10);

/// Waits no longer than a caller can. A store that is silent is away.
pub(crate) async fn within<T>(answer: impl Future<Output = T>) -> anyhow::Result<T> {
    timeout(ANSWER_WAIT_MAX, answer)
        .await
        .map_err(std::io::Error::from)
        .context("the blob store stays silent")
}
