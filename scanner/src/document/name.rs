//! What an element is, told once from its name: a document has millions of elements and few names.

use std::cell::RefCell;
use std::rc::Rc;

use html5ever::{LocalName, QualName, local_name};

use super::html::name_as_written;

/// Names that are kept at hand while a document is parsed. One that finds its place taken takes it.
const NAMES_KEPT: usize = 256;

#[derive(Debug)]
pub(crate) struct Name {
    pub(super) qualified: QualName,
    /// Without what keeps formatting elements from formatting.
    pub(super) written: LocalName,
    pub(super) holds: Holds,
    pub(super) layout: Layout,
}

/// What becomes of the text in an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    /// It shows like any other.
    Text,
    /// It is the source of a script or a style.
    Code,
    /// It is there for browsers without scripts or frames.
    Substitute,
    /// It shows where a script puts a copy of it.
    Template,
    /// Another document shows in its place.
    Frame,
    /// It does not show where it stands.
    Aside,
}

/// How an element lies in the text around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    Apart,
    InLine,
    /// Apart for those who only want the text below it, and otherwise not.
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

/// Whether a word is any of these; they are compared like numbers.
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

/// The names of a document that is being parsed, each shared by its elements.
pub(super) struct Names(RefCell<Vec<Option<Rc<Name>>>>);

impl Names {
    pub(super) fn new() -> Self {
        Self(RefCell::new(vec![None; NAMES_KEPT]))
    }

    pub(super) fn shared(&self, qualified: QualName) -> Rc<Name> {
        let mut kept = self.0.borrow_mut();
        let place = qualified.local.get_hash() as usize % NAMES_KEPT;
        match kept.get_mut(place) {
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
    fn a_name_is_told_once_for_all_its_elements() {
        let names = Names::new();
        let first = names.shared(html("div"));
        assert!(Rc::ptr_eq(&first, &names.shared(html("div"))));
        let drawn = names.shared(QualName::new(None, ns!(svg), LocalName::from("div")));
        assert!(!Rc::ptr_eq(&first, &drawn));
        assert_eq!(names.shared(html("div")).qualified, first.qualified);
    }

    #[test]
    fn names_that_meet_in_one_place_are_not_mixed_up() {
        let names = Names::new();
        for number in 0..NAMES_KEPT * 4 {
            let name = format!("x-{number}");
            assert_eq!(&*names.shared(html(&name)).written, name);
        }
    }

    #[test]
    fn elements_are_told_by_the_names_that_the_page_has() {
        let told = |name: &str| {
            let name = Name::of(html(name));
            (name.holds, name.layout)
        };
        assert_eq!(told("div"), (Holds::Text, Layout::Apart));
        assert_eq!(told("foreignObject"), (Holds::Text, Layout::Apart));
        assert_eq!(told("x-plain-b"), (Holds::Text, Layout::InLine));
        assert_eq!(told("wbr"), (Holds::Text, Layout::InLine));
        assert_eq!(told("x-card"), (Holds::Text, Layout::Other));
        assert_eq!(told("noscript"), (Holds::Substitute, Layout::Other));
        assert_eq!(told("head"), (Holds::Aside, Layout::Apart));
        assert_eq!(told("script"), (Holds::Code, Layout::Other));
    }
}
