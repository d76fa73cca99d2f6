//! When a worker looks for jobs: at once when someone pushed, and twice a second in any case.
//!
//! A wake-up may be lost between processes without harm: the tick finds the job.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use apalis_core::backend::ext::poll_strategy::{PollSnapshot, PollStrategy};
use domain::Queue;
use tokio::sync::Notify;
use tokio::sync::futures::OwnedNotified;
use tokio::time::{Instant, Interval, MissedTickBehavior, Sleep, interval, sleep};

/// How long a job waits at most when its wake-up was lost, and how often a due retry is looked for.
pub(crate) const TICK_INTERVAL: Duration = Duration::from_millis(500);
/// How long after a wake-up a worker looks once more.
const SECOND_LOOK_DELAY: Duration = Duration::from_millis(5);

/// Told about every queue that got a job, after it was committed.
pub type OnPushed = Arc<dyn Fn(Queue) + Send + Sync>;

/// One bell for each queue, and the way to ring those of other processes.
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

    /// The queue has a new job, committed.
    pub(crate) fn ring(&self, queue: Queue) {
        self.handles[queue as usize].notify_one();
        (self.on_pushed)(queue);
    }
}

/// Looks when the bell rings.
pub(crate) struct Wake {
    handle: Arc<Notify>,
    notified: Pin<Box<OwnedNotified>>,
    second_look: Pin<Box<Sleep>>,
    is_second_look_due: bool,
}

impl Wake {
    pub(crate) fn new(handle: Arc<Notify>) -> Self {
        Self {
            notified: Box::pin(handle.clone().notified_owned()),
            handle,
            second_look: Box::pin(sleep(Duration::ZERO)),
            is_second_look_due: false,
        }
    }
}

impl PollStrategy for Wake {
    fn poll_drive(&mut self, cx: &mut Context<'_>, _: &PollSnapshot) -> Poll<Option<()>> {
        let mut is_ready = false;
        while self.notified.as_mut().poll(cx).is_ready() {
            self.notified = Box::pin(self.handle.clone().notified_owned());
            // A fetch that was under way when the bell rang may have looked too early for the new job, and
            // nothing would make the worker look again before the tick.
            self.second_look.as_mut().reset(Instant::now() + SECOND_LOOK_DELAY);
            self.is_second_look_due = true;
            is_ready = true;
        }
        if self.is_second_look_due && self.second_look.as_mut().poll(cx).is_ready() {
            self.is_second_look_due = false;
            is_ready = true;
        }
        if is_ready { Poll::Ready(Some(())) } else { Poll::Pending }
    }
}

/// Looks at an even pace.
pub(crate) struct Tick(Interval);

impl Tick {
    pub(crate) fn every(period: Duration) -> Self {
        let mut ticks = interval(period);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self(ticks)
    }
}

impl PollStrategy for Tick {
    fn poll_drive(&mut self, cx: &mut Context<'_>, _: &PollSnapshot) -> Poll<Option<()>> {
        let mut is_ready = false;
        // Polled to Pending, so that the next tick has our waker.
        while self.0.poll_tick(cx).is_ready() {
            is_ready = true;
        }
        if is_ready { Poll::Ready(Some(())) } else { Poll::Pending }
    }
}

/// Looks when any member says so. Every member is polled every time: apalis' own combinator stops at the first
/// that is ready, and the others lose their wakers.
pub(crate) struct All(pub(crate) Vec<Box<dyn PollStrategy + Send + Sync>>);

impl PollStrategy for All {
    fn poll_drive(&mut self, cx: &mut Context<'_>, snapshot: &PollSnapshot) -> Poll<Option<()>> {
        let mut is_ready = false;
        for member in &mut self.0 {
            is_ready |= member.poll_drive(cx, snapshot).is_ready();
        }
        if is_ready { Poll::Ready(Some(())) } else { Poll::Pending }
    }
}
