//! The declarations that affect visibility, and their values.

use std::rc::Rc;

use super::values::{Colour, Piece, colour, pieces, pixels};

/// Longer values do not affect visibility.
const VALUE_BYTES_MAX: usize = 2000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Property {
    Display,
    Visibility,
    ContentVisibility,
    Opacity,
    Filter,
    FontSize,
    Colour,
    TextFill,
    /// A text shadow or outline, which makes even transparent letters visible.
    LetterEdge,
    Ground,
    GroundImage,
    /// The background is clipped to the text.
    GroundClip,
    TextIndent,
    Position,
    Left,
    Top,
    Right,
    Bottom,
    MarginLeft,
    MarginTop,
    Clip,
    ClipPath,
    Width,
    Height,
    WidthMax,
    HeightMax,
    Overflow,
    Transform,
    Scale,
    Animation,
    TextSecurity,
    Direction,
    /// Letters follow the declared direction, whatever their script is.
    BidiOverride,
    FontFamily,
    Content,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    /// Whether the declaration hides or masks.
    Is(bool),
    Px(f32),
    /// Relative to the parent's size.
    Factor(f32),
    Colour(Colour),
    Content(Rc<[Generated]>),
    /// Same as the parent, or not known.
    Unknown,
}

/// A part of generated content.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Generated {
    Text(String),
    Attribute(String),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Declaration {
    pub(super) property: Property,
    pub(super) value: Value,
    pub(super) is_important: bool,
}

/// Splits a declaration into its name, its value and whether it is important.
pub(super) fn split(text: &str) -> Option<(String, &str, bool)> {
    let (name, value) = text.split_once(':')?;
    let name = name.rsplit("*/").next().unwrap_or(name).trim();
    if name.len() > 60 || value.len() > VALUE_BYTES_MAX {
        return None;
    }
    let value = value.trim();
    let plain = value.rsplit_once('!').filter(|(_, mark)| mark.trim().eq_ignore_ascii_case("important"));
    Some((name.to_ascii_lowercase(), plain.map_or(value, |(value, _)| value), plain.is_some()))
}

/// Parses a declaration. Returns nothing if it is invalid or does not affect visibility.
pub(super) fn read(name: &str, value: &str, is_important: bool) -> Vec<Declaration> {
    let mut into = Vec::new();
    if !matters(name) {
        return into;
    }
    let pieces = pieces(value);
    let mut add = |property, value: Option<Value>| {
        into.extend(value.map(|value| Declaration { property, value, is_important }));
    };
    match name {
        "background" => {
            add(Property::GroundImage, Some(Value::Is(pieces.iter().any(is_image))));
            add(Property::Ground, Some(first_colour(&pieces)));
            add(Property::GroundClip, Some(Value::Is(has_word(&pieces, &["text"]))));
        }
        "font" => {
            add(Property::FontSize, pieces.iter().find(may_be_font_size).and_then(font_size));
            add(Property::FontFamily, Some(Value::Is(is_masking_font(&pieces))));
        }
        "inset" => {
            for property in [Property::Top, Property::Right, Property::Bottom, Property::Left] {
                add(property, length(&pieces));
            }
        }
        _ => {
            if let Some((property, value)) = single(name, &pieces) {
                add(property, Some(value));
            }
        }
    }
    into
}

fn matters(name: &str) -> bool {
    matches!(name, "background" | "font" | "inset") || property(name).is_some()
}

