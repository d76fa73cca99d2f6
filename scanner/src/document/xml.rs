//! Parses XML (XHTML, SVG and other XML that a browser renders) to the same tree as HTML, and resolves
//! prefixes. It tolerates errors at which browsers stop, because they still render the part before the error.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use html5ever::interface::{ElementFlags, NodeOrText, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::{Attribute, LocalName, Namespace, Prefix, QualName, local_name, namespace_prefix, ns};
use xml5ever::buffer_queue::BufferQueue;
use xml5ever::tokenizer::{ProcessResult, Tag, TagKind, Token, TokenSink, XmlTokenizer, XmlTokenizerOpts};

use super::Document;
use super::entities::expand;
use super::feed::{InsertionPoint, feed};
use super::html::{DEPTH_MAX, parse_html};
use super::tree::{Handle, Tree};
use super::unknown::AddedNames;

/// The number of open elements that are searched for the start tag of an end tag.
const OPEN_LOOKED_AT_MAX: usize = 64;

/// Parses a text as a browser does for XML. A text without content that a browser renders is parsed as HTML.
pub(crate) fn parse_xml(text: &str) -> Document {
    let text = expand(text);
    let tokenizer = XmlTokenizer::new(Builder::new(), XmlTokenizerOpts::default());
    let input = BufferQueue::default();
    feed(
        &text,
        || InsertionPoint::Xml,
        |piece| {
            if tokenizer.sink.tree.is_full() {
                return;
            }
            input.push_back(piece);
            while let xml5ever::TokenizerResult::Script(_) = tokenizer.feed(&input) {}
        },
    );
    tokenizer.end();
    if tokenizer.sink.is_rendered.get() { tokenizer.sink.tree.freeze() } else { parse_html(&text) }
}

struct Open {
    prefix: Option<Prefix>,
    name: LocalName,
    node: Handle,
    /// The number of prefixes that were declared outside of it.
    declared_before: usize,
}

struct Builder {
    tree: Tree,
    open: RefCell<Vec<Open>>,
    namespaces: RefCell<Namespaces>,
    is_rendered: Cell<bool>,
    added_names: AddedNames,
}

/// The prefixes in scope, innermost last. An empty prefix is the default namespace.
#[derive(Default)]
struct Namespaces {
    by_prefix: HashMap<Option<Prefix>, Vec<Namespace>>,
    declared: Vec<Option<Prefix>>,
}

impl Namespaces {
    fn declare(&mut self, attributes: &mut [Attribute]) {
        for attribute in attributes {
            let prefix = match (&attribute.name.prefix, &attribute.name.local) {
                (None, local) if *local == local_name!("xmlns") => None,
                (Some(prefix), local) if *prefix == namespace_prefix!("xmlns") => {
                    Some(Prefix::from(&**local))
                }
                _ => continue,
            };
            self.by_prefix.entry(prefix.clone()).or_default().push(Namespace::from(&*attribute.value));
            self.declared.push(prefix);
            attribute.name.ns = ns!(xmlns);
        }
    }

    fn forget(&mut self, declared_before: usize) {
        while self.declared.len() > declared_before {
            let Some(prefix) = self.declared.pop() else { return };
            if let Some(meanings) = self.by_prefix.get_mut(&prefix) {
                meanings.pop();
            }
        }
    }

    fn of(&self, prefix: &Option<Prefix>) -> Namespace {
        let declared = self.by_prefix.get(prefix).and_then(|meanings| meanings.last());
        declared.cloned().unwrap_or(ns!())
    }
}

impl Builder {
    fn new() -> Self {
        Self {
            tree: Tree::new(),
            open: RefCell::default(),
            namespaces: RefCell::default(),
            is_rendered: Cell::default(),
            added_names: AddedNames::default(),
        }
    }

    fn start(&self, mut tag: Tag) {
        self.added_names.admit(&mut tag.attrs);
        let mut namespaces = self.namespaces.borrow_mut();
        let declared_before = namespaces.declared.len();
        namespaces.declare(&mut tag.attrs);
        let prefixed = |of: &&mut Attribute| of.name.prefix.is_some() && of.name.ns != ns!(xmlns);
        for attribute in tag.attrs.iter_mut().filter(prefixed) {
            attribute.name.ns = namespaces.of(&attribute.name.prefix);
        }
        let (prefix, name) = (tag.name.prefix, tag.name.local);
        let namespace = namespaces.of(&prefix);
        if namespace == ns!(html) || namespace == ns!(svg) {
            self.is_rendered.set(true);
        }
        let qualified = QualName::new(prefix.clone(), namespace, self.added_names.name_of(name.clone()));
        let node = self.tree.create_element(qualified, tag.attrs, ElementFlags::default());
        self.append(NodeOrText::AppendNode(node.clone()));
        if tag.kind == TagKind::StartTag {
            let mut open = self.open.borrow_mut();
            let is_too_deep = open.len() >= DEPTH_MAX as usize;
            let parent = open.last().filter(|_| is_too_deep).map(|parent| parent.node.clone());
            open.push(Open { prefix, name, node: parent.unwrap_or(node), declared_before });
        } else {
            namespaces.forget(declared_before);
        }
    }

    fn end_tag(&self, name: &QualName) {
        let open = self.open.borrow();
        let nearby = open.iter().rev().take(OPEN_LOOKED_AT_MAX);
        let up = nearby.enumerate().find(|(_, open)| open.name == name.local && open.prefix == name.prefix);
        let Some((up, _)) = up else { return };
        let remaining = open.len() - up - 1;
        drop(open);
        self.close_to(remaining);
    }

    fn close_to(&self, remaining: usize) {
        let mut open = self.open.borrow_mut();
        if let Some(outermost) = open.get(remaining) {
            self.namespaces.borrow_mut().forget(outermost.declared_before);
        }
        open.truncate(remaining);
    }

    fn append(&self, what: NodeOrText<Handle>) {
        match self.open.borrow().last() {
            Some(parent) => self.tree.append(&parent.node, what),
            None => self.tree.append(&self.tree.get_document(), what),
        }
    }

    fn append_text(&self, text: StrTendril) {
        self.append(NodeOrText::AppendText(text));
    }
}

impl TokenSink for Builder {
    type Handle = Handle;

    fn process_token(&self, token: Token) -> ProcessResult<Handle> {
        match token {
            Token::Tag(tag) => match tag.kind {
                TagKind::StartTag | TagKind::EmptyTag => self.start(tag),
                TagKind::EndTag => self.end_tag(&tag.name),
                TagKind::ShortTag => {
                    let innermost = self.open.borrow().len().saturating_sub(1);
                    self.close_to(innermost);
                }
            },
            Token::Characters(text) => self.append_text(text),
            // A comment does not split the text around it, as in HTML.
            Token::Comment(_)
            | Token::ProcessingInstruction(_)
            | Token::Doctype(_)
            | Token::EndOfFile
            | Token::NullCharacter
            | Token::ParseError(_) => {}
        }
        ProcessResult::Continue
    }
}
