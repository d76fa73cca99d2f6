//! Elements of a document as the selector matcher sees them. Every step is counted, so that no sheet can use
//! more than its budget.

use std::cell::Cell;

use selectors::attr::{AttrSelectorOperation, AttrSelectorOperator, CaseSensitivity, NamespaceConstraint};
use selectors::bloom::BloomFilter;
use selectors::matching::{ElementSelectorFlags, MatchingContext};
use selectors::{Element as Selectable, OpaqueElement};

use super::selector::{Names, Pseudo, SelectorName, State};
use crate::document::{Content, Document, Element, NodeId};

/// The comparisons that are left for a document.
#[derive(Debug)]
pub(super) struct Budget {
    looks: usize,
    left: Cell<usize>,
}

impl Budget {
    pub(super) fn of(looks: usize) -> Self {
        Self { looks, left: Cell::new(looks) }
    }

    /// Takes some. Returns false if too few are left.
    pub(super) fn spend(&self, looks: usize) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(looks));
        looks <= left
    }

    pub(super) fn is_spent(&self) -> bool {
        self.left.get() == 0
    }

    pub(super) fn spent(&self) -> usize {
        self.looks - self.left.get()
    }
}

/// The number of bytes that are compared in the time of one step.
const BYTES_PER_COMPARISON: usize = 16;

#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate<'a> {
    pub(super) document: &'a Document,
    pub(super) node: NodeId,
    pub(super) element: Element<'a>,
    pub(super) budget: &'a Budget,
}

impl<'a> Candidate<'a> {
    /// Steps from element to element are counted but never refused, because the matcher caches counts along
    /// them and must find the same result again. Once the budget is spent no name matches, so that the
    /// matcher soon stops.
    fn at(&self, node: NodeId) -> Option<Self> {
        self.budget.spend(1);
        let element = self.document.element(node)?;
        Some(Self { node, element, ..*self })
    }

    /// The first element from this node on, in the direction of `onward`.
    fn first(&self, from: Option<NodeId>, onward: impl Fn(NodeId) -> Option<NodeId>) -> Option<Self> {
        let mut next = from;
        while let Some(node) = next {
            if let Some(found) = self.at(node) {
                return Some(found);
            }
            next = onward(node);
        }
        None
    }

    fn is_field(&self) -> bool {
        matches!(
            self.element.name(),
            "input" | "textarea" | "select" | "button" | "option" | "optgroup" | "fieldset"
        )
    }

    fn is_writable(&self) -> bool {
        let is_text = matches!(self.element.name(), "input" | "textarea");
        let is_kept = self.element.has("readonly") || self.element.has("disabled");
        (is_text && !is_kept) || self.element.has("contenteditable")
    }
}

impl<'a> Selectable for Candidate<'a> {
    type Impl = Names;

    fn opaque(&self) -> OpaqueElement {
        OpaqueElement::new(self.document.content(self.node))
    }

    fn parent_element(&self) -> Option<Self> {
        self.at(self.document.parent(self.node)?)
    }

    fn parent_node_is_shadow_root(&self) -> bool {
        false
    }

    fn containing_shadow_host(&self) -> Option<Self> {
        None
    }

    fn is_pseudo_element(&self) -> bool {
        false
    }

    fn prev_sibling_element(&self) -> Option<Self> {
        let document = self.document;
        self.first(document.previous_sibling(self.node), |node| document.previous_sibling(node))
    }

    fn next_sibling_element(&self) -> Option<Self> {
        let document = self.document;
        self.first(document.next_sibling(self.node), |node| document.next_sibling(node))
    }

    fn first_element_child(&self) -> Option<Self> {
        let document = self.document;
        self.first(document.first_child(self.node), |node| document.next_sibling(node))
    }

    fn is_html_element_in_html_document(&self) -> bool {
        self.element.is_html()
    }

    fn has_local_name(&self, name: &SelectorName) -> bool {
        !self.budget.is_spent() && self.element.name() == &*name.0
    }

    fn has_namespace(&self, _namespace: &SelectorName) -> bool {
        true
    }

    fn is_same_type(&self, other: &Self) -> bool {
        self.element.name() == other.element.name() && self.element.is_html() == other.element.is_html()
    }

    fn attr_matches(
        &self,
        _namespace: &NamespaceConstraint<&SelectorName>,
        name: &SelectorName,
        operation: &AttrSelectorOperation<&SelectorName>,
    ) -> bool {
        let Some(value) = self.element.get(&name.0) else { return false };
        let sought_bytes = match operation {
            AttrSelectorOperation::WithValue { operator: AttrSelectorOperator::Substring, value, .. } => {
                value.0.len()
            }
            _ => 1,
        };
        self.budget.spend(1 + value.len() * sought_bytes.max(1) / BYTES_PER_COMPARISON)
            && operation.eval_str(value)
    }

    fn match_non_ts_pseudo_class(&self, state: &State, _context: &mut MatchingContext<Names>) -> bool {
        let element = self.element;
        match state {
            State::Link => self.is_link(),
            State::Checked => {
                element.has("checked") || (element.name() == "option" && element.has("selected"))
            }
            State::Enabled => self.is_field() && !element.has("disabled"),
            State::Disabled => self.is_field() && element.has("disabled"),
            State::Required => self.is_field() && element.has("required"),
            State::Optional => self.is_field() && !element.has("required"),
            State::ReadOnly => !self.is_writable(),
            State::ReadWrite => self.is_writable(),
            State::Defined => true,
            State::Dynamic => false,
        }
    }

    fn match_pseudo_element(&self, _pseudo: &Pseudo, _context: &mut MatchingContext<Names>) -> bool {
        false
    }

    fn apply_selector_flags(&self, _flags: ElementSelectorFlags) {}

    fn is_link(&self) -> bool {
        matches!(self.element.name(), "a" | "area") && self.element.has("href")
    }

    fn is_html_slot_element(&self) -> bool {
        false
    }

    fn has_id(&self, id: &SelectorName, case: CaseSensitivity) -> bool {
        let own = self.element.text("id");
        self.budget.spend(1) && case.eq(own.as_bytes(), id.0.as_bytes())
    }

    fn has_class(&self, name: &SelectorName, case: CaseSensitivity) -> bool {
        let classes = self.element.text("class");
        self.budget.spend(1 + classes.len() / BYTES_PER_COMPARISON)
            && classes.split_ascii_whitespace().any(|class| case.eq(class.as_bytes(), name.0.as_bytes()))
    }

    fn has_custom_state(&self, _name: &SelectorName) -> bool {
        false
    }

    fn imported_part(&self, _name: &SelectorName) -> Option<SelectorName> {
        None
    }

    fn is_part(&self, _name: &SelectorName) -> bool {
        false
    }

    fn is_empty(&self) -> bool {
        let mut next = self.document.first_child(self.node);
        while let Some(child) = next {
            let is_something = match self.document.content(child) {
                Content::Element { .. } => true,
                Content::Text(text) => !text.is_empty(),
                Content::Document | Content::Nothing => false,
            };
            if is_something || !self.budget.spend(1) {
                return false;
            }
            next = self.document.next_sibling(child);
        }
        true
    }

    fn is_root(&self) -> bool {
        self.document.parent(self.node) == Some(self.document.root())
    }

    fn add_element_unique_hashes(&self, _filter: &mut BloomFilter) -> bool {
        false
    }
}
