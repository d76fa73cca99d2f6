//! Drops elements that carry no meaning when a document has very many of them: formatting elements, and
//! elements that open directly inside each other without content. Text, fields and elements with attributes
//! always pass. As a result, content that a dropped element would have hidden may count as visible, which is
//! the safe direction.

use std::cell::Cell;

use html5ever::tokenizer::{Tag, TagKind};
use html5ever::{LocalName, local_name};

use super::name::is_any;

/// The number of formatting elements of a document that always pass.
const FORMATTING_MAX: usize = 50_000;
/// The number of elements that may open in a row. Pages with visible content nest no deeper.
const ROW_MAX: usize = 100;

#[derive(Default)]
pub(super) struct Sieve {
    formatting: Cell<usize>,
    formatting_open: Cell<usize>,
    row: Cell<usize>,
}

impl Sieve {
    /// Whether a tag of a formatting element passes. An end tag passes while an element that passed is open.
    /// Otherwise that element could hide what follows.
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

    pub(super) fn passes(&self, tag: &Tag) -> bool {
        let is_in_row = tag.kind == TagKind::StartTag && tag.attrs.is_empty() && is_mere_box(&tag.name);
        self.row.set(if is_in_row { self.row.get() + 1 } else { 0 });
        self.row.get() <= ROW_MAX
    }

    /// Resets the row if the text between two tags is visible.
    pub(super) fn note_text(&self, text: &str) {
        if !text.bytes().all(|byte| byte.is_ascii_whitespace()) {
            self.row.set(0);
        }
    }
}

/// Elements that only group their content.
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
    fn run_of_empty_elements_ends_at_text() {
        let sieve = Sieve::default();
        let begins = tag(TagKind::StartTag, "div");
        assert_eq!((0..ROW_MAX * 2).filter(|_| sieve.passes(&begins)).count(), ROW_MAX);
        sieve.note_text(" \n");
        assert!(!sieve.passes(&begins));
        sieve.note_text("Enter");
        assert!(sieve.passes(&begins));
    }

    #[test]
    fn fields_and_elements_with_attributes_pass_in_a_run_of_empty_elements() {
        let sieve = Sieve::default();
        (0..ROW_MAX * 2).for_each(|_| {
            sieve.passes(&tag(TagKind::StartTag, "td"));
        });
        for passing in [tag(TagKind::StartTag, "textarea"), hidden("td"), tag(TagKind::EndTag, "td")] {
            assert!(sieve.passes(&passing), "{passing:?}");
        }
    }

    #[test]
    fn hidden_formatting_element_ends_after_any_number_of_them() {
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
