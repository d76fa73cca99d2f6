//! Texts in attributes that visitors see: inline, on buttons or in tooltips.

use super::super::context::ElementContext;
use super::super::field::{Field, LABEL_CHARS_MAX, clip, type_of};
use super::super::{Block, Role, Spot};
use super::Reader;
use crate::document::{Element, NodeId};

/// Elements whose accessible name is read inline.
const SAID_IN_LINE: [&str; 9] = ["svg", "button", "a", "section", "form", "div", "main", "h1", "h2"];
/// Fields and buttons. The texts of their attributes belong to the field.
const FIELDS: [&str; 4] = ["input", "textarea", "select", "option"];
/// The number of tooltips that are read.
const TIPS_MAX: usize = 10_000;
/// The depth at which the icons of an SVG sprite are searched for.
const DRAWING_DEPTH_MAX: usize = 8;

/// Whether part of an SVG is only defined for use elsewhere, as the icons of a sprite are.
fn is_for_later(context: &ElementContext<'_>, part: NodeId) -> bool {
    let within = std::iter::successors(Some(part), |node| context.document.parent(*node));
    within
        .take(DRAWING_DEPTH_MAX)
        .filter_map(|node| context.document.element(node))
        .take_while(|element| element.name() != "svg")
        .any(|element| matches!(element.name(), "symbol" | "defs"))
}

impl Reader<'_> {
    /// Reads visible attributes inline. The text of a button is a block of its own.
    pub(super) fn show_attributes(
        &mut self,
        context: &mut ElementContext<'_>,
        node: NodeId,
        element: Element<'_>,
    ) {
        if element.is_bare() {
            return;
        }
        self.take_tips(context, node, element);
        let says = match element.name() {
            "img" | "area" => {
                [element.text("alt"), element.text("title")].into_iter().find(|says| !says.trim().is_empty())
            }
            name if SAID_IN_LINE.contains(&name) && !Field::is(element) => element.get("aria-label"),
            "input" => return self.show_button(context, node, element),
            _ => None,
        };
        let says = says.filter(|says| !says.trim().is_empty());
        if let Some(says) = says.map(|says| format!(" {says} ")) {
            self.show_generated(context, node, Some(&says));
        }
    }

    fn show_button(&mut self, context: &mut ElementContext<'_>, node: NodeId, element: Element<'_>) {
        let says = match &*type_of(element) {
            "image" => element.text("alt"),
            "submit" | "button" | "reset" => element.text("value"),
            _ => return,
        };
        if context.is_readable(node, &mut self.regions_seen) {
            self.end_run_in(context);
            self.run.push(says);
            self.run.region = context.region(node, &mut self.regions_seen);
            self.end_run(Role::Button, context.spot(None));
        }
    }

    /// Reads tooltips and texts for screen readers.
    fn take_tips(&mut self, context: &mut ElementContext<'_>, node: NodeId, element: Element<'_>) {
        if FIELDS.contains(&element.name()) || Field::is(element) {
            return;
        }
        self.take_tip(context, node, element.text("title"));
        if !SAID_IN_LINE.contains(&element.name()) {
            self.take_tip(context, node, element.text("aria-label"));
        }
    }

    /// The title of an SVG is its tooltip.
    pub(super) fn take_title_of_drawing(&mut self, context: &mut ElementContext<'_>, title: NodeId) {
        if let Some(drawing) = context.document.parent(title)
            && !is_for_later(context, drawing)
        {
            let says = context.document.text_below(title, LABEL_CHARS_MAX);
            self.take_tip(context, drawing, &says);
        }
    }

    /// The text on a link or button says where it leads, such as a login with another site.
    fn take_tip(&mut self, context: &mut ElementContext<'_>, node: NodeId, says: &str) {
        let is_taken = !says.trim().is_empty()
            && self.part.tips.len() < TIPS_MAX
            && !context.is_in_link()
            && !context.is_in_button()
            && context.is_readable(node, &mut self.regions_seen);
        if is_taken {
            let region = context.region(node, &mut self.regions_seen);
            let spot = Spot { region, ..context.spot(None) };
            self.part.tips.push(Block::new(Role::Plain, spot, clip(says).to_owned()));
        }
    }
}
