//! All strings of a script, and how each was used. A concatenation refers to its parts, so that a million
//! additions to one variable cost a million small nodes and no copies. Only reported strings are copied.

use super::ids::{NameId, ReadingId, TextId};

/// The maximum length of a concatenation, slightly more than the largest source.
const TEXT_BYTES_MAX: u32 = 24 << 20;

/// How a string was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Usage {
    /// Part of another string, compared or searched for. It does not reach the page by itself.
    Consumed,
    /// Shown as text, never as markup.
    Shown,
    /// Written into the page as markup.
    Written,
    /// Passed to an unknown function.
    Unclear,
}

#[derive(Clone, Copy, Debug)]
enum Piece {
    Leaf { start: u32, end: u32 },
    Sum { left: TextId, right: TextId },
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    piece: Piece,
    len: u32,
    usages: u8,
    /// The variable that holds it.
    pub(crate) held_by: Option<NameId>,
    /// The reading of a function that made it.
    pub(crate) reader: Option<ReadingId>,
}

impl Record {
    pub(crate) fn has(&self, usage: Usage) -> bool {
        self.usages & bit(usage) != 0
    }
}

fn bit(usage: Usage) -> u8 {
    match usage {
        Usage::Consumed => 1,
        Usage::Shown => 2,
        Usage::Written => 4,
        Usage::Unclear => 8,
    }
}

/// The strings that were visited.
#[derive(Debug, Default)]
pub(crate) struct Seen(Vec<bool>);

impl Seen {
    /// Marks a string as visited. Returns false if it was visited before.
    pub(crate) fn note(&mut self, id: TextId) -> bool {
        let place = id.0 as usize;
        if self.0.len() <= place {
            self.0.resize(place + 1, false);
        }
        self.0.get_mut(place).is_some_and(|seen| !std::mem::replace(seen, true))
    }

    pub(crate) fn has(&self, id: TextId) -> bool {
        self.0.get(id.0 as usize) == Some(&true)
    }
}

#[derive(Debug, Default)]
pub(crate) struct Texts {
    buffer: String,
    records: Vec<Record>,
    reader: Option<ReadingId>,
}

impl Texts {
    pub(crate) fn read_by(&mut self, reader: Option<ReadingId>) -> Option<ReadingId> {
        std::mem::replace(&mut self.reader, reader)
    }

    /// The position among the strings of an effect that is recorded now.
    pub(crate) fn next_order(&self) -> u32 {
        u32::try_from(self.records.len()).unwrap_or(u32::MAX)
    }

    pub(crate) fn reader(&self) -> Option<ReadingId> {
        self.reader
    }

    /// A new string.
    pub(crate) fn add(&mut self, text: &str) -> TextId {
        self.add_with(|buffer| buffer.push_str(text))
    }

    pub(crate) fn add_with(&mut self, write: impl FnOnce(&mut String)) -> TextId {
        let start = self.buffer.len() as u32;
        write(&mut self.buffer);
        let end = self.buffer.len() as u32;
        self.push(Piece::Leaf { start, end }, end.saturating_sub(start))
    }

    fn push(&mut self, piece: Piece, len: u32) -> TextId {
        let id = TextId(u32::try_from(self.records.len()).unwrap_or(u32::MAX));
        self.records.push(Record { piece, len, usages: 0, held_by: None, reader: self.reader });
        id
    }

