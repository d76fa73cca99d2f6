//! Computes how the elements of a page look, as far as visitors can notice: elements that are not rendered,
//! rendered elements that cannot be seen, masked input, and text from style sheets.
//!
//! In doubt an element counts as visible. Nothing here may recurse along a sheet or a document. The sheets of
//! a page have a budget: when it is used up, further rules hide nothing.

mod cascade;
mod computed;
mod declaration;
mod matching;
mod media;
mod selector;
mod sheet;
mod values;
mod variables;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::rc::Rc;

use crate::document::{Document, Element, NodeId, Onward, Step};
use cascade::{Cascade, Dressed, Won};
use computed::{ComputedStyle, Hider};
use declaration::{Generated, Property, Value};
use matching::{Budget, Candidate};

/// The total length of text that sheets add to a document.
const GENERATED_BYTES_MAX: usize = 1 << 20;

/// Whether a visitor can see an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ElementVisibility {
    Seen,
    /// Rendered, but clipped, off the screen, transparent, of no size, or in the colour of its background.
    Unseen,
    /// Not rendered: `display: none`, `visibility: hidden`, the `hidden` attribute, a closed dialog, the
    /// content of a template.
    Gone,
}

/// The visibility of the nodes of one document.
#[derive(Debug)]
pub(crate) struct Looks {
    nodes: Vec<NodeLook>,
    before: HashMap<NodeId, String>,
    after: HashMap<NodeId, String>,
    may_reveal: bool,
    /// The number of elements that selectors were compared with.
    pub(crate) comparisons: usize,
}

#[derive(Clone, Copy, Debug)]
struct NodeLook {
    shown: ElementVisibility,
    hidden_by: Option<NodeId>,
    is_masked: bool,
    is_reversed: bool,
}

impl Looks {
    /// The visibility of a node, including the effect of its ancestors. A node of another document is
    /// visible.
    pub(crate) fn shown(&self, node: NodeId) -> ElementVisibility {
        self.nodes.get(node.index()).map_or(ElementVisibility::Seen, |look| look.shown)
    }

    /// The outermost element that hides the node, which may be the node itself. `None` if it is visible.
    pub(crate) fn hidden_by(&self, node: NodeId) -> Option<NodeId> {
        self.nodes.get(node.index())?.hidden_by
    }

    /// Whether input is masked although it is not a password field.
    pub(crate) fn is_masked(&self, node: NodeId) -> bool {
        self.nodes.get(node.index()).is_some_and(|look| look.is_masked)
    }

    /// Whether its text runs from right to left by `bidi-override`.
    pub(crate) fn is_reversed(&self, node: NodeId) -> bool {
        self.nodes.get(node.index()).is_some_and(|look| look.is_reversed)
    }

    /// The text that a sheet inserts before an element's content.
    pub(crate) fn before(&self, node: NodeId) -> Option<&str> {
        self.before.get(&node).map(String::as_str)
    }

    /// The text that a sheet inserts after an element's content.
    pub(crate) fn after(&self, node: NodeId) -> Option<&str> {
        self.after.get(&node).map(String::as_str)
    }

    /// Whether a style rule for a click or hover could show hidden content.
    pub(crate) fn may_reveal(&self) -> bool {
        self.may_reveal
    }
}

/// The addresses that a style sheet imports.
pub(crate) fn imports(sheet: &str) -> Vec<String> {
    sheet::read(sheet).1
}

/// The background below a document's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Canvas {
    White,
    /// It shows another document through, or will be inserted into one.
    Unknown,
}

/// Applies style sheets to a document, in the order of the page: the texts of `<style>` elements and of
/// linked files.
pub(crate) fn dress(document: &Document, sheets: &[&str], canvas: Canvas) -> Looks {
    let mut dresser = Dresser {
        document,
        cascade: Cascade::of(sheets),
        budget: Cascade::budget(),
        dressed: Dressed::default(),
        open: vec![AppliedStyle::of(ComputedStyle::on(canvas))],
        looks: Looks::new(document.node_count()),
        generated_bytes_left: GENERATED_BYTES_MAX,
    };
    document.walk(document.root(), |step| {
        match step {
            Step::Enter(node) => return dresser.enter(node),
            Step::Leave(_) => dresser.open.pop(),
        };
        Onward::Inside
    });
    dresser.looks.may_reveal = dresser.cascade.may_reveal;
    dresser.looks.comparisons = dresser.budget.spent();
    dresser.looks
}

impl Looks {
    fn new(node_count: usize) -> Self {
        let seen = NodeLook {
            shown: ElementVisibility::Seen,
            hidden_by: None,
            is_masked: false,
            is_reversed: false,
        };
        Self {
            nodes: vec![seen; node_count],
            before: HashMap::new(),
            after: HashMap::new(),
            may_reveal: false,
            comparisons: 0,
        }
    }
}

struct Dresser<'a> {
    document: &'a Document,
    cascade: Cascade,
    budget: Budget,
    dressed: Dressed,
    /// The styles of the ancestors, outermost first.
    open: Vec<AppliedStyle>,
    looks: Looks,
    generated_bytes_left: usize,
}

/// A style and its effect. Elements without declarations share that of their parent.
#[derive(Clone)]
struct AppliedStyle {
    look: Rc<ComputedStyle>,
    comes_to: NodeLook,
}

