//! The work that one scan may still do, over all of its files, readings and pages together.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

pub(crate) struct Budget<'a> {
    steps_left: Cell<u64>,
    is_cancelled: &'a AtomicBool,
}

impl<'a> Budget<'a> {
    pub(crate) fn new(steps_max: u64, is_cancelled: &'a AtomicBool) -> Self {
        Self { steps_left: Cell::new(steps_max), is_cancelled }
    }

    /// Takes steps before the work that they stand for. False: the work is not to be done, because too little is left
    /// or the scan was cancelled. Nothing is left after that.
    pub(crate) fn take(&self, steps: usize) -> bool {
        let left = self.steps_left.get().checked_sub(steps as u64);
        let is_granted = left.is_some() && !self.is_cancelled();
        self.steps_left.set(left.filter(|_| is_granted).unwrap_or_default());
        is_granted
    }

    /// Whether more was asked for than there was.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.steps_left.get() == 0
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_exceeds_the_budget_is_refused_and_ends_it() {
        let never = AtomicBool::new(false);
        let budget = Budget::new(10, &never);
        assert!(budget.take(4) && budget.take(5) && !budget.is_exhausted());
        assert!(!budget.take(2) && budget.is_exhausted() && !budget.take(1));
    }

    #[test]
    fn nothing_more_is_granted_to_a_cancelled_scan() {
        let flag = AtomicBool::new(false);
        let budget = Budget::new(10, &flag);
        assert!(budget.take(1));
        flag.store(true, Ordering::Relaxed);
        assert!(!budget.take(1) && budget.is_cancelled());
    }
}
