//! When a worker polls for jobs: at once after a push, and twice a second in any case.
//!
//! A wake-up may be lost between processes without harm, because the tick finds the job.

use std::pin::Pin;
use std::sync::Arc;
use std::task::Context;
use std::time::Duration;

use domain::Queue;
use tokio::sync::Notify;
use tokio::sync::futures::OwnedNotified;
use tokio::time::{Interval, MissedTickBehavior, interval};

/// How long a job waits at most after a lost wake-up, and how often due retries are polled.
pub(crate) const TICK_INTERVAL: Duration = Duration::from_millis(500);

/// Called with every queue that got a job, after the commit.
pub type OnPushed = Arc<dyn Fn(Queue) + Send + Sync>;

/// One wake-up handle per queue, and the callback that wakes other processes.
pub(crate) struct Wakes {
    handles: [Arc<Notify>; Queue::ALL.len()],
    on_pushed: OnPushed,
}

impl Wakes {
    pub(crate) fn new(on_pushed: OnPushed) -> Self {
        Self { handles: Queue::ALL.map(|_| Arc::new(Notify::new())), on_pushed }
    }

    pub(crate) fn handle(&self, queue: Queue) -> Arc<Notify> {
        self.handles[queue as usize].clone()
    }

    /// Wakes the workers of a queue after a committed push.
    pub(crate) fn wake(&self, queue: Queue) {
        self.handles[queue as usize].notify_one();
        (self.on_pushed)(queue);
    }
}

/// A worker's reasons to poll. Both are polled every time: apalis' own combinator of poll strategies stops at
/// the first that is ready, and the others lose their wakers.
pub(crate) struct PollTriggers {
    wake: Wake,
    tick: Tick,
}

impl PollTriggers {
    pub(crate) fn new(handle: Arc<Notify>, period: Duration) -> Self {
        Self { wake: Wake::new(handle), tick: Tick::every(period) }
    }

    /// Whether there is a new reason to poll. The task is woken when the next one comes.
    pub(crate) fn poll_due(&mut self, cx: &mut Context<'_>) -> bool {
        let (is_woken, has_ticked) = (self.wake.poll_due(cx), self.tick.poll_due(cx));
        is_woken || has_ticked
    }
}

/// Triggers on a wake-up.
struct Wake {
    handle: Arc<Notify>,
    notified: Pin<Box<OwnedNotified>>,
}

impl Wake {
    fn new(handle: Arc<Notify>) -> Self {
        Self { notified: Box::pin(handle.clone().notified_owned()), handle }
    }

    fn poll_due(&mut self, cx: &mut Context<'_>) -> bool {
        let mut is_due = false;
        // Polled to Pending, so that the next notification has our waker.
        while self.notified.as_mut().poll(cx).is_ready() {
            self.notified = Box::pin(self.handle.clone().notified_owned());
            is_due = true;
        }
        is_due
    }
}

/// Triggers at an even pace.
struct Tick(Interval);

impl Tick {
    fn every(period: Duration) -> Self {
        let mut ticks = interval(period);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self(ticks)
    }

    fn poll_due(&mut self, cx: &mut Context<'_>) -> bool {
        let mut is_due = false;
        while self.0.poll_tick(cx).is_ready() {
            is_due = true;
        }
        is_due
    }
}
