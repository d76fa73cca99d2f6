//! Wake-ups of queues: who listens here, and what this process has yet to announce.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use domain::Queue;
use tokio::sync::Notify;

type Heard = Arc<dyn Fn(Queue) + Send + Sync>;

#[derive(Default)]
pub(crate) struct Wakes {
    heard: RwLock<Vec<Heard>>,
    /// One bit a queue: however many announcements wait, each queue is announced once.
    unannounced: AtomicU8,
    stirred: Notify,
}

impl Wakes {
    pub(crate) fn on_wake(&self, heard: Heard) {
        self.heard.write().unwrap_or_else(PoisonError::into_inner).push(heard);
    }

    pub(crate) fn wake(&self, queue: Queue) {
        for heard in self.heard.read().unwrap_or_else(PoisonError::into_inner).iter() {
            heard(queue);
        }
    }

    pub(crate) fn announce(&self, queue: Queue) {
        self.unannounced.fetch_or(bit(queue), Ordering::AcqRel);
        self.stirred.notify_one();
    }

    /// The queues to announce now, once there are any.
    pub(crate) async fn to_announce(&self) -> impl Iterator<Item = Queue> + use<> {
        self.stirred.notified().await;
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
    async fn announcements_that_pile_up_become_one_a_queue() {
        let wakes = Wakes::default();
        for queue in [Queue::Scan, Queue::Publish, Queue::Scan, Queue::Scan] {
            wakes.announce(queue);
        }
        let announced: Vec<_> = wakes.to_announce().await.collect();
        assert_eq!(announced, [Queue::Publish, Queue::Scan]);
    }
}
