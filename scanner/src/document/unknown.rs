//! Bounds names that browsers do not know. They are interned in one table for the whole process, which slows
//! down as it grows. So each document may add only a limited number.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::sync::LazyLock;

use html5ever::{Attribute, LocalName};

use super::tags;

/// The number of attributes of a document after which only relevant ones are kept.
const ATTRIBUTES_MAX: usize = 200_000;
/// The number of unknown names that a document may add. Beyond it, attributes are dropped and elements get a
/// neutral name.
const NAMES_MAX: usize = 20_000;
/// Prefixes that browsers interpret.
const PREFIXES: [&str; 3] = ["xmlns", "xlink", "xml"];

static NAMELESS: LazyLock<LocalName> = LazyLock::new(|| LocalName::from("x-nameless"));

/// What a document has added so far.
#[derive(Default)]
pub(super) struct AddedNames {
    attributes: Cell<usize>,
    names: RefCell<HashSet<LocalName>>,
}

impl AddedNames {
    /// Drops the attributes of an element that exceed the limits.
    pub(super) fn admit(&self, attributes: &mut Vec<Attribute>) {
        self.attributes.set(self.attributes.get() + attributes.len());
        let are_many = self.attributes.get() > ATTRIBUTES_MAX;
        attributes.retain(|attribute| {
            let name = &attribute.name;
            let is_prefixed = name.prefix.as_ref().is_some_and(|prefix| PREFIXES.contains(&&**prefix));
            (!are_many && self.may_bring(&name.local))
                || is_prefixed
                || tags::is_attribute_that_matters(&name.local)
        });
    }

    /// The name for an element, which is a neutral one beyond the limit.
    pub(super) fn name_of(&self, name: LocalName) -> LocalName {
        if self.may_bring(&name) { name } else { NAMELESS.clone() }
    }

    fn may_bring(&self, name: &LocalName) -> bool {
        if !name.is_dynamic() {
            return true;
        }
        let mut names = self.names.borrow_mut();
        names.contains(name) || (names.len() < NAMES_MAX && names.insert(name.clone()))
    }
}
