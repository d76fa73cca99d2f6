//! Waking of idle workers.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio::time::timeout;

use crate::wake::Looks;

const NEVER: Duration = Duration::from_secs(3600);

/// Waits as a worker does, until its waker is called.
async fn next(looks: &mut Looks) {
    poll_fn(|cx| if looks.poll_due(cx) { Poll::Ready(()) } else { Poll::Pending }).await;
}

async fn is_due(looks: &mut Looks) -> bool {
    poll_fn(|cx| Poll::Ready(looks.poll_due(cx))).await
}

#[tokio::test]
async fn a_bell_that_rings_while_nobody_listens_is_heard_once() {
    let bell = Arc::new(Notify::new());
    let mut looks = Looks::new(bell.clone(), NEVER);
    next(&mut looks).await; // The first tick comes at once.
    assert!(!is_due(&mut looks).await);
    bell.notify_one();
    timeout(Duration::from_secs(5), next(&mut looks)).await.unwrap();
    assert!(!is_due(&mut looks).await);
}

#[tokio::test]
async fn ticks_come_at_an_even_pace() {
    let mut looks = Looks::new(Arc::new(Notify::new()), Duration::from_millis(50));
    let start = Instant::now();
    for _ in 0..4 {
        next(&mut looks).await;
    }
    assert!(start.elapsed() >= Duration::from_millis(140), "{:?}", start.elapsed());
}

#[tokio::test]
async fn a_bell_that_has_rung_does_not_silence_the_tick() {
    let bell = Arc::new(Notify::new());
    let mut looks = Looks::new(bell.clone(), Duration::from_millis(200));
    next(&mut looks).await;
    // At this poll the notification is ready. The tick must have registered its waker all the same.
    bell.notify_one();
    assert!(is_due(&mut looks).await);
    timeout(Duration::from_secs(5), next(&mut looks)).await.unwrap();
}

#[tokio::test]
async fn a_tick_does_not_silence_the_bell() {
    let bell = Arc::new(Notify::new());
    let mut looks = Looks::new(bell.clone(), NEVER);
    next(&mut looks).await;
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(50)).await;
        bell.notify_one();
    });
    timeout(Duration::from_secs(5), next(&mut looks)).await.unwrap();
}
