//! Reads of one item of several at an unknown index, such as `steps[i]`. A function with such a read is
//! repeated for each item, so that every page of a wizard is found and not only its first.

use std::collections::HashSet;

use super::ids::NameId;
use super::values::Value;

/// The number of items that are tried. Nobody clicks through more pages.
const CHOICES_MAX: usize = 16;

#[derive(Debug, Default)]
pub(crate) struct Choices {
    /// Variables that are assigned at several positions. In functions their values are not known.
    pub(crate) reassigned: HashSet<NameId>,
    /// Variables that are assigned a list or an object somewhere.
    pub(crate) collections: HashSet<NameId>,
    /// Loop counters, whose values are known.
    pub(crate) counters: HashSet<NameId>,
    /// The item to pick while a function is repeated.
    pub(crate) current: Option<usize>,
    /// The number of items that the current function picks from.
    pub(crate) count: usize,
}

impl Choices {
    /// Records that the current function picks one of this many items.
    pub(crate) fn note(&mut self, count: usize) {
        self.count = self.count.max(count.min(CHOICES_MAX));
    }

    /// The current item among those that may be picked, if there is one.
    pub(super) fn pick(&mut self, items: impl ExactSizeIterator<Item = Value> + Clone) -> Option<Value> {
        let holds_text = items.clone().take(CHOICES_MAX).any(may_hold_text);
        self.note(if holds_text { items.len() } else { 0 });
        self.current.and_then(|at| items.clone().nth(at))
    }
}

fn may_hold_text(value: Value) -> bool {
    matches!(value, Value::Text(_) | Value::Object(_) | Value::List(_))
}