    pub(crate) fn record(&self, id: TextId) -> Option<&Record> {
        self.records.get(id.0 as usize)
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = TextId> + use<> {
        (0..u32::try_from(self.records.len()).unwrap_or(u32::MAX)).map(TextId)
    }

    pub(crate) fn len(&self, id: TextId) -> usize {
        self.record(id).map_or(0, |record| record.len as usize)
    }

    pub(crate) fn mark(&mut self, id: TextId, usage: Usage) {
        if let Some(record) = self.records.get_mut(id.0 as usize) {
            record.usages |= bit(usage);
        }
    }

    /// Marks a string that was written and then extended as not a page of its own.
    pub(crate) fn absorb(&mut self, id: TextId) {
        if let Some(record) = self.records.get_mut(id.0 as usize) {
            record.usages = bit(Usage::Consumed);
        }
    }

    pub(crate) fn hold(&mut self, id: TextId, name: NameId) {
        if let Some(record) = self.records.get_mut(id.0 as usize) {
            record.held_by = Some(name);
        }
    }

    /// Concatenates two strings. If the result would be too long, both parts stay unchanged.
    pub(crate) fn sum(&mut self, left: TextId, right: TextId) -> TextId {
        let Some(len) = self
            .record(left)
            .map(|record| record.len)
            .and_then(|len| len.checked_add(self.record(right)?.len).filter(|&sum| sum <= TEXT_BYTES_MAX))
        else {
            self.mark(right, Usage::Unclear);
            return left;
        };
        // Sums with empty parts would cost more to read than their length.
        if self.len(left) == 0 || self.len(right) == 0 {
            return if self.len(left) == 0 { right } else { left };
        }
        if let Some(id) = self.extend(left, right) {
            return id;
        }
        self.mark(left, Usage::Consumed);
        self.mark(right, Usage::Consumed);
        self.push(Piece::Sum { left, right }, len)
    }

    /// Joins two adjacent literals in place if nothing else refers to them.
    fn extend(&mut self, left: TextId, right: TextId) -> Option<TextId> {
        let is_last = right.0 as usize + 1 == self.records.len() && left.0 + 1 == right.0;
        let (one, two) = (*self.record(left)?, *self.record(right)?);
        let is_unknown = |record: &Record| record.usages == 0 && record.held_by.is_none();
        let (Piece::Leaf { end, .. }, Piece::Leaf { start, end: new_end }) = (one.piece, two.piece) else {
            return None;
        };
        if !is_last || start != end || !is_unknown(&one) || !is_unknown(&two) {
            return None;
        }
        self.records.pop();
        let record = self.records.get_mut(left.0 as usize)?;
        record.len += two.len;
        if let Piece::Leaf { end, .. } = &mut record.piece {
            *end = new_end;
        }
        Some(left)
    }

    /// The string before something was appended to it.
    pub(crate) fn left_part(&self, id: TextId) -> Option<TextId> {
        match self.record(id)?.piece {
            Piece::Sum { left, .. } => Some(left),
            Piece::Leaf { .. } => None,
        }
    }

    /// The string, cut to `bytes_max`.
    pub(crate) fn flat(&self, id: TextId, bytes_max: usize) -> String {
        let mut flat = String::with_capacity(self.len(id).min(bytes_max));
        self.walk(
            id,
            |_| true,
            |leaf| {
                let fits = flat.len() + leaf.len() <= bytes_max;
                flat.push_str(if fits { leaf } else { "" });
                fits
            },
        );
        flat
    }

    /// A flat ASCII string, in which every byte is a character.
    pub(crate) fn plain(&self, id: TextId) -> Option<&str> {
        match self.record(id)?.piece {
            Piece::Leaf { start, end } => {
                self.buffer.get(start as usize..end as usize).filter(|text| text.is_ascii())
            }
            Piece::Sum { .. } => None,
        }
    }

    /// The parts of a string that were not visited before. Marks them as visited.
    pub(crate) fn fresh(&self, id: TextId, seen: &mut Seen) -> String {
        let mut fresh = String::new();
        self.walk(
            id,
            |part| seen.note(part),
            |leaf| {
                fresh.push_str(leaf);
                fresh.len() <= TEXT_BYTES_MAX as usize
            },
        );
        fresh
    }

    /// Visits the leaves of a string in order, without the parts that `enters` rejects, until `visit` returns
    /// false.
    fn walk(&self, id: TextId, mut enters: impl FnMut(TextId) -> bool, mut visit: impl FnMut(&str) -> bool) {
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            match self.record(id).filter(|_| enters(id)).map(|record| record.piece) {
                Some(Piece::Leaf { start, end }) => {
                    let leaf = self.buffer.get(start as usize..end as usize).unwrap_or_default();
                    if !visit(leaf) {
                        return;
                    }
                }
                Some(Piece::Sum { left, right }) => open.extend([right, left]),
                None => {}
            }
        }
    }
}
