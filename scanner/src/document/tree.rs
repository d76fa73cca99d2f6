//! The tree that the parsers build. Nodes are in one vector and link to each other by number, so that
//! building, walking and dropping need no recursion, and each step of a builder takes constant time.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

use html5ever::interface::{ElementFlags, ExpandedName, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::{Attribute, QualName, local_name, ns};

use super::name::{Name, Names};
use super::{Content, Document, Node, NodeId};

const ROOT: usize = 0;
/// Each further `<body …>` adds its attributes to the first. This bounds them.
const ADDED_ATTRIBUTES_MAX: usize = 128;

/// The builder's handle of a node. It contains the name because the builder reads it at every step.
#[derive(Clone, Debug)]
pub(super) struct Handle {
    number: usize,
    name: Rc<Name>,
}

/// The nodes of one document. Each takes up to a hundred bytes. The largest pages for people have a third of
/// this number.
const NODES_MAX: usize = 1_000_000;

pub(super) struct Tree {
    nodes: RefCell<Vec<Node>>,
    names: Names,
    nameless: Rc<Name>,
    inserted_at_depth: Cell<Option<u32>>,
}

impl Tree {
    pub(super) fn new() -> Self {
        let nameless = Rc::new(Name::of(QualName::new(None, ns!(), local_name!(""))));
        let tree = Self {
            nodes: RefCell::default(),
            names: Names::new(),
            nameless,
            inserted_at_depth: Cell::default(),
        };
        tree.add(Content::Document);
        tree
    }

    pub(super) fn freeze(self) -> Document {
        let is_cut = self.is_full();
        Document { nodes: self.nodes.into_inner(), is_cut }
    }

    /// Whether no more may be added, because the tree would use too much memory.
    pub(super) fn is_full(&self) -> bool {
        self.nodes.borrow().len() >= NODES_MAX
    }

    /// Clears the record of the last insertion, so that the caller can detect what the next token inserts.
    pub(super) fn expect_insertion(&self) {
        self.inserted_at_depth.set(None);
    }

    pub(super) fn inserted_at_depth(&self) -> Option<u32> {
        self.inserted_at_depth.get()
    }

    fn add(&self, content: Content) -> Handle {
        let name = match &content {
            Content::Element { name, .. } => name.clone(),
            _ => self.nameless.clone(),
        };
        let mut nodes = self.nodes.borrow_mut();
        nodes.push(Node {
            content,
            parent: None,
            previous: None,
            next: None,
            first_child: None,
            last_child: None,
            depth: 0,
        });
        Handle { number: nodes.len() - 1, name }
    }

    fn handle(&self, number: usize) -> Handle {
        match &self.nodes.borrow()[number].content {
            Content::Element { name, .. } => Handle { number, name: name.clone() },
            _ => Handle { number, name: self.nameless.clone() },
        }
    }

    /// Inserts the child into the parent before `next`, or as the last child.
    fn link(&self, parent: usize, child: usize, next: Option<usize>) {
        self.unlink(child);
        let nodes = &mut *self.nodes.borrow_mut();
        let child_id = NodeId::at(child);
        let previous = match next {
            Some(next) => nodes[next].previous.replace(child_id),
            None => nodes[parent].last_child.replace(child_id),
        };
        match previous {
            Some(previous) => nodes[previous.index()].next = Some(child_id),
            None => nodes[parent].first_child = Some(child_id),
        }
        let depth = nodes[parent].depth.saturating_add(1);
        let node = &mut nodes[child];
        node.depth = depth;
        (node.parent, node.previous, node.next) = (Some(NodeId::at(parent)), previous, next.map(NodeId::at));
        if matches!(node.content, Content::Element { .. }) {
            self.inserted_at_depth.set(Some(depth));
        }
    }

    fn unlink(&self, child: usize) {
        let nodes = &mut *self.nodes.borrow_mut();
        let Some(parent) = nodes[child].parent.take() else { return };
        let (previous, next) = (nodes[child].previous.take(), nodes[child].next.take());
        match previous {
            Some(previous) => nodes[previous.index()].next = next,
            None => nodes[parent.index()].first_child = next,
        }
        match next {
            Some(next) => nodes[next.index()].previous = previous,
            None => nodes[parent.index()].last_child = previous,
        }
    }

    /// Adds a node or text. Adjacent texts are merged, as in browsers.
    fn insert(&self, parent: usize, child: NodeOrText<Handle>, next: Option<usize>) {
        let text = match child {
            NodeOrText::AppendNode(node) => return self.link(parent, node.number, next),
            NodeOrText::AppendText(text) => text,
        };
        let before = {
            let nodes = self.nodes.borrow();
            next.map_or(nodes[parent].last_child, |next| nodes[next].previous)
        };
        if let Some(before) = before
            && let Content::Text(so_far) = &mut self.nodes.borrow_mut()[before.index()].content
        {
            return so_far.push_tendril(&text);
        }
        let node = self.add(Content::Text(text));
        self.link(parent, node.number, next);
    }

    fn parent_of(&self, node: &Handle) -> Option<usize> {
        self.nodes.borrow()[node.number].parent.map(NodeId::index)
    }
}

impl TreeSink for Tree {
    type Handle = Handle;
    type Output = Self;
    type ElemName<'a> = ExpandedName<'a>;

    fn finish(self) -> Self {
        self
    }

    fn parse_error(&self, _message: Cow<'static, str>) {}

    fn set_quirks_mode(&self, _mode: QuirksMode) {}

    fn get_document(&self) -> Handle {
        self.handle(ROOT)
    }

    fn elem_name<'a>(&'a self, target: &'a Handle) -> ExpandedName<'a> {
        target.name.qualified.expanded()
    }

    fn same_node(&self, one: &Handle, other: &Handle) -> bool {
        one.number == other.number
    }

    /// Stores a template's contents as its children. The reader of the page decides whether they count.
    fn get_template_contents(&self, target: &Handle) -> Handle {
        target.clone()
    }

    fn create_element(&self, name: QualName, attributes: Vec<Attribute>, _flags: ElementFlags) -> Handle {
        self.add(Content::Element { name: self.names.shared(name), attributes: attributes.into() })
    }

    fn create_comment(&self, _text: StrTendril) -> Handle {
        self.add(Content::Nothing)
    }

    fn create_pi(&self, _target: StrTendril, _data: StrTendril) -> Handle {
        self.add(Content::Nothing)
    }

    fn append(&self, parent: &Handle, child: NodeOrText<Handle>) {
        self.insert(parent.number, child, None);
    }

    fn append_before_sibling(&self, sibling: &Handle, child: NodeOrText<Handle>) {
        if let Some(parent) = self.parent_of(sibling) {
            self.insert(parent, child, Some(sibling.number));
        }
    }

    fn append_based_on_parent_node(&self, element: &Handle, previous: &Handle, child: NodeOrText<Handle>) {
        match self.parent_of(element) {
            Some(_) => self.append_before_sibling(element, child),
            None => self.append(previous, child),
        }
    }

    fn append_doctype_to_document(&self, _name: StrTendril, _public: StrTendril, _system: StrTendril) {}

    fn add_attrs_if_missing(&self, target: &Handle, more: Vec<Attribute>) {
        let Content::Element { attributes, .. } = &mut self.nodes.borrow_mut()[target.number].content else {
            return;
        };
        let mut all = std::mem::take(attributes).into_vec();
        for attribute in more {
            let is_new = all.iter().all(|present| present.name != attribute.name);
            if is_new && all.len() < ADDED_ATTRIBUTES_MAX {
                all.push(attribute);
            }
        }
        *attributes = all.into();
    }

    fn remove_from_parent(&self, target: &Handle) {
        self.unlink(target.number);
    }

    fn reparent_children(&self, node: &Handle, new_parent: &Handle) {
        loop {
            let first = self.nodes.borrow()[node.number].first_child;
            let Some(child) = first else { return };
            self.link(new_parent.number, child.index(), None);
        }
    }
}
