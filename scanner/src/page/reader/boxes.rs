//! Finds the layout of fields and their labels: a box with one field and its text on any side, and a box with
//! a row of headings above rows of fields.

use crate::page::{Field, Part, Role};

/// Limits for a box with headings: its columns, and the fields in all its rows.
const COLUMNS_MAX: usize = 6;
const CELLS_MAX: usize = 60;

/// The open boxes, innermost last: the number of fields and blocks before each.
#[derive(Default)]
pub(super) struct Boxes {
    open: Vec<(usize, usize)>,
    /// The number of fields whose smallest box with text was found.
    settled: usize,
}

impl Boxes {
    pub(super) fn open(&mut self, part: &Part) {
        self.open.push((part.fields.len(), part.blocks.len()));
    }

    pub(super) fn close(&mut self, part: &mut Part) {
        let Some((fields_before, blocks_before)) = self.open.pop() else { return };
        match part.fields.len().saturating_sub(fields_before) {
            1 => self.settle(part, fields_before, blocks_before),
            2..=CELLS_MAX => set_heads(part, fields_before, blocks_before),
            _ => {}
        }
    }

    /// Sets whether the only text in the box of one field follows it.
    fn settle(&mut self, part: &mut Part, fields_before: usize, blocks_before: usize) {
        let blocks = part.blocks.get(blocks_before..).unwrap_or_default();
        if self.settled > fields_before || blocks.is_empty() {
            return;
        }
        let Some(field) = part.fields.last_mut() else { return };
        self.settled = fields_before + 1;
        let is_behind = field.blocks_before == blocks_before;
        field.is_labelled_behind = is_behind && blocks.len() == 1 && blocks[0].role == Role::Plain;
    }
}

/// Assigns headings to columns if the box has a row of texts and then only full rows of fields.
fn set_heads(part: &mut Part, fields_before: usize, blocks_before: usize) {
    let blocks = part.blocks.get(blocks_before..).unwrap_or_default();
    let columns = blocks.len();
    let are_heads = blocks.iter().all(|block| block.role == Role::Plain);
    let Some(fields) = part.fields.get_mut(fields_before..) else { return };
    let is_below = |field: &Field| field.blocks_before == blocks_before + columns && field.head.is_none();
    if (2..=COLUMNS_MAX).contains(&columns)
        && are_heads
        && fields.len() % columns == 0
        && fields.iter().all(is_below)
    {
        let heads = (blocks_before..blocks_before + columns).cycle();
        fields.iter_mut().zip(heads).for_each(|(field, head)| field.head = Some(head));
    }
}
