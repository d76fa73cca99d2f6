//! Names that no browser knows. They are kept in one table of the whole program, which grows slow when it grows long, so
//! that a document may bring so many of them and no more.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::sync::LazyLock;

use html5ever::{Attribute, LocalName};

use super::tags;

/// Past so many attributes of a document, only those that matter are kept.
const ATTRIBUTES_MAX: usize = 200_000;
/// Unknown names that a document may bring. Attributes of further ones are left out, elements lose theirs.
const NAMES_MAX: usize = 20_000;
/// Prefixes whose attributes mean something to browsers.
const PREFIXES: [&str; 3] = ["xmlns", "xlink", "xml"];

static NAMELESS: LazyLock<LocalName> = LazyLock::new(|| LocalName::from("x-nameless"));

/// How much of that a document has brought.
#[derive(Default)]
pub(super) struct Brought {
    attributes: Cell<usize>,
    names: RefCell<HashSet<LocalName>>,
}

impl Brought {
    /// Leaves out those attributes of one more element that are too much.
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

    /// What an element is called.
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