fn property(name: &str) -> Option<Property> {
    let name = name.strip_prefix("-webkit-").unwrap_or(name);
    Some(match name {
        "display" => Property::Display,
        "visibility" => Property::Visibility,
        "content-visibility" => Property::ContentVisibility,
        "opacity" => Property::Opacity,
        "filter" => Property::Filter,
        "font-size" => Property::FontSize,
        "color" => Property::Colour,
        "text-fill-color" => Property::TextFill,
        "text-shadow" | "text-stroke" | "text-stroke-width" => Property::LetterEdge,
        "background-color" => Property::Ground,
        "background-image" => Property::GroundImage,
        "background-clip" => Property::GroundClip,
        "text-indent" => Property::TextIndent,
        "position" => Property::Position,
        "left" | "inset-inline-start" => Property::Left,
        "top" | "inset-block-start" => Property::Top,
        "right" | "inset-inline-end" => Property::Right,
        "bottom" | "inset-block-end" => Property::Bottom,
        "margin-left" | "margin-inline-start" => Property::MarginLeft,
        "margin-top" | "margin-block-start" => Property::MarginTop,
        "clip" => Property::Clip,
        "clip-path" => Property::ClipPath,
        "width" | "inline-size" => Property::Width,
        "height" | "block-size" => Property::Height,
        "max-width" | "max-inline-size" => Property::WidthMax,
        "max-height" | "max-block-size" => Property::HeightMax,
        "overflow" | "overflow-x" | "overflow-y" => Property::Overflow,
        "transform" => Property::Transform,
        "scale" => Property::Scale,
        "animation" | "animation-name" => Property::Animation,
        "text-security" => Property::TextSecurity,
        "direction" => Property::Direction,
        "unicode-bidi" => Property::BidiOverride,
        "font-family" => Property::FontFamily,
        "content" => Property::Content,
        _ => return None,
    })
}

fn single(name: &str, pieces: &[Piece]) -> Option<(Property, Value)> {
    let property = property(name)?;
    let is = |words: &[&str]| Some(Value::Is(has_word(pieces, words)));
    let value = match property {
        Property::Display => is(&["none"]),
        Property::Visibility => is(&["hidden", "collapse"]),
        Property::ContentVisibility => is(&["hidden"]),
        Property::Overflow => is(&["hidden", "clip"]),
        Property::GroundClip => is(&["text"]),
        Property::Direction => is(&["rtl"]),
        Property::BidiOverride => is(&["bidi-override", "isolate-override"]),
        Property::Position => is(&["absolute", "fixed", "relative", "sticky"]),
        Property::Opacity => Some(Value::Is(is_faint(pieces.first()?))),
        Property::Filter => Some(Value::Is(is_filtered_out(pieces))),
        Property::FontSize => font_size(pieces.first()?),
        Property::Colour | Property::TextFill => {
            Some(pieces.first().and_then(colour).map_or(Value::Unknown, Value::Colour))
        }
        Property::Ground => Some(first_colour(pieces)),
        Property::GroundImage => Some(Value::Is(pieces.iter().any(is_image))),
        Property::LetterEdge | Property::Animation | Property::TextSecurity => {
            let is_none = matches!(pieces.first()?, Piece::Word(word) if matches!(word.as_str(), "none" | "initial" | "unset"));
            let is_zero = matches!(pieces, [Piece::Number(0.0) | Piece::Length(0.0)]);
            Some(Value::Is(!is_none && !is_zero))
        }
        Property::Clip => Some(Value::Is(is_clipped(pieces))),
        Property::ClipPath => Some(Value::Is(is_clipped_by_path(pieces))),
        Property::Transform => Some(Value::Is(pieces.iter().any(is_transformed_away))),
        Property::Scale => Some(Value::Is(is_zero(pieces.first()?))),
        Property::FontFamily => Some(Value::Is(is_masking_font(pieces))),
        Property::Content => Some(content(pieces)),
        _ => length(pieces),
    };
    value.map(|value| (property, value))
}

fn length(pieces: &[Piece]) -> Option<Value> {
    Some(pixels(pieces.first()?).map_or(Value::Unknown, Value::Px))
}

fn has_word(pieces: &[Piece], words: &[&str]) -> bool {
    pieces.iter().any(|piece| matches!(piece, Piece::Word(word) if words.contains(&word.as_str())))
}

fn is_zero(piece: &Piece) -> bool {
    pixels(piece).is_some_and(|size| size.abs() < 0.02)
}

fn is_faint(piece: &Piece) -> bool {
    match piece {
        Piece::Number(number) => *number < 0.05,
        Piece::Percentage(percentage) => *percentage < 5.0,
        Piece::Function(..) => pixels(piece).is_some_and(|number| number < 0.05),
        _ => false,
    }
}

fn is_filtered_out(pieces: &[Piece]) -> bool {
    let opacity = |piece: &Piece| match piece {
        Piece::Function(name, inside) if name == "opacity" => inside.first().is_some_and(is_faint),
        _ => false,
    };
    pieces.iter().any(opacity)
}

fn may_be_font_size(piece: &&Piece) -> bool {
    match piece {
        Piece::Number(number) => *number == 0.0,
        Piece::Length(_) | Piece::Em(_) | Piece::Percentage(_) => true,
        _ => false,
    }
}

