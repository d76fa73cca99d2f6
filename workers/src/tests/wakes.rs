use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use apalis_core::backend::ext::poll_strategy::{PollSnapshot, PollStrategy};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

use crate::wake::{All, Tick, Wake};

/// Waits as a worker does: asleep until the strategy's waker is called, then looks whether it is ready.
async fn next(strategy: &mut impl PollStrategy) {
    poll_fn(|cx| strategy.poll_drive(cx, &PollSnapshot::new()).map(|_| ())).await;
}

async fn is_ready(strategy: &mut impl PollStrategy) -> bool {
    poll_fn(|cx| Poll::Ready(strategy.poll_drive(cx, &PollSnapshot::new()).is_ready())).await
}

#[tokio::test]
async fn a_bell_that_rings_while_nobody_listens_is_heard_later() {
    let bell = Arc::new(Notify::new());
    let mut wake = Wake::new(bell.clone());
    assert!(!is_ready(&mut wake).await);
    bell.notify_one();
    next(&mut wake).await;
    assert!(!is_ready(&mut wake).await);
}

#[tokio::test]
async fn each_ring_makes_a_second_look_a_little_later_and_no_third() {
    let bell = Arc::new(Notify::new());
    let mut wake = Wake::new(bell.clone());
    bell.notify_one();
    next(&mut wake).await;
    let rung = Instant::now();
    next(&mut wake).await;
    assert!(rung.elapsed() >= Duration::from_millis(4), "{:?}", rung.elapsed());
    assert!(timeout(Duration::from_millis(200), next(&mut wake)).await.is_err());
}

#[tokio::test]
async fn ticks_come_at_an_even_pace_without_being_asked_in_between() {
    let mut tick = Tick::every(Duration::from_millis(50));
    let start = Instant::now();
    for _ in 0..4 {
        next(&mut tick).await;
    }
    // The first comes at once.
    assert!(start.elapsed() >= Duration::from_millis(140), "{:?}", start.elapsed());
}

#[tokio::test]
async fn a_member_that_is_ready_does_not_silence_the_others() {
    let bells = [Arc::new(Notify::new()), Arc::new(Notify::new())];
    let mut all = All(vec![Box::new(Wake::new(bells[0].clone())), Box::new(Wake::new(bells[1].clone()))]);
    // The first is ready at this poll, and the second must have left its waker all the same.
    bells[0].notify_one();
    assert!(is_ready(&mut all).await);
    next(&mut all).await;
    let ringing = bells[1].clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(50)).await;
        ringing.notify_one();
    });
    timeout(Duration::from_secs(1), next(&mut all)).await.unwrap();
}
