//! Traversal of a document without recursion.

use super::{Content, Document, Holds, Layout, NodeId};

/// The number of nodes that are visited for the text of one element.
const NODES_BELOW_MAX: usize = 2_000;

/// A step of a traversal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Enter(NodeId),
    Leave(NodeId),
}

/// How to continue after entering a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Onward {
    Inside,
    /// Skips its children, and does not report leaving it.
    Past,
    /// Ends the traversal.
    Nowhere,
}

impl Document {
    /// Visits a node and its descendants in document order. The return value of a visit on leaving is
    /// ignored.
    pub(crate) fn walk(&self, from: NodeId, mut visit: impl FnMut(Step) -> Onward) {
        let mut at = from;
        loop {
            match visit(Step::Enter(at)) {
                Onward::Nowhere => return,
                Onward::Past => {}
                Onward::Inside => {
                    if let Some(child) = self.first_child(at) {
                        at = child;
                        continue;
                    }
                    visit(Step::Leave(at));
                }
            }
            loop {
                if at == from {
                    return;
                }
                if let Some(next) = self.next_sibling(at) {
                    at = next;
                    break;
                }
                let Some(parent) = self.parent(at) else { return };
                at = parent;
                visit(Step::Leave(at));
            }
        }
    }

    /// The text directly in an element, such as the source of a script or a style.
    pub(crate) fn source_in(&self, node: NodeId) -> String {
        let mut source = String::new();
        let mut child = self.first_child(node);
        while let Some(at) = child {
            if let Content::Text(piece) = self.content(at) {
                source.push_str(piece);
            }
            child = self.next_sibling(at);
        }
        source
    }

    /// All text below a node up to `chars_max`, without scripts, styles and templates. Inline elements do not
    /// split a word, other elements do.
    pub(crate) fn text_below(&self, node: NodeId, chars_max: usize) -> String {
        let mut text = String::new();
        let mut chars_left = chars_max;
        let mut nodes_left = NODES_BELOW_MAX;
        self.walk(node, |step| {
            let (Step::Enter(at) | Step::Leave(at)) = step;
            nodes_left = nodes_left.saturating_sub(1);
            if chars_left == 0 || nodes_left == 0 {
                return Onward::Nowhere;
            }
            if step == Step::Enter(at) && self.is_aside(at) {
                return Onward::Past;
            }
            match self.content(at) {
                Content::Text(more) if step == Step::Enter(at) => {
                    let before = text.len();
                    text.extend(more.chars().take(chars_left));
                    let added = text.get(before..).map_or(0, |added| added.chars().count());
                    chars_left -= added.min(chars_left);
                }
                Content::Element { .. }
                    if !self.is_in_line(at) && !text.is_empty() && !text.ends_with(' ') =>
                {
                    text.push(' ');
                    chars_left -= 1;
                }
                _ => {}
            }
            Onward::Inside
        });
        text.truncate(text.trim_end().len());
        text
    }

    fn is_aside(&self, node: NodeId) -> bool {
        let holds = self.element(node).map_or(Holds::Text, |element| element.holds());
        matches!(holds, Holds::Code | Holds::Substitute | Holds::Template | Holds::Frame)
    }

    fn is_in_line(&self, node: NodeId) -> bool {
        self.element(node).is_some_and(|element| element.layout() == Layout::InLine)
    }
}
