//! Computes the look of one element from its declarations and from that of its parent.

use html5ever::local_name;

use super::Canvas;
use super::cascade::Won;
use super::declaration::{Property, Value};
use super::values::Colour;
use crate::document::{Element, Holds, NodeId};

/// An element that is moved further is off the screen.
const OFF_LEFT_PX: f32 = -200.0;
const OFF_TOP_PX: f32 = -200.0;
const OFF_RIGHT_PX: f32 = 3000.0;
const OFF_BOTTOM_PX: f32 = 20_000.0;
/// Smaller text cannot be read.
const LETTERS_MIN_PX: f32 = 2.0;
const ALPHA_MIN: f32 = 0.05;
/// A smaller box shows none of its overflow.
const BOX_MIN_PX: f32 = 1.5;
const FIELD_FONT_PX: f32 = 13.33;

/// An element that hides its content. The outermost has the smallest depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Hider {
    pub(super) depth: usize,
    pub(super) node: NodeId,
}

#[derive(Clone, Debug)]
pub(super) struct ComputedStyle {
    /// Not rendered, with all descendants.
    gone: Option<Hider>,
    /// Not rendered, but descendants may be.
    invisible: Option<Hider>,
    /// Cannot be seen, with all descendants.
    unseen: Option<Hider>,
    far: Option<Hider>,
    indented: Option<Hider>,
    tiny: Option<Hider>,
    tinted: Option<Hider>,
    pub(super) is_masked: bool,
    is_from_right: bool,
    /// All letters run from right to left.
    pub(super) is_reversed: bool,
    font_px: f32,
    left_px: f32,
    top_px: f32,
    /// `None` if it is not known.
    colour: Option<Colour>,
    fill: Option<Option<Colour>>,
    ground: Option<Colour>,
    has_letter_edge: bool,
}

impl ComputedStyle {
    pub(super) fn on(canvas: Canvas) -> Self {
        Self {
            gone: None,
            invisible: None,
            unseen: None,
            far: None,
            indented: None,
            tiny: None,
            tinted: None,
            is_masked: false,
            is_from_right: false,
            is_reversed: false,
            font_px: 16.0,
            left_px: 0.0,
            top_px: 0.0,
            colour: Some(Colour::BLACK),
            fill: None,
            ground: (canvas == Canvas::White).then_some(Colour::WHITE),
            has_letter_edge: false,
        }
    }

    /// The outermost element that prevents rendering.
    pub(super) fn gone_by(&self) -> Option<Hider> {
        [self.gone, self.invisible].into_iter().flatten().min()
    }

    /// The outermost element that hides a rendered node.
    pub(super) fn unseen_by(&self) -> Option<Hider> {
        [self.unseen, self.far, self.indented, self.tiny, self.tinted].into_iter().flatten().min()
    }

    /// The look of a child with these declarations.
    pub(super) fn child(&self, element: Element<'_>, won: &Won, hider: Hider) -> Self {
        let mut look = self.clone();
        if is_control(element) {
            look.take_off();
        } else if is_drawing(element) {
            // Text in an SVG uses `fill` and not the `color` around it.
            (look.tinted, look.colour, look.fill) = (None, None, None);
        }
        let by = |is_hidden: bool, before: Option<Hider>| before.or(is_hidden.then_some(hider));
        look.gone = by(is_gone(element, won), self.gone);
        if won.is_empty() && !is_control(element) {
            return look;
        }
        let is_animated = won.is(Property::Animation);
        match won.get(Property::Visibility) {
            Some(Value::Is(true)) if !is_animated => look.invisible = by(true, self.invisible),
            Some(_) => look.invisible = None,
            None => {}
        }
        look.unseen = by(!is_animated && is_shut(won), self.unseen);
        if !is_animated {
            look.move_by(won, hider);
        }
        look.resize(won, hider);
        look.paint(won, hider, is_control(element));
        if let Some(Value::Is(masks)) = won.get(Property::TextSecurity) {
            look.is_masked = *masks;
        }
        if let Some(Value::Is(is_from_right)) = won.get(Property::Direction) {
            look.is_from_right = *is_from_right;
        }
        if let Some(Value::Is(is_override)) = won.get(Property::BidiOverride) {
            look.is_reversed = *is_override && look.is_from_right;
        }
        look
    }

    /// Whether the element masks input. Fields do not inherit fonts.
    pub(super) fn is_masked(&self, won: &Won) -> bool {
        self.is_masked || won.is(Property::FontFamily)
    }

    /// Fields and buttons have a text colour and background of their own.
    fn take_off(&mut self) {
        (self.tiny, self.tinted, self.indented) = (None, None, None);
        (self.colour, self.fill, self.ground) = (Some(Colour::BLACK), None, None);
        self.font_px = FIELD_FONT_PX;
    }

