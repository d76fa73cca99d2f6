//! Wake-ups of queues: the callbacks of this process and its pending announcements.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use domain::Queue;
use tokio::sync::Notify;

type WakeCallback = Arc<dyn Fn(Queue) + Send + Sync>;

#[derive(Default)]
pub(crate) struct Wakes {
    callbacks: RwLock<Vec<WakeCallback>>,
    /// One bit per queue, so that pending announcements of a queue are merged.
    unannounced: AtomicU8,
    announced: Notify,
}

impl Wakes {
    pub(crate) fn on_wake(&self, callbacks: WakeCallback) {
        self.callbacks.write().unwrap_or_else(PoisonError::into_inner).push(callbacks);
    }

    pub(crate) fn wake(&self, queue: Queue) {
        for callbacks in self.callbacks.read().unwrap_or_else(PoisonError::into_inner).iter() {
            callbacks(queue);
        }
    }

    pub(crate) fn announce(&self, queue: Queue) {
        self.unannounced.fetch_or(bit(queue), Ordering::AcqRel);
        self.announced.notify_one();
    }

    /// The queues to announce now, once there are any.
    pub(crate) async fn to_announce(&self) -> impl Iterator<Item = Queue> + use<> {
        self.announced.notified().await;
        let bits = self.unannounced.swap(0, Ordering::AcqRel);
        Queue::ALL.into_iter().filter(move |queue| bits & bit(*queue) != 0)
    }
}

fn bit(queue: Queue) -> u8 {
    match queue {
        Queue::Publish => 1,
        Queue::Scan => 2,
        Queue::Views => 4,
        Queue::Upkeep => 8,
        Queue::Rescan => 16,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn pending_announcements_are_merged_per_queue() {
        let wakes = Wakes::default();
        for queue in [Queue::Scan, Queue::Publish, Queue::Scan, Queue::Scan] {
            wakes.announce(queue);
        }
        let announced: Vec<_> = wakes.to_announce().await.collect();
        assert_eq!(announced, [Queue::Publish, Queue::Scan]);
    }
}
