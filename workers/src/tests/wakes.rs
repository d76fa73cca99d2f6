//! Waking of idle workers.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio::time::timeout;

use crate::wake::PollTriggers;

const NEVER: Duration = Duration::from_secs(3600);

/// Waits as a worker does, until its waker is called.
async fn next(triggers: &mut PollTriggers) {
    poll_fn(|cx| if triggers.poll_due(cx) { Poll::Ready(()) } else { Poll::Pending }).await;
}

async fn is_due(triggers: &mut PollTriggers) -> bool {
    poll_fn(|cx| Poll::Ready(triggers.poll_due(cx))).await
}

#[tokio::test]
async fn notification_without_a_listener_triggers_one_poll() {
    let handle = Arc::new(Notify::new());
    let mut triggers = PollTriggers::new(handle.clone(), NEVER);
    next(&mut triggers).await; // The first tick comes at once.
    assert!(!is_due(&mut triggers).await);
    handle.notify_one();
    timeout(Duration::from_secs(5), next(&mut triggers)).await.unwrap();
    assert!(!is_due(&mut triggers).await);
}

#[tokio::test]
async fn poll_ticks_come_at_regular_intervals() {
    let mut triggers = PollTriggers::new(Arc::new(Notify::new()), Duration::from_millis(50));
    let start = Instant::now();
    for _ in 0..4 {
        next(&mut triggers).await;
    }
    assert!(start.elapsed() >= Duration::from_millis(140), "{:?}", start.elapsed());
}

#[tokio::test]
async fn notification_does_not_suppress_the_tick() {
    let handle = Arc::new(Notify::new());
    let mut triggers = PollTriggers::new(handle.clone(), Duration::from_millis(200));
    next(&mut triggers).await;
    // At this poll the notification is ready. The tick must have registered its waker all the same.
    handle.notify_one();
    assert!(is_due(&mut triggers).await);
    timeout(Duration::from_secs(5), next(&mut triggers)).await.unwrap();
}

#[tokio::test]
async fn tick_does_not_suppress_a_notification() {
    let handle = Arc::new(Notify::new());
    let mut triggers = PollTriggers::new(handle.clone(), NEVER);
    next(&mut triggers).await;
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(50)).await;
        handle.notify_one();
    });
    timeout(Duration::from_secs(5), next(&mut triggers)).await.unwrap();
}