    fn move_by(&mut self, won: &Won, hider: Hider) {
        let offset = |property| won.pixels(property).unwrap_or(0.0);
        if won.is(Property::Position) {
            let either = |start, end| won.pixels(start).unwrap_or_else(|| -offset(end));
            self.left_px += either(Property::Left, Property::Right);
            self.top_px += either(Property::Top, Property::Bottom);
        }
        self.left_px += offset(Property::MarginLeft);
        self.top_px += offset(Property::MarginTop);
        let is_far = self.left_px <= OFF_LEFT_PX
            || self.left_px >= OFF_RIGHT_PX
            || self.top_px <= OFF_TOP_PX
            || self.top_px >= OFF_BOTTOM_PX;
        self.far = if is_far { self.far.or(Some(hider)) } else { None };
        if let Some(indent) = won.pixels(Property::TextIndent) {
            let is_out = !(OFF_LEFT_PX..OFF_RIGHT_PX).contains(&indent);
            self.indented = if is_out { self.indented.or(Some(hider)) } else { None };
        }
    }

    fn resize(&mut self, won: &Won, hider: Hider) {
        match won.get(Property::FontSize) {
            Some(Value::Px(pixels)) => self.font_px = *pixels,
            Some(Value::Factor(factor)) => self.font_px *= factor,
            _ => return,
        }
        let is_tiny = self.font_px < LETTERS_MIN_PX;
        self.tiny = if is_tiny { self.tiny.or(Some(hider)) } else { None };
    }

    fn paint(&mut self, won: &Won, hider: Hider, is_control: bool) {
        let known_colour = |value: &Value| match value {
            Value::Colour(colour) => Some(*colour),
            _ => None,
        };
        if let Some(value) = won.get(Property::Colour) {
            self.colour = known_colour(value);
        }
        if let Some(value) = won.get(Property::TextFill) {
            self.fill = Some(known_colour(value));
        }
        if let Some(value) = won.get(Property::LetterEdge) {
            self.has_letter_edge = *value == Value::Is(true);
        }
        if let Some(value) = won.get(Property::Ground) {
            self.ground = known_colour(value).and_then(|colour| match self.ground {
                Some(ground) => Some(colour.over(ground)),
                None => (colour.alpha >= 1.0).then_some(colour),
            });
        }
        if won.is(Property::GroundImage) || won.is(Property::GroundClip) {
            self.ground = None;
        }
        let letters = self.fill.unwrap_or(self.colour);
        let is_tinted = letters.is_some_and(|letters| match self.ground {
            _ if self.has_letter_edge || is_control => false,
            None => letters.alpha < ALPHA_MIN && !won.is(Property::GroundClip),
            Some(ground) => letters.alpha < ALPHA_MIN || letters.over(ground).looks_like(ground),
        });
        self.tinted = if is_tinted { self.tinted.or(Some(hider)) } else { None };
    }
}

/// Whether its content is clipped, transparent or collapsed.
fn is_shut(won: &Won) -> bool {
    let hiding =
        [Property::Opacity, Property::Filter, Property::ClipPath, Property::Transform, Property::Scale];
    let is_small = |property| won.pixels(property).is_some_and(|pixels| pixels < BOX_MIN_PX);
    let sizes = [Property::Width, Property::Height, Property::WidthMax, Property::HeightMax];
    hiding.into_iter().any(|property| won.is(property))
        || (won.is(Property::Clip) && won.is(Property::Position))
        || (won.is(Property::Overflow) && sizes.into_iter().any(is_small))
}

/// Whether an element without declarations looks like its parent.
pub(super) fn is_plain(element: Element<'_>) -> bool {
    !is_control(element) && !is_drawing(element) && !is_gone(element, &Won::default())
}

fn is_drawing(element: Element<'_>) -> bool {
    element.is_svg() && *element.local() == local_name!("svg")
}

/// Elements that are not rendered by default or by a declaration.
fn is_gone(element: Element<'_>, won: &Won) -> bool {
    if element.holds() == Holds::Template && element.is_html() {
        return !matches!(element.text("shadowrootmode"), "open" | "closed");
    }
    if *element.local() == local_name!("input") && element.text("type").eq_ignore_ascii_case("hidden") {
        return true;
    }
    if won.is(Property::ContentVisibility) {
        return true;
    }
    match won.get(Property::Display) {
        Some(Value::Is(is_gone)) => *is_gone,
        _ => is_gone_by_itself(element),
    }
}

fn is_gone_by_itself(element: Element<'_>) -> bool {
    matches!(element.holds(), Holds::Code | Holds::Substitute | Holds::Aside)
        || element.has("hidden")
        || (*element.local() == local_name!("dialog") && !element.has("open"))
        || element.has("popover")
}

/// An element with a visible box, whatever its text looks like.
fn is_control(element: Element<'_>) -> bool {
    element.is_html()
        && matches!(
            *element.local(),
            local_name!("input") | local_name!("textarea") | local_name!("select") | local_name!("button")
        )
}
