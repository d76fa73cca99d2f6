//! The free job slots of a queue in this process. A fetch takes no more jobs than that: a job without a slot
//! would hold up the heartbeats of its worker, which would then count as lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Jobs that one fetch takes at most. The rest is left to other processes.
pub(crate) const FETCHED_AT_ONCE_MAX: usize = 16;

#[derive(Clone)]
pub(crate) struct JobSlots {
    all: usize,
    taken: Arc<AtomicUsize>,
}

/// Held by a job until it is done.
pub(crate) struct JobSlot(Arc<AtomicUsize>);

impl JobSlots {
    pub(crate) fn new(all: usize) -> Self {
        Self { all, taken: Arc::default() }
    }

    pub(crate) fn take(&self) -> JobSlot {
        self.taken.fetch_add(1, Ordering::Relaxed);
        JobSlot(self.taken.clone())
    }

    /// Jobs that the next fetch takes. Called only when a slot is free.
    pub(crate) fn to_fetch(&self) -> usize {
        let free = self.all.saturating_sub(self.taken.load(Ordering::Relaxed));
        free.clamp(1, FETCHED_AT_ONCE_MAX)
    }
}

impl Drop for JobSlot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fetch_size_is_limited_by_free_slots_and_the_batch_size() {
        let slots = JobSlots::new(20);
        assert_eq!(slots.to_fetch(), 16);
        let taken: Vec<JobSlot> = (0..17).map(|_| slots.take()).collect();
        assert_eq!(slots.to_fetch(), 3);
        drop(taken);
        assert_eq!(slots.to_fetch(), 16);
        let few = JobSlots::new(1);
        let _last = few.take();
        assert_eq!(few.to_fetch(), 1);
    }
}
