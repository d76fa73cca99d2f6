//! Decodes a file as a browser would, detects its type, and parses it to a tree.
//!
//! Nothing here may recurse along the input, take more than linear time, or fail. Any bytes are a valid text,
//! and any text is a valid document.

mod data_url;
mod entities;
mod feed;
mod html;
mod name;
mod read;
mod sieve;
mod tags;
mod tree;
mod unknown;
mod walk;
mod xml;

#[cfg(test)]
mod tests;

use std::num::NonZeroU32;
use std::rc::Rc;

use html5ever::tendril::StrTendril;
use html5ever::{Attribute, LocalName, ns};

pub(crate) use data_url::{FORGIVING_BASE64, open_data_url};
pub(crate) use html::parse_html;
pub(crate) use name::{Holds, Layout};
pub use read::decoded;
pub(crate) use read::{Kind, Source, read, texts_of};
pub(crate) use walk::{Onward, Step};
pub(crate) use xml::parse_xml;

use name::Name;

/// A node of one document. Numbers start at 1, so that `Option<NodeId>` takes no extra memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NodeId(NonZeroU32);

impl NodeId {
    /// The index in a list that has one entry for every node of the document.
    pub(crate) fn index(self) -> usize {
        self.0.get() as usize - 1
    }

    /// More than four billion nodes do not fit in memory, so that clamping to the last number is safe.
    fn at(index: usize) -> Self {
        Self(u32::try_from(index).map_or(NonZeroU32::MAX, |index| NonZeroU32::MIN.saturating_add(index)))
    }
}

#[derive(Debug)]
pub(crate) enum Content {
    Document,
    Element {
        name: Rc<Name>,
        attributes: Box<[Attribute]>,
    },
    Text(StrTendril),
    /// Comments and other nodes that are not rendered.
    Nothing,
}

#[derive(Debug)]
struct Node {
    content: Content,
    parent: Option<NodeId>,
    previous: Option<NodeId>,
    next: Option<NodeId>,
    first_child: Option<NodeId>,
    last_child: Option<NodeId>,
    /// The number of ancestor elements.
    depth: u32,
}

/// A parsed, immutable document.
#[derive(Debug)]
pub(crate) struct Document {
    nodes: Vec<Node>,
    /// Whether the text has more nodes than a document may have.
    pub(crate) is_cut: bool,
}

impl Document {
    pub(crate) fn root(&self) -> NodeId {
        NodeId::at(0)
    }

    /// All nodes, in the order in which the parser created them.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes.len()).map(NodeId::at)
    }

    pub(crate) fn node_count(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn content(&self, node: NodeId) -> &Content {
        self.nodes.get(node.index()).map_or(&Content::Nothing, |node| &node.content)
    }

    pub(crate) fn parent(&self, node: NodeId) -> Option<NodeId> {
        self.nodes.get(node.index())?.parent
    }

    pub(crate) fn first_child(&self, node: NodeId) -> Option<NodeId> {
        self.nodes.get(node.index())?.first_child
    }

    pub(crate) fn next_sibling(&self, node: NodeId) -> Option<NodeId> {
        self.nodes.get(node.index())?.next
    }

    pub(crate) fn previous_sibling(&self, node: NodeId) -> Option<NodeId> {
        self.nodes.get(node.index())?.previous
    }

    pub(crate) fn element(&self, node: NodeId) -> Option<Element<'_>> {
        match self.content(node) {
            Content::Element { name, attributes } => Some(Element { name, attributes }),
            _ => None,
        }
    }
}

/// A view of an element, for its name and attributes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Element<'a> {
    name: &'a Name,
    attributes: &'a [Attribute],
}

impl<'a> Element<'a> {
    /// The local name, in lower case for HTML documents.
    pub(crate) fn name(&self) -> &'a str {
        &self.name.written
    }

    /// The interned local name, which compares as fast as a number.
    pub(crate) fn local(&self) -> &'a LocalName {
        &self.name.written
    }

    pub(crate) fn holds(&self) -> Holds {
        self.name.holds
    }

    pub(crate) fn layout(&self) -> Layout {
        self.name.layout
    }

    /// Whether it has no attributes.
    pub(crate) fn is_bare(&self) -> bool {
        self.attributes.is_empty()
    }

    /// Whether it is in the HTML namespace. An `input` in SVG or in no namespace is not a field.
    pub(crate) fn is_html(&self) -> bool {
        self.name.qualified.ns == ns!(html)
    }

    pub(crate) fn is_svg(&self) -> bool {
        self.name.qualified.ns == ns!(svg)
    }

    /// The value of an attribute, or an empty string.
    pub(crate) fn text(&self, attribute: &str) -> &'a str {
        self.get(attribute).unwrap_or_default()
    }

    /// The value of an attribute in no namespace or in that of `xlink:…`, by its local name.
    pub(crate) fn get(&self, attribute: &str) -> Option<&'a str> {
        let mut linked = None;
        for named in self.attributes.iter().filter(|of| &*of.name.local == attribute) {
            if named.name.ns == ns!() {
                return Some(&named.value);
            }
            if named.name.ns == ns!(xlink) {
                linked = linked.or(Some(&*named.value));
            }
        }
        linked
    }

    pub(crate) fn has(&self, attribute: &str) -> bool {
        self.get(attribute).is_some()
    }

    /// The name and value of each attribute in no namespace.
    pub(crate) fn attributes(&self) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
        let plain = self.attributes.iter().filter(|of| of.name.ns == ns!());
        plain.map(|of| (&*of.name.local, &*of.value))
    }
}
