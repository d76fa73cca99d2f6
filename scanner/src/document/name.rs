//! Facts about an element that follow from its name, computed once for each name. A document has millions of
//! elements and few names.

use std::cell::RefCell;
use std::rc::Rc;

use html5ever::{LocalName, QualName, local_name};

use super::html::name_as_written;

/// The number of cached names. A name whose cache slot is occupied replaces the cached one.
const NAMES_KEPT: usize = 256;

#[derive(Debug)]
pub(crate) struct Name {
    pub(super) qualified: QualName,
    /// The name without the prefix of renamed formatting elements.
    pub(super) written: LocalName,
    pub(super) holds: Holds,
    pub(super) layout: Layout,
}

/// How the text in an element is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    /// It is rendered normally.
    Text,
    /// It is the source of a script or a style.
    Code,
    /// It is for browsers without scripts or frames.
    Substitute,
    /// It is rendered where a script inserts a copy of it.
    Template,
    /// Another document is rendered in its place.
    Frame,
    /// It is not rendered where it stands.
    Aside,
}

/// How an element is laid out in the text around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    Apart,
    InLine,
    /// A block for a caller that reads only the text below it, otherwise inline.
    Other,
}

impl Name {
    pub(super) fn of(qualified: QualName) -> Self {
        let written = match name_as_written(&qualified.local) {
            same if same.len() == qualified.local.len() => qualified.local.clone(),
            shorter => LocalName::from(shorter),
        };
        let (holds, layout) = (holds(&written), layout(&written));
        Self { qualified, written, holds, layout }
    }
}

/// Whether an interned name is any of these.
macro_rules! is_any {
    ($word:expr; $($known:tt)+) => { matches!($word, $(local_name!($known))|+) };
}
pub(super) use is_any;

fn holds(name: &LocalName) -> Holds {
    if is_any!(*name; "script" "style") {
        Holds::Code
    } else if is_any!(*name; "noscript" "noembed" "noframes") {
        Holds::Substitute
    } else if is_any!(*name; "template") {
        Holds::Template
    } else if is_any!(*name; "iframe") {
        Holds::Frame
    } else if is_any!(*name; "head" "title" "meta" "link" "base" "datalist" "param" "rp" "area") {
        Holds::Aside
    } else {
        Holds::Text
    }
}

#[rustfmt::skip]
fn layout(name: &LocalName) -> Layout {
    if is_any!(
        *name;
        "address" "article" "aside" "blockquote" "body" "button" "caption" "center" "dd" "details" "dialog" "div"
        "dl" "dt" "fieldset" "figcaption" "figure" "footer" "foreignObject" "form" "h1" "h2" "h3" "h4" "h5" "h6"
        "head" "header" "hr" "label" "legend" "li" "listing" "main" "menu" "nav" "ol" "optgroup" "option" "p"
        "plaintext" "pre" "section" "select" "summary" "table" "tbody" "td" "template" "text" "tfoot" "th" "thead"
        "tr" "ul" "xmp"
    ) {
        Layout::Apart
    } else if is_any!(
        *name;
        "a" "abbr" "acronym" "b" "bdi" "bdo" "big" "cite" "code" "data" "del" "dfn" "em" "font" "i" "ins" "kbd"
        "mark" "nobr" "q" "rb" "ruby" "s" "samp" "small" "span" "strike" "strong" "sub" "sup" "time" "tt" "u" "var"
        "wbr"
    ) {
        Layout::InLine
    } else {
        Layout::Other
    }
}

/// The names of a document that is being parsed. Elements with the same name share one entry.
pub(super) struct Names(RefCell<Vec<Option<Rc<Name>>>>);

impl Names {
    pub(super) fn new() -> Self {
        Self(RefCell::new(vec![None; NAMES_KEPT]))
    }

    pub(super) fn shared(&self, qualified: QualName) -> Rc<Name> {
        let mut kept = self.0.borrow_mut();
        let slot = qualified.local.get_hash() as usize % NAMES_KEPT;
        match kept.get_mut(slot) {
            Some(Some(known)) if known.qualified == qualified => known.clone(),
            Some(slot) => slot.insert(Rc::new(Name::of(qualified))).clone(),
            None => Rc::new(Name::of(qualified)),
        }
    }
}

#[cfg(test)]
mod tests {
    use html5ever::ns;

    use super::*;

    fn html(name: &str) -> QualName {
        QualName::new(None, ns!(html), LocalName::from(name))
    }

    #[test]
    fn element_names_are_shared_between_elements() {
        let names = Names::new();
        let first = names.shared(html("div"));
        assert!(Rc::ptr_eq(&first, &names.shared(html("div"))));
        let drawn = names.shared(QualName::new(None, ns!(svg), LocalName::from("div")));
        assert!(!Rc::ptr_eq(&first, &drawn));
        assert_eq!(names.shared(html("div")).qualified, first.qualified);
    }

    #[test]
    fn colliding_names_are_kept_apart() {
        let names = Names::new();
        for number in 0..NAMES_KEPT * 4 {
            let name = format!("x-{number}");
            assert_eq!(&*names.shared(html(&name)).written, name);
        }
    }

    #[test]
    fn element_kinds_are_detected_by_name() {
        let kinds_of = |name: &str| {
            let name = Name::of(html(name));
            (name.holds, name.layout)
        };
        assert_eq!(kinds_of("div"), (Holds::Text, Layout::Apart));
        assert_eq!(kinds_of("foreignObject"), (Holds::Text, Layout::Apart));
        assert_eq!(kinds_of("x-plain-b"), (Holds::Text, Layout::InLine));
        assert_eq!(kinds_of("wbr"), (Holds::Text, Layout::InLine));
        assert_eq!(kinds_of("x-card"), (Holds::Text, Layout::Other));
        assert_eq!(kinds_of("noscript"), (Holds::Substitute, Layout::Other));
        assert_eq!(kinds_of("head"), (Holds::Aside, Layout::Apart));
        assert_eq!(kinds_of("script"), (Holds::Code, Layout::Other));
    }
}
