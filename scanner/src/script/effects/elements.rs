//! Elements that a script builds by calls, and the markup they amount to.

use crate::script::encodings::escape;
use crate::script::memory::texts::{TextId, Texts};
use crate::script::memory::values::{ElementId, ReadingId};

const ATTRIBUTES_MAX: usize = 64;
/// A frame may be given a whole document.
const ATTRIBUTE_BYTES_MAX: usize = 1 << 16;
/// Text of one child.
const CHILD_BYTES_MAX: usize = 1 << 20;
/// How far up it is looked whether an element would come to stand in itself.
const ANCESTORS_MAX: usize = 64;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Child {
    Element(ElementId),
    Text(TextId),
    Markup(TextId),
}

#[derive(Debug)]
pub(crate) struct Built {
    tag: String,
    attributes: Vec<(String, String)>,
    children: Vec<Child>,
    parent: Option<ElementId>,
    /// Where it stands among the strings.
    pub(crate) order: u32,
    pub(crate) reader: Option<ReadingId>,
}

#[derive(Debug, Default)]
pub(crate) struct Elements {
    list: Vec<Built>,
}

impl Elements {
    pub(crate) fn add(&mut self, tag: &str, order: u32, reader: Option<ReadingId>) -> ElementId {
        let id = ElementId(u32::try_from(self.list.len()).unwrap_or(u32::MAX));
        self.list.push(Built {
            tag: tag.to_ascii_lowercase(),
            attributes: Vec::new(),
            children: Vec::new(),
            parent: None,
            order,
            reader,
        });
        id
    }

    fn get_mut(&mut self, id: ElementId) -> Option<&mut Built> {
        self.list.get_mut(id.0 as usize)
    }

    pub(crate) fn set(&mut self, id: ElementId, name: &str, value: &str) {
        let Some(built) = self.get_mut(id) else { return };
        let name = attribute_name(name);
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b':' | b'.');
        if name.is_empty() || !name.bytes().all(is_plain) || value.len() > ATTRIBUTE_BYTES_MAX {
            return;
        }
        if let Some((_, known)) = built.attributes.iter_mut().find(|(known, _)| *known == name) {
            value.clone_into(known);
        } else if built.attributes.len() < ATTRIBUTES_MAX {
            built.attributes.push((name, value.to_owned()));
        }
    }

    /// Takes out what stands in an element, unless that is done in another function than the one that made it: then it is
    /// shown for as long as it takes to come to that.
    pub(crate) fn empty(&mut self, id: ElementId, reader: Option<ReadingId>) {
        if let Some(built) = self.get_mut(id).filter(|built| built.reader == reader) {
            built.children.clear();
        }
    }

    pub(crate) fn append(&mut self, id: ElementId, child: Child) {
        if let Child::Element(inner) = child {
            if self.stands_in(id, inner) {
                return;
            }
            let Some(built) = self.get_mut(inner).filter(|built| built.parent.is_none()) else { return };
            built.parent = Some(id);
        }
        if let Some(built) = self.get_mut(id) {
            built.children.push(child);
        }
    }

    /// Whether an element is, or stands in, another; when it is too far up to tell, it is taken to be so.
    fn stands_in(&self, id: ElementId, outer: ElementId) -> bool {
        let mut next = Some(id);
        for _ in 0..ANCESTORS_MAX {
            let Some(at) = next else { return false };
            if at == outer {
                return true;
            }
            next = self.list.get(at.0 as usize).and_then(|built| built.parent);
        }
        true
    }

    /// Elements that stand in no other.
    pub(crate) fn roots(&self) -> impl Iterator<Item = (ElementId, &Built)> {
        let numbered = self.list.iter().enumerate();
        let named = numbered.map(|(at, built)| (ElementId(u32::try_from(at).unwrap_or(u32::MAX)), built));
        named.filter(|(_, built)| built.parent.is_none())
    }

    /// The markup of an element, as far as the allowance reaches.
    /// Children that no longer stand for themselves are left out.
    pub(crate) fn markup(
        &self,
        root: ElementId,
        texts: &Texts,
        is_superseded: impl Fn(&Built) -> bool,
        bytes_left: &mut usize,
    ) -> String {
        enum Part {
            Open(Child),
            Close(ElementId),
        }
        let mut out = String::new();
        let mut open = vec![Part::Open(Child::Element(root))];
        while let Some(part) = open.pop() {
            let child_bytes_max = CHILD_BYTES_MAX.min(bytes_left.saturating_sub(out.len()));
            match part {
                Part::Open(Child::Text(text)) => escape(&texts.flat(text, child_bytes_max), &mut out),
                Part::Open(Child::Markup(text)) => out.push_str(&texts.flat(text, child_bytes_max)),
                Part::Open(Child::Element(id)) => {
                    let built = self.list.get(id.0 as usize).filter(|built| !is_superseded(built));
                    let Some(built) = built else { continue };
                    built.open_tag(&mut out);
                    open.push(Part::Close(id));
                    open.extend(built.children.iter().rev().map(|&child| Part::Open(child)));
                }
                Part::Close(id) => {
                    if let Some(built) = self.list.get(id.0 as usize) {
                        built.close_tag(&mut out);
                    }
                }
            }
        }
        *bytes_left = bytes_left.saturating_sub(out.len());
        out
    }
}

impl Built {
    fn open_tag(&self, out: &mut String) {
        out.push('<');
        out.push_str(&self.tag);
        for (name, value) in &self.attributes {
            out.push(' ');
            out.push_str(name);
            out.push_str("=\"");
            escape(value, out);
            out.push('"');
        }
        out.push('>');
    }

    fn close_tag(&self, out: &mut String) {
        if !matches!(&*self.tag, "input" | "br" | "img" | "hr" | "meta" | "link" | "source" | "embed") {
            out.push_str("</");
            out.push_str(&self.tag);
            out.push('>');
        }
    }
}

/// Properties are not always named like their attributes.
fn attribute_name(name: &str) -> String {
    match name {
        "className" => "class".to_owned(),
        "htmlFor" => "for".to_owned(),
        _ if name.starts_with("aria") && !name.contains('-') => {
            format!("aria-{}", name.get(4..).unwrap_or("").to_ascii_lowercase())
        }
        _ => name.to_ascii_lowercase(),
    }
}

/// Whether a text can be the name of an element.
pub(crate) fn is_tag(name: &str) -> bool {
    name.len() <= 40
        && name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}
