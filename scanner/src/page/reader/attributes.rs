//! What attributes say to visitors: in the line like text, on a button, or when an element is pointed at.

use super::super::context::ElementContext;
use super::super::field::{Field, LABEL_CHARS_MAX, clip, type_of};
use super::super::{Block, Role, Spot};
use super::Reader;
use crate::document::{Element, NodeId};

/// Elements whose name for readers of the screen is read where they stand.
const SAID_IN_LINE: [&str; 9] = ["svg", "button", "a", "section", "form", "div", "main", "h1", "h2"];
/// Elements that take text or are buttons. What their attributes say belongs to the field.
const FIELDS: [&str; 4] = ["input", "textarea", "select", "option"];
/// Nobody points at more elements than so many.
const TIPS_MAX: usize = 10_000;
/// A sprite's icons are not nested deeper.
const DRAWING_DEPTH_MAX: usize = 8;

/// Whether part of a drawing is only there to be drawn elsewhere, as the icons of a sprite are.
fn is_for_later(place: &ElementContext<'_>, part: NodeId) -> bool {
    let within = std::iter::successors(Some(part), |node| place.document.parent(*node));
    within
        .take(DRAWING_DEPTH_MAX)
        .filter_map(|node| place.document.element(node))
        .take_while(|element| element.name() != "svg")
        .any(|element| matches!(element.name(), "symbol" | "defs"))
}

impl Reader<'_> {
    /// Attributes that visitors see stand in the line like text; what a button says is a text of its own.
    pub(super) fn show_attributes(
        &mut self,
        place: &mut ElementContext<'_>,
        node: NodeId,
        element: Element<'_>,
    ) {
        if element.is_bare() {
            return;
        }
        self.take_tips(place, node, element);
        let says = match element.name() {
            "img" | "area" => {
                [element.text("alt"), element.text("title")].into_iter().find(|says| !says.trim().is_empty())
            }
            name if SAID_IN_LINE.contains(&name) && !Field::is(element) => element.get("aria-label"),
            "input" => return self.show_button(place, node, element),
            _ => None,
        };
        let says = says.filter(|says| !says.trim().is_empty());
        if let Some(says) = says.map(|says| format!(" {says} ")) {
            self.show_generated(place, node, Some(&says));
        }
    }

    fn show_button(&mut self, place: &mut ElementContext<'_>, node: NodeId, element: Element<'_>) {
        let says = match &*type_of(element) {
            "image" => element.text("alt"),
            "submit" | "button" | "reset" => element.text("value"),
            _ => return,
        };
        if place.is_readable(node, &mut self.regions_seen) {
            self.end_run_in(place);
            self.run.push(says);
            self.run.region = place.region(node, &mut self.regions_seen);
            self.end_run(Role::Button, place.spot(None));
        }
    }

    /// What an element says when it is pointed at, and what those hear of it who do not see it.
    fn take_tips(&mut self, place: &mut ElementContext<'_>, node: NodeId, element: Element<'_>) {
        if FIELDS.contains(&element.name()) || Field::is(element) {
            return;
        }
        self.take_tip(place, node, element.text("title"));
        if !SAID_IN_LINE.contains(&element.name()) {
            self.take_tip(place, node, element.text("aria-label"));
        }
    }

    /// A drawing shows its title where it is pointed at.
    pub(super) fn take_title_of_drawing(&mut self, place: &mut ElementContext<'_>, title: NodeId) {
        if let Some(drawing) = place.document.parent(title)
            && !is_for_later(place, drawing)
        {
            let says = place.document.text_below(title, LABEL_CHARS_MAX);
            self.take_tip(place, drawing, &says);
        }
    }

    /// Links and buttons lead elsewhere, as to a login with another site: what is drawn on them says where.
    fn take_tip(&mut self, place: &mut ElementContext<'_>, node: NodeId, says: &str) {
        let is_taken = !says.trim().is_empty()
            && self.part.tips.len() < TIPS_MAX
            && !place.is_in_link()
            && !place.is_in_button()
            && place.is_readable(node, &mut self.regions_seen);
        if is_taken {
            let region = place.region(node, &mut self.regions_seen);
            let spot = Spot { region, ..place.spot(None) };
            self.part.tips.push(Block::new(Role::Plain, spot, clip(says).to_owned()));
        }
    }
}