fn font_size(piece: &Piece) -> Option<Value> {
    Some(match piece {
        Piece::Em(ems) => Value::Factor(*ems),
        Piece::Percentage(percentage) => Value::Factor(percentage / 100.0),
        Piece::Word(word) => match word.as_str() {
            "smaller" => Value::Factor(0.83),
            "larger" => Value::Factor(1.2),
            "inherit" | "unset" => Value::Factor(1.0),
            _ => Value::Px(16.0),
        },
        // Values such as clamp() and max() are used for readable sizes.
        piece => pixels(piece).map_or(Value::Px(16.0), Value::Px),
    })
}

fn first_colour(pieces: &[Piece]) -> Value {
    const CLEAR: Value = Value::Colour(Colour { channels: [0; 3], alpha: 0.0 });
    let found = pieces.iter().find_map(colour);
    let is_hard_to_tell = pieces.iter().any(|piece| match piece {
        Piece::Function(name, _) => name != "url",
        Piece::Word(word) => matches!(word.as_str(), "inherit" | "currentcolor"),
        _ => false,
    });
    found.map_or(if is_hard_to_tell { Value::Unknown } else { CLEAR }, Value::Colour)
}

fn is_image(piece: &Piece) -> bool {
    matches!(piece, Piece::Function(name, _) if name == "url" || name.contains("gradient") || name.contains("image"))
}

/// `rect(0, 0, 0, 0)` and similar: edges that leave at most a pixel.
fn is_clipped(pieces: &[Piece]) -> bool {
    let Some(Piece::Function(name, inside)) = pieces.first() else { return false };
    let edges: Vec<f32> = inside.iter().filter_map(pixels).collect();
    name == "rect"
        && match edges.as_slice() {
            [top, right, bottom, left] => bottom - top <= 1.0 || right - left <= 1.0,
            _ => false,
        }
}

fn is_clipped_by_path(pieces: &[Piece]) -> bool {
    let Some(Piece::Function(name, inside)) = pieces.first() else { return false };
    match name.as_str() {
        "inset" => matches!(inside.first(), Some(Piece::Percentage(percentage)) if *percentage >= 49.0),
        "circle" | "ellipse" => inside.first().is_some_and(is_zero),
        "polygon" => !inside.is_empty() && inside.iter().all(is_zero),
        _ => false,
    }
}

fn is_transformed_away(piece: &Piece) -> bool {
    let Piece::Function(name, inside) = piece else { return false };
    let far = |piece: &Piece| match piece {
        // Relative to the element's own size.
        Piece::Percentage(percentage) => percentage.abs() >= 900.0,
        piece => pixels(piece).is_some_and(|distance| distance.abs() >= 1200.0),
    };
    match name.as_str() {
        "scale" | "scale3d" => inside.iter().take(2).any(is_zero),
        "scalex" | "scaley" => inside.first().is_some_and(is_zero),
        "matrix" => inside.first().is_some_and(is_zero) && inside.get(1).is_some_and(is_zero),
        "translate" | "translate3d" => inside.iter().take(2).any(far),
        "translatex" | "translatey" => inside.first().is_some_and(far),
        "rotatex" | "rotatey" => matches!(inside.first(), Some(Piece::Length(degrees)) if *degrees == 90.0),
        _ => false,
    }
}

/// Well-known fonts whose letters are all dots.
fn is_masking_font(pieces: &[Piece]) -> bool {
    const NAMES: [&str; 6] =
        ["text-security", "textsecurity", "dotsfont", "password", "security-disc", "passdots"];
    pieces.iter().any(|piece| match piece {
        Piece::Word(name) | Piece::Text(name) => {
            let name = name.to_ascii_lowercase();
            NAMES.iter().any(|known| name.contains(known))
        }
        _ => false,
    })
}

fn content(pieces: &[Piece]) -> Value {
    let parts = pieces.iter().filter_map(|piece| match piece {
        Piece::Text(text) => Some(Generated::Text(text.clone())),
        Piece::Function(name, inside) if name == "attr" => match inside.first() {
            Some(Piece::Word(attribute)) => Some(Generated::Attribute(attribute.clone())),
            _ => None,
        },
        _ => None,
    });
    Value::Content(parts.collect())
}
