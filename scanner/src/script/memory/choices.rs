//! Picks of one item of several at an unknown index, such as `steps[i]`. A function that does this is repeated once
//! for each item, so that every page of a wizard is found and not only its first.

use std::collections::HashSet;

use super::ids::NameId;
use super::values::Value;

/// Items that are picked one after the other. Nobody clicks through more pages.
const CHOICES_MAX: usize = 16;

#[derive(Debug, Default)]
pub(crate) struct Choices {
    /// Variables that are set in more than one position: within functions their values are not known.
    pub(crate) reassigned: HashSet<NameId>,
    /// Variables that are given a list or an object somewhere.
    pub(crate) collections: HashSet<NameId>,
    /// Loop counters, whose values are known.
    pub(crate) counters: HashSet<NameId>,
    /// The item to pick while a function is repeated for each.
    pub(crate) current: Option<usize>,
    /// How many items the function that is being read picks from.
    pub(crate) count: usize,
}

impl Choices {
    /// The function that is being read picks one of so many items.
    pub(crate) fn note(&mut self, count: usize) {
        self.count = self.count.max(count.min(CHOICES_MAX));
    }

    /// The item to pick, if there is one, of the items that may be picked.
    pub(super) fn pick(&mut self, items: impl ExactSizeIterator<Item = Value> + Clone) -> Option<Value> {
        let holds_text = items.clone().take(CHOICES_MAX).any(may_hold_text);
        self.note(if holds_text { items.len() } else { 0 });
        self.current.and_then(|at| items.clone().nth(at))
    }
}

fn may_hold_text(value: Value) -> bool {
    matches!(value, Value::Text(_) | Value::Object(_) | Value::List(_))
}
