//! Parses colours, lengths and generated content from the value of a declaration.

use cssparser::color::{parse_hash_color, parse_named_color};
use cssparser::{ParseError, Parser, ParserInput, Token};

/// Red, green, blue and alpha.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Colour {
    pub(super) channels: [u8; 3],
    pub(super) alpha: f32,
}

/// Smaller differences between channels cannot be seen.
const CHANNEL_DIFFERENCE_MAX: u8 = 8;
const TOKENS_MAX: usize = 200;

impl Colour {
    pub(super) const WHITE: Self = Self { channels: [255; 3], alpha: 1.0 };
    pub(super) const BLACK: Self = Self { channels: [0; 3], alpha: 1.0 };

    /// Blends this colour over an opaque one.
    pub(super) fn over(self, ground: Self) -> Self {
        let mix = |(top, below): (u8, u8)| {
            let mixed = f32::from(top) * self.alpha + f32::from(below) * (1.0 - self.alpha);
            mixed.round().clamp(0.0, 255.0) as u8
        };
        let [red, green, blue] = self.channels;
        let [red_below, green_below, blue_below] = ground.channels;
        let channels = [mix((red, red_below)), mix((green, green_below)), mix((blue, blue_below))];
        Self { channels, alpha: 1.0 }
    }

    pub(super) fn looks_like(self, other: Self) -> bool {
        let mut pairs = self.channels.iter().zip(other.channels);
        pairs.all(|(one, other)| one.abs_diff(other) <= CHANNEL_DIFFERENCE_MAX)
    }
}

/// A component of a value, without separators.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Piece {
    Word(String),
    Text(String),
    /// In pixels. A percentage is relative to the width of the screen.
    Length(f32),
    Percentage(f32),
    /// Relative to the font size.
    Em(f32),
    Number(f32),
    Hash(String),
    Function(String, Vec<Piece>),
    Sign(char),
}

/// The components of a value. The arguments of functions are included, one level deep.
pub(super) fn pieces(value: &str) -> Vec<Piece> {
    let mut input = ParserInput::new(value);
    pieces_of(&mut Parser::new(&mut input), true)
}

fn pieces_of(parser: &mut Parser<'_, '_>, may_descend: bool) -> Vec<Piece> {
    let mut pieces = Vec::new();
    while pieces.len() < TOKENS_MAX {
        let Ok(token) = parser.next().cloned() else { break };
        let piece = match token {
            Token::Ident(word) => Piece::Word(word.to_ascii_lowercase()),
            Token::QuotedString(text) => Piece::Text((*text).to_owned()),
            Token::UnquotedUrl(_) => Piece::Function("url".to_owned(), Vec::new()),
            Token::Hash(hash) | Token::IDHash(hash) => Piece::Hash((*hash).to_owned()),
            Token::Number { value, .. } => Piece::Number(value),
            Token::Percentage { unit_value, .. } => Piece::Percentage(unit_value * 100.0),
            Token::Dimension { value, unit, .. } => length(value, &unit),
            Token::Function(name) => {
                let inside = parser.parse_nested_block(|inside| -> Result<_, ParseError<'_, ()>> {
                    Ok(if may_descend { pieces_of(inside, false) } else { Vec::new() })
                });
                Piece::Function(name.to_ascii_lowercase(), inside.unwrap_or_default())
            }
            Token::Delim(sign) => Piece::Sign(sign),
            _ => continue,
        };
        pieces.push(piece);
    }
    pieces
}

fn length(value: f32, unit: &str) -> Piece {
    let pixels_each = match unit.to_ascii_lowercase().as_str() {
        "em" | "ex" | "ch" => return Piece::Em(value),
        "rem" | "pc" => 16.0,
        "vw" | "vmax" | "dvw" | "svw" | "lvw" => 12.8,
        "vh" | "vmin" | "dvh" | "svh" | "lvh" => 8.0,
        "cm" => 37.8,
        "mm" => 3.78,
        "in" => 96.0,
        "pt" => 1.333,
        // Angles and times count as lengths here. The caller knows which it is.
        _ => 1.0,
    };
    Piece::Length(value * pixels_each)
}

/// A length in pixels, if it is known.
pub(super) fn pixels(piece: &Piece) -> Option<f32> {
    const SCREEN_PX_EACH_PERCENT: f32 = 12.8;
    match piece {
        Piece::Length(pixels) => Some(*pixels),
        Piece::Em(ems) => Some(ems * 16.0),
        Piece::Percentage(percentage) => Some(percentage * SCREEN_PX_EACH_PERCENT),
        Piece::Number(number) => Some(*number),
        Piece::Function(name, inside) if name == "calc" => sum(inside),
        _ => None,
    }
}

/// Sums and differences. Products are not supported.
fn sum(pieces: &[Piece]) -> Option<f32> {
    let (mut total, mut sign) = (0.0, 1.0);
    for piece in pieces {
        match piece {
            Piece::Sign('+') => sign = 1.0,
            Piece::Sign('-') => sign = -1.0,
            Piece::Sign(_) | Piece::Function(..) => return None,
            piece => total += sign * pixels(piece)?,
        }
    }
    Some(total)
}

/// A colour, if the component is one that is known.
pub(super) fn colour(piece: &Piece) -> Option<Colour> {
    match piece {
        Piece::Word(word) if word == "transparent" => Some(Colour { alpha: 0.0, ..Colour::BLACK }),
        Piece::Word(word) => {
            let (red, green, blue) = parse_named_color(word).ok()?;
            Some(Colour { channels: [red, green, blue], alpha: 1.0 })
        }
        Piece::Hash(hash) => {
            let (red, green, blue, alpha) = parse_hash_color(hash.as_bytes()).ok()?;
            Some(Colour { channels: [red, green, blue], alpha })
        }
        Piece::Function(name, inside) => colour_function(name, inside),
        _ => None,
    }
}

fn colour_function(name: &str, inside: &[Piece]) -> Option<Colour> {
    let mut parts = inside.iter().filter(|piece| !matches!(piece, Piece::Sign(_)));
    let (first, second, third) = (parts.next()?, parts.next()?, parts.next()?);
    let alpha = parts.next().map_or(Some(1.0), |alpha| fraction(alpha, 1.0))?;
    let channels = match name {
        "rgb" | "rgba" => {
            let channel = |piece| Some((fraction(piece, 255.0)? * 255.0).round().clamp(0.0, 255.0) as u8);
            [channel(first)?, channel(second)?, channel(third)?]
        }
        "hsl" | "hsla" => from_hsl(pixels(first)?, fraction(second, 100.0)?, fraction(third, 100.0)?),
        _ => return None,
    };
    Some(Colour { channels, alpha })
}

/// A percentage as it is, or a number as a fraction of the whole.
fn fraction(piece: &Piece, whole: f32) -> Option<f32> {
    match piece {
        Piece::Percentage(percentage) => Some(percentage / 100.0),
        Piece::Number(number) => Some(number / whole),
        Piece::Word(word) if word == "none" => Some(0.0),
        _ => None,
    }
}

fn from_hsl(hue_degrees: f32, saturation: f32, lightness: f32) -> [u8; 3] {
    let span = saturation * lightness.min(1.0 - lightness);
    [0.0, 8.0, 4.0].map(|offset| {
        let turn = (offset + hue_degrees / 30.0).rem_euclid(12.0);
        let channel = lightness - span * (turn - 3.0).min(9.0 - turn).clamp(-1.0, 1.0);
        (channel * 255.0).round().clamp(0.0, 255.0) as u8
    })
}