impl AppliedStyle {
    fn of(look: ComputedStyle) -> Self {
        let (gone, unseen) = (look.gone_by(), look.unseen_by());
        let shown = match (gone, unseen) {
            (Some(_), _) => ElementVisibility::Gone,
            (None, Some(_)) => ElementVisibility::Unseen,
            (None, None) => ElementVisibility::Seen,
        };
        let hidden_by = [gone, unseen].into_iter().flatten().min().map(|hider| hider.node);
        let (is_masked, is_reversed) = (look.is_masked, look.is_reversed);
        let comes_to = NodeLook { shown, hidden_by, is_masked, is_reversed };
        Self { look: Rc::new(look), comes_to }
    }

    /// The same for a node without declarations.
    fn shared(&self) -> Self {
        let comes_to = NodeLook { is_masked: self.look.is_masked, ..self.comes_to };
        Self { look: self.look.clone(), comes_to }
    }
}

impl Dresser<'_> {
    /// Computes the look of a node, and keeps it for its descendants.
    fn enter(&mut self, node: NodeId) -> Onward {
        let Some(element) = self.document.element(node) else { return self.enter_other(node) };
        let worn = self.dress(node, element);
        self.note(node, worn.comes_to);
        self.open.push(worn);
        Onward::Inside
    }

    /// A text looks like its parent, except for what applies only to fields.
    fn enter_other(&mut self, node: NodeId) -> Onward {
        let Some(parent) = self.open.last() else { return Onward::Past };
        let comes_to = NodeLook { is_masked: false, ..parent.comes_to };
        if node == self.document.root() {
            self.open.push(parent.shared());
        }
        self.note(node, comes_to);
        if node == self.document.root() { Onward::Inside } else { Onward::Past }
    }

    fn note(&mut self, node: NodeId, look: NodeLook) {
        if let Some(slot) = self.looks.nodes.get_mut(node.index()) {
            *slot = look;
        }
    }

    fn dress(&mut self, node: NodeId, element: Element<'_>) -> AppliedStyle {
        let candidate = Candidate { document: self.document, node, element, budget: &self.budget };
        self.cascade.dress(&candidate, &mut self.dressed);
        hint(element, &mut self.dressed.own);
        for (won, words) in
            [(&self.dressed.before, &mut self.looks.before), (&self.dressed.after, &mut self.looks.after)]
        {
            let Some(generated) = generated(element, won) else { continue };
            if generated.len() <= self.generated_bytes_left {
                self.generated_bytes_left -= generated.len();
                words.insert(node, generated);
            }
        }
        let own = &self.dressed.own;
        let hider = Hider { depth: self.open.len(), node };
        match self.open.last() {
            Some(parent) if own.is_empty() && computed::is_plain(element) => parent.shared(),
            Some(parent) => {
                let mut worn = AppliedStyle::of(parent.look.child(element, own, hider));
                worn.comes_to.is_masked = worn.look.is_masked(own);
                worn
            }
            None => AppliedStyle::of(ComputedStyle::on(Canvas::Unknown)),
        }
    }
}

/// Presentational attributes such as `bgcolor`, and `dir`.
fn hint(element: Element<'_>, won: &mut Won) {
    if element.is_bare() {
        return;
    }
    let coloured = [("bgcolor", Property::Ground), ("color", Property::Colour), ("text", Property::Colour)];
    for (attribute, property) in coloured {
        let may = match attribute {
            "color" => element.name() == "font",
            "text" => element.name() == "body",
            _ => true,
        };
        let Some(text) = element.get(attribute).filter(|_| may) else { continue };
        if let Some(colour) = legacy_colour(text) {
            won.hint(property, Value::Colour(colour));
        }
    }
    if let Some(direction) = element.get("dir") {
        won.hint(Property::Direction, Value::Is(direction.eq_ignore_ascii_case("rtl")));
    }
    if element.name() == "bdo" {
        won.hint(Property::BidiOverride, Value::Is(true));
    }
    if element.is_svg() {
        let hides = |attribute: &str, words: &[&str]| words.contains(&element.text(attribute).trim());
        for (property, is_hidden) in [
            (Property::Display, hides("display", &["none"])),
            (Property::Visibility, hides("visibility", &["hidden", "collapse"])),
            (Property::Opacity, hides("opacity", &["0", "0.0", "0%"])),
        ] {
            if is_hidden {
                won.hint(property, Value::Is(true));
            }
        }
    }
    if element.has("background") && matches!(element.name(), "body" | "table" | "td" | "th" | "tr") {
        won.hint(Property::GroundImage, Value::Is(true));
    }
}

/// A colour in such an attribute may lack the `#`.
fn legacy_colour(text: &str) -> Option<values::Colour> {
    const COLOUR_BYTES_MAX: usize = 40;
    let text = text.trim();
    if text.len() > COLOUR_BYTES_MAX {
        return None;
    }
    let of = |text: &str| values::pieces(text).first().and_then(values::colour);
    of(text).or_else(|| of(&format!("#{text}")))
}

/// The text of a generated part, if it is visible.
fn generated(element: Element<'_>, won: &Won) -> Option<String> {
    let Some(Value::Content(parts)) = won.get(Property::Content) else { return None };
    let hiding = [Property::Display, Property::Visibility, Property::Opacity, Property::Transform];
    let is_tiny =
        matches!(won.get(Property::FontSize), Some(Value::Px(size) | Value::Factor(size)) if *size < 0.1);
    if is_tiny || hiding.into_iter().any(|property| won.is(property)) {
        return None;
    }
    let words: String = parts
        .iter()
        .map(|part| match part {
            Generated::Text(text) => text.as_str(),
            Generated::Attribute(name) => element.text(name),
        })
        .collect();
    (!words.trim().is_empty()).then_some(words)
}
