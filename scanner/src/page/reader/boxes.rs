//! Boxes that a field has to itself: the words in one are the field's, on whichever side of it they stand.

use crate::page::{Part, Role};

/// The boxes that are open, the innermost last: how many fields and blocks were there before each.
#[derive(Default)]
pub(super) struct Boxes {
    open: Vec<(usize, usize)>,
    /// How many fields have found the smallest box with words.
    settled: usize,
}

impl Boxes {
    pub(super) fn open(&mut self, part: &Part) {
        self.open.push((part.fields.len(), part.blocks.len()));
    }

    /// Where the box holds one field and the first word of its own, tells whether that stands behind it.
    pub(super) fn close(&mut self, part: &mut Part) {
        let Some((fields_before, blocks_before)) = self.open.pop() else { return };
        if part.fields.len() != fields_before + 1 || self.settled >= part.fields.len() {
            return;
        }
        let blocks = part.blocks.get(blocks_before..).unwrap_or_default();
        let Some(field) = part.fields.last_mut().filter(|_| !blocks.is_empty()) else { return };
        self.settled = fields_before + 1;
        let is_behind = field.blocks_before == blocks_before;
        field.is_labelled_behind = is_behind && blocks.len() == 1 && blocks[0].role == Role::Plain;
    }
}
