//! Polls with a deadline for effects after a response. Tests must never sleep instead.

use std::time::{Duration, Instant};

/// The deadline for effects after a response.
pub const PATIENCE: Duration = Duration::from_secs(15);

const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Polls until there is a value, or fails the test after the deadline.
pub async fn eventually<T>(deadline: Duration, what: &str, mut poll: impl AsyncFnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(seen) = poll().await {
            return seen;
        }
        assert!(start.elapsed() < deadline, "not within {deadline:?}: {what}");
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}
