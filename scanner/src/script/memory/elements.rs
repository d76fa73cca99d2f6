//! Elements that a script builds by calls, and their markup.

use super::ids::{ElementId, ReadingId, TextId};
use super::texts::Texts;
use crate::script::encodings::escape;

const ATTRIBUTES_MAX: usize = 64;
/// A frame's attribute may contain a whole document.
const ATTRIBUTE_BYTES_MAX: usize = 1 << 16;
/// The text of one child.
const CHILD_BYTES_MAX: usize = 1 << 20;
/// The ancestors that are checked before an element is inserted into another, to prevent cycles.
const ANCESTORS_MAX: usize = 64;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Child {
    Element(ElementId),
    Text(TextId),
    Markup(TextId),
}

#[derive(Debug, Default)]
pub(crate) struct Element {
    tag: String,
    attributes: Vec<(String, String)>,
    children: Vec<Child>,
    parent: Option<ElementId>,
    /// The position among the strings.
    pub(crate) order: u32,
    pub(crate) reader: Option<ReadingId>,
}

#[derive(Debug, Default)]
pub(crate) struct Elements {
    list: Vec<Element>,
}

impl Elements {
    pub(crate) fn add(&mut self, tag: &str, order: u32, reader: Option<ReadingId>) -> ElementId {
        let id = ElementId(u32::try_from(self.list.len()).unwrap_or(u32::MAX));
        self.list.push(Element { tag: tag.to_ascii_lowercase(), order, reader, ..Element::default() });
        id
    }

    fn get_mut(&mut self, id: ElementId) -> Option<&mut Element> {
        self.list.get_mut(id.0 as usize)
    }

    pub(crate) fn set(&mut self, id: ElementId, name: &str, value: &str) {
        let Some(element) = self.get_mut(id) else { return };
        let name = attribute_name(name);
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b':' | b'.');
        if name.is_empty() || !name.bytes().all(is_plain) || value.len() > ATTRIBUTE_BYTES_MAX {
            return;
        }
        if let Some((_, known)) = element.attributes.iter_mut().find(|(known, _)| *known == name) {
            value.clone_into(known);
        } else if element.attributes.len() < ATTRIBUTES_MAX {
            element.attributes.push((name, value.to_owned()));
        }
    }

    /// Removes the children of an element. They stay if another function created the element, because they
    /// are shown until that function is called.
    pub(crate) fn empty(&mut self, id: ElementId, reader: Option<ReadingId>) {
        if let Some(element) = self.get_mut(id).filter(|element| element.reader == reader) {
            element.children.clear();
        }
    }

    pub(crate) fn append(&mut self, id: ElementId, child: Child) {
        if let Child::Element(inner) = child {
            if self.is_inside(id, inner) {
                return;
            }
            let Some(element) = self.get_mut(inner).filter(|element| element.parent.is_none()) else {
                return;
            };
            element.parent = Some(id);
        }
        if let Some(element) = self.get_mut(id) {
            element.children.push(child);
        }
    }

    /// Whether an element is another or is inside of it. Returns true if it has too many ancestors to check.
    fn is_inside(&self, id: ElementId, outer: ElementId) -> bool {
        let mut next = Some(id);
        for _ in 0..ANCESTORS_MAX {
            let Some(at) = next else { return false };
            if at == outer {
                return true;
            }
            next = self.list.get(at.0 as usize).and_then(|element| element.parent);
        }
        true
    }

    /// Elements without a parent.
    pub(crate) fn roots(&self) -> impl Iterator<Item = (ElementId, &Element)> {
        let numbered = self.list.iter().enumerate();
        let named = numbered.map(|(at, element)| (ElementId(u32::try_from(at).unwrap_or(u32::MAX)), element));
        named.filter(|(_, element)| element.parent.is_none())
    }

    /// The markup of an element, as far as the allowance reaches. Superseded children are left out.
    pub(crate) fn markup(
        &self,
        root: ElementId,
        texts: &Texts,
        is_superseded: impl Fn(&Element) -> bool,
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
                    let element = self.list.get(id.0 as usize).filter(|element| !is_superseded(element));
                    let Some(element) = element else { continue };
                    element.open_tag(&mut out);
                    open.push(Part::Close(id));
                    open.extend(element.children.iter().rev().map(|&child| Part::Open(child)));
                }
                Part::Close(id) => {
                    if let Some(element) = self.list.get(id.0 as usize) {
                        element.close_tag(&mut out);
                    }
                }
            }
        }
        *bytes_left = bytes_left.saturating_sub(out.len());
        out
    }
}

impl Element {
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

/// The attribute's name, which differs from the property's for some.
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
