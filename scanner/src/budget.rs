//! The work that one scan may still do, over all of its files, readings and pages together.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

/// What the kinds of work cost, in steps of about ten nanoseconds. `bench` measures that no flood takes longer than its
/// steps say.
pub(crate) mod steps {
    /// A byte of a document: parsed, and its words read.
    pub(crate) const DOCUMENT_BYTE: usize = 6;
    /// A node of a document: styled and gone through.
    pub(crate) const NODE: usize = 20;
    /// An element that a selector is compared with.
    pub(crate) const STYLE_LOOK: usize = 3;
    /// A byte of a script or of data: cut into tokens.
    pub(crate) const SCRIPT_BYTE: usize = 2;
    /// A token of a script, each time that it is gone through.
    pub(crate) const TOKEN: usize = 8;
    /// A field, each time that a rule looks at it and at what stands around it.
    pub(crate) const FIELD: usize = 100;
    /// A stretch of the page, each time that a field is compared with it.
    pub(crate) const STRETCH: usize = 5;
}

/// Memory that the fields and texts of all pages may take while they are kept.
const KEPT_BYTES_MAX: usize = 100 << 20;

pub(crate) struct Budget<'a> {
    steps_left: Cell<u64>,
    kept_bytes_left: Cell<usize>,
    is_cancelled: &'a AtomicBool,
}

impl<'a> Budget<'a> {
    pub(crate) fn new(steps_max: u64, is_cancelled: &'a AtomicBool) -> Self {
        Self { steps_left: Cell::new(steps_max), kept_bytes_left: Cell::new(KEPT_BYTES_MAX), is_cancelled }
    }

    /// Takes steps before the work that they stand for. False: the work is not to be done, because too little is left
    /// or the scan was cancelled. Nothing is left after that.
    pub(crate) fn take(&self, steps: usize) -> bool {
        let left = self.steps_left.get().checked_sub(steps as u64);
        let is_granted = left.is_some() && !self.is_cancelled();
        self.steps_left.set(left.filter(|_| is_granted).unwrap_or_default());
        is_granted
    }

    /// Takes memory for what is kept until the scan ends. Too much of it ends the budget as too many steps do.
    pub(crate) fn keep(&self, bytes: usize) -> bool {
        let left = self.kept_bytes_left.get().checked_sub(bytes);
        self.kept_bytes_left.set(left.unwrap_or_default());
        if left.is_none() {
            self.exhaust();
        }
        left.is_some()
    }

    /// Ends the budget: something is too large to be read.
    pub(crate) fn exhaust(&self) {
        self.steps_left.set(0);
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
    fn keeping_too_much_ends_the_budget() {
        let never = AtomicBool::new(false);
        let budget = Budget::new(10, &never);
        assert!(budget.keep(KEPT_BYTES_MAX) && budget.take(1));
        assert!(!budget.keep(1) && !budget.take(1));
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
