//! The state of an evaluation.

use std::collections::HashMap;

use super::choices::Choices;
use super::functions::Functions;
use super::heap::Heap;
use super::ids::{NameId, ReadingId};
use super::names::Names;
use super::page::Page;
use super::scopes::Scopes;
use super::texts::Texts;
use crate::script::bound::Bound;
use crate::script::budget::ScriptBudget;

/// The memory for the state of one script.
const MEMORY_BYTES_MAX: usize = 144 << 20;
/// The approximate memory of a string until it is reported.
const STRING_BYTES: usize = 120;
/// The approximate memory of a name with its variable.
const NAME_BYTES: usize = 200;
/// The approximate memory of a list, an object or a member.
const OBJECT_BYTES: usize = 60;
/// The approximate memory of data or of a script inside of the script.
const INNER_BYTES: usize = 400;

pub(crate) struct Memory<'s> {
    pub(crate) budget: ScriptBudget<'s>,
    pub(crate) texts: Texts,
    pub(crate) heap: Heap,
    pub(crate) names: Names<'s>,
    pub(crate) scopes: Scopes,
    pub(crate) functions: Functions,
    pub(crate) choices: Choices,
    pub(crate) page: Page,
    /// Data of the page and its site for scripts.
    pub(crate) bound: &'s Bound,
    /// The number of literals and of names that are as significant. A function or loop without any is not
    /// worth repeating.
    pub(crate) literals_read: usize,
    /// Names that were used before their values were known: whether they were shown, and whether they were
    /// used otherwise.
    pub(crate) early_uses: HashMap<NameId, (bool, bool)>,
}

impl<'s> Memory<'s> {
    pub(crate) fn new(bound: &'s Bound, budget: ScriptBudget<'s>) -> Self {
        Self {
            budget,
            texts: Texts::default(),
            heap: Heap::default(),
            names: Names::default(),
            scopes: Scopes::default(),
            functions: Functions::default(),
            choices: Choices::default(),
            page: Page::default(),
            bound,
            literals_read: 0,
            early_uses: HashMap::new(),
        }
    }

    /// Whether the state takes more memory than one script may. A million strings, names or objects do.
    pub(crate) fn is_too_large(&self) -> bool {
        let strings = self.texts.next_order() as usize * STRING_BYTES;
        let names = self.names.count() * NAME_BYTES;
        let inner = (self.page.data.len() + self.page.scripts.len()) * INNER_BYTES;
        strings + names + inner + self.heap.count() * OBJECT_BYTES > MEMORY_BYTES_MAX
    }

    /// Whether the effects of reading a function without arguments are superseded by calls with known ones.
    /// They are not if the allowance for these calls ran out.
    pub(crate) fn is_superseded(&self, reader: Option<ReadingId>) -> bool {
        self.functions.is_superseded(reader) && self.budget.may_replay()
    }

    /// Whether the current reading is superseded, so that it must not take up what the call wrote.
    pub(crate) fn is_reading_superseded(&self) -> bool {
        self.is_superseded(self.texts.reader())
    }
}
