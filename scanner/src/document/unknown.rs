//! Names that no browser knows. They are kept in one table of the whole program, which grows slow when it grows long, so
//! that a document may bring so many of them and no more.

use std::cell::Cell;
use std::sync::LazyLock;

use html5ever::{Attribute, LocalName};

use super::tags;

/// Past so many attributes of a document, only those that matter are kept.
const ATTRIBUTES_MAX: usize = 200_000;
/// Past so many attributes of unknown names, and so many elements, further ones are left out or lose their names.
const UNKNOWN_MAX: usize = 20_000;

static NAMELESS: LazyLock<LocalName> = LazyLock::new(|| LocalName::from("x-nameless"));

/// How much of that a document has brought.
#[derive(Default)]
pub(super) struct Brought {
    attributes: Cell<usize>,
    unknown_attributes: Cell<usize>,
    unknown_elements: Cell<usize>,
}

impl Brought {
    /// Takes the attributes of one more element, and leaves out what is too much.
    pub(super) fn take(&self, attributes: &mut Vec<Attribute>) {
        let unknown = attributes.iter().filter(|attribute| attribute.name.local.is_dynamic()).count();
        let are_many = add(&self.attributes, attributes.len()) > ATTRIBUTES_MAX;
        let is_odd = add(&self.unknown_attributes, unknown) > UNKNOWN_MAX;
        if are_many || (is_odd && unknown > 0) {
            attributes.retain(|attribute| {
                let name = &attribute.name;
                name.prefix.is_some()
                    || !(are_many || name.local.is_dynamic())
                    || tags::is_attribute_that_matters(&name.local)
            });
        }
    }

    /// What an element is called.
    pub(super) fn name(&self, name: LocalName) -> LocalName {
        let is_unknown = name.is_dynamic();
        let is_too_much = add(&self.unknown_elements, usize::from(is_unknown)) > UNKNOWN_MAX;
        if is_unknown && is_too_much { NAMELESS.clone() } else { name }
    }
}

fn add(counter: &Cell<usize>, more: usize) -> usize {
    counter.set(counter.get() + more);
    counter.get()
}
