//! The paused queues, as this process knows them.

use std::sync::atomic::{AtomicBool, Ordering};

use domain::Queue;
use tokio::sync::{Mutex, Notify};
use tokio::time::Instant;

/// The pauses, as this process knows them.
#[derive(Default)]
pub(crate) struct Pauses {
    held: [AtomicBool; Queue::ALL.len()],
    pub(crate) poll: Notify,
    /// When a process without workers last read the table.
    pub(crate) read_at: Mutex<Option<Instant>>,
}

impl Pauses {
    pub(crate) fn holds(&self, queue: Queue) -> bool {
        self.held[queue as usize].load(Ordering::Relaxed)
    }

    /// Returns whether that is a change.
    pub(crate) fn set(&self, queue: Queue, is_held: bool) -> bool {
        self.held[queue as usize].swap(is_held, Ordering::Relaxed) != is_held
    }
}
