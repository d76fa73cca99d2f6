//! Waiting for what happens behind an answer: a look, a deadline, another look. A test must never sleep for luck
//! instead.

use std::time::{Duration, Instant};

/// How long anything that happens behind an answer may take before a test gives up.
pub const PATIENCE: Duration = Duration::from_secs(15);

const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// Looks again and again until there is something to see, or fails the test after the deadline.
pub async fn eventually<T>(deadline: Duration, what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(seen) = look().await {
            return seen;
        }
        assert!(start.elapsed() < deadline, "not within {deadline:?}: {what}");
        tokio::time::sleep(BETWEEN_LOOKS).await;
    }
}
