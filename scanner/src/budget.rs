//! The budget of one scan: how much work it may still do, over all files and pages together.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

/// The cost of each kind of work, in steps of about ten nanoseconds. `bench` measures that no hostile input
/// takes longer than its steps allow.
pub(crate) mod steps {
    /// Parsing a byte of a document and reading its words.
    pub(crate) const DOCUMENT_BYTE: usize = 6;
    /// Styling and visiting a node of a document.
    pub(crate) const NODE: usize = 20;
    /// Comparing an element with a selector.
    pub(crate) const STYLE_COMPARISON: usize = 3;
    /// Splitting a byte of a script or of data into tokens.
    pub(crate) const SCRIPT_BYTE: usize = 2;
    /// Each visit of a script's token.
    pub(crate) const TOKEN: usize = 8;
    /// Each check of a field and its surroundings by a rule.
    pub(crate) const FIELD: usize = 100;
    /// Each comparison of a field with a part of the page.
    pub(crate) const STRETCH: usize = 5;
}

/// Memory for the fields and texts of all pages together.
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

    /// Reserves steps before the work is done. Returns false if too few are left or the scan was cancelled.
    /// The budget is exhausted from then on.
    pub(crate) fn take(&self, steps: usize) -> bool {
        let left = self.steps_left.get().checked_sub(steps as u64);
        let is_granted = left.is_some() && !self.is_cancelled();
        self.steps_left.set(left.filter(|_| is_granted).unwrap_or_default());
        is_granted
    }

    /// Reserves memory that is held until the scan ends. Exceeding the limit exhausts the budget, as too many
    /// steps do.
    pub(crate) fn keep(&self, bytes: usize) -> bool {
        let left = self.kept_bytes_left.get().checked_sub(bytes);
        self.kept_bytes_left.set(left.unwrap_or_default());
        if left.is_none() {
            self.exhaust();
        }
        left.is_some()
    }

    /// Exhausts the budget because the input is too large to read.
    pub(crate) fn exhaust(&self) {
        self.steps_left.set(0);
    }

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
    fn work_beyond_the_budget_is_refused_and_exhausts_it() {
        let never = AtomicBool::new(false);
        let budget = Budget::new(10, &never);
        assert!(budget.take(4) && budget.take(5) && !budget.is_exhausted());
        assert!(!budget.take(2) && budget.is_exhausted() && !budget.take(1));
    }

    #[test]
    fn storing_too_much_exhausts_the_budget() {
        let never = AtomicBool::new(false);
        let budget = Budget::new(10, &never);
        assert!(budget.keep(KEPT_BYTES_MAX) && budget.take(1));
        assert!(!budget.keep(1) && !budget.take(1));
    }

    #[test]
    fn cancelled_scan_gets_no_more_budget() {
        let flag = AtomicBool::new(false);
        let budget = Budget::new(10, &flag);
        assert!(budget.take(1));
        flag.store(true, Ordering::Relaxed);
        assert!(!budget.take(1) && budget.is_cancelled());
    }
}
