//! Keeps from the tree what says nothing, where a document has a flood of it: elements that only format, and elements
//! that begin one upon the other with nothing between them. What a visitor reads or fills in passes, and so does every
//! element with an attribute; in doubt a thing is seen that an element would have hidden by its mere name.

use std::cell::Cell;

use html5ever::tokenizer::{Tag, TagKind};
use html5ever::{LocalName, local_name};

use super::name::is_any;

/// Formatting elements of a document that pass whatever they are.
const FORMATTING_MAX: usize = 50_000;
/// Elements that may begin in a row. They nest no deeper on any page that shows something.
const ROW_MAX: usize = 100;

#[derive(Default)]
pub(super) struct Sieve {
    formatting: Cell<usize>,
    formatting_open: Cell<usize>,
    row: Cell<usize>,
}

impl Sieve {
    /// Whether a tag of a formatting element passes. An end passes while anything that passed is open, lest it hide
    /// what follows.
    pub(super) fn passes_formatting(&self, tag: &Tag) -> bool {
        let open = self.formatting_open.get();
        if tag.kind == TagKind::EndTag {
            self.formatting_open.set(open.saturating_sub(1));
            return open > 0 || self.formatting.get() <= FORMATTING_MAX;
        }
        self.formatting.set(self.formatting.get() + 1);
        let passes = self.formatting.get() <= FORMATTING_MAX || !tag.attrs.is_empty();
        if passes {
            self.formatting_open.set(open + 1);
        }
        passes
    }

    /// Whether any other tag passes.
    pub(super) fn passes(&self, tag: &Tag) -> bool {
        let is_in_row = tag.kind == TagKind::StartTag && tag.attrs.is_empty() && is_mere_box(&tag.name);
        self.row.set(if is_in_row { self.row.get() + 1 } else { 0 });
        self.row.get() <= ROW_MAX
    }

    /// Notes a text between tags.
    pub(super) fn note_text(&self, text: &str) {
        if !text.bytes().all(|byte| byte.is_ascii_whitespace()) {
            self.row.set(0);
        }
    }
}

/// Elements that only keep what is in them apart from what is not.
fn is_mere_box(name: &LocalName) -> bool {
    is_any!(
        *name;
        "div" "span" "p" "section" "ul" "ol" "li" "center" "dl" "dt" "dd" "table" "tbody" "tr" "td" "thead" "tfoot"
        "th"
    )
}

#[cfg(test)]
mod tests {
    use html5ever::Attribute;
    use html5ever::{QualName, ns};

    use super::*;

    fn tag(kind: TagKind, name: &str) -> Tag {
        Tag {
            kind,
            name: LocalName::from(name),
            self_closing: false,
            attrs: Vec::new(),
            had_duplicate_attributes: false,
        }
    }

    fn hidden(name: &str) -> Tag {
        let name_of = QualName::new(None, ns!(), local_name!("hidden"));
        Tag { attrs: vec![Attribute { name: name_of, value: "".into() }], ..tag(TagKind::StartTag, name) }
    }

    #[test]
    fn a_row_of_boxes_ends_where_something_stands_in_them() {
        let sieve = Sieve::default();
        let begins = tag(TagKind::StartTag, "div");
        assert_eq!((0..ROW_MAX * 2).filter(|_| sieve.passes(&begins)).count(), ROW_MAX);
        sieve.note_text(" \n");
        assert!(!sieve.passes(&begins));
        sieve.note_text("Enter");
        assert!(sieve.passes(&begins));
    }

    #[test]
    fn in_a_row_of_boxes_fields_and_what_has_attributes_pass() {
        let sieve = Sieve::default();
        (0..ROW_MAX * 2).for_each(|_| {
            sieve.passes(&tag(TagKind::StartTag, "td"));
        });
        for passing in [tag(TagKind::StartTag, "textarea"), hidden("td"), tag(TagKind::EndTag, "td")] {
            assert!(sieve.passes(&passing), "{passing:?}");
        }
    }

    #[test]
    fn a_hidden_formatting_element_ends_however_many_there_were() {
        let sieve = Sieve::default();
        let (begins, ends) = (tag(TagKind::StartTag, "b"), tag(TagKind::EndTag, "b"));
        for _ in 0..FORMATTING_MAX {
            assert!(sieve.passes_formatting(&begins) && sieve.passes_formatting(&ends));
        }
        assert!(!sieve.passes_formatting(&begins) && !sieve.passes_formatting(&ends));
        assert!(sieve.passes_formatting(&hidden("b")) && sieve.passes_formatting(&ends));
        assert!(!sieve.passes_formatting(&ends));
    }
}
