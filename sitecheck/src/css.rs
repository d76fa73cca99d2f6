//! The references in style sheets: `url()` and `@import`.

use cssparser::{ParseError, Parser, ParserInput, Token};
use domain::ResourceKind;

use crate::reference::{Reference, Use};

/// Deeper blocks are skipped.
const DEPTH_MAX: u32 = 32;

/// What an address at this point is for.
#[derive(Clone, Copy, PartialEq)]
enum Position {
    Import,
    /// `@namespace`: a name, which is not loaded.
    Namespace,
    FontFace,
    /// `image-set()`, in which a string is an address.
    ImageSet,
    Plain,
}

/// The references of a style sheet, or of a `style` attribute, whose first line has this number.
pub fn references(css: &str, first_line: u32) -> Vec<Reference> {
    let mut sheet = Sheet { first_line, references: vec![] };
    // Most style attributes have none.
    if !css.contains(['(', '@']) {
        return sheet.references;
    }
    let mut input = ParserInput::new(css);
    sheet.read(&mut Parser::new(&mut input), ResourceKind::Image, Position::Plain, 0);
    sheet.references
}

struct Sheet {
    first_line: u32,
    references: Vec<Reference>,
}

impl Sheet {
    /// `kind` is what a plain address loads.
    fn read(&mut self, parser: &mut Parser<'_, '_>, kind: ResourceKind, mut position: Position, depth: u32) {
        loop {
            parser.skip_whitespace();
            let line = parser.current_source_location().line + self.first_line;
            let Ok(token) = parser.next() else { return };
            match token.clone() {
                Token::AtKeyword(name) => position = position_of(&name),
                Token::Semicolon => position = Position::Plain,
                Token::UnquotedUrl(address) => self.take(&mut position, kind, &address, line),
                Token::QuotedString(address) if matches!(position, Position::Import | Position::ImageSet) => {
                    self.take(&mut position, kind, &address, line);
                }
                Token::Function(name) if name.eq_ignore_ascii_case("url") => {
                    if let Some(address) = string_in(parser) {
                        self.take(&mut position, kind, &address, line);
                    }
                }
                Token::CurlyBracketBlock => {
                    let kind = if position == Position::FontFace { ResourceKind::Font } else { kind };
                    position = Position::Plain;
                    self.enter(parser, kind, position, depth);
                }
                Token::Function(name) if is_image_set(&name) => {
                    self.enter(parser, kind, Position::ImageSet, depth);
                }
                Token::Function(_) | Token::ParenthesisBlock | Token::SquareBracketBlock => {
                    self.enter(parser, kind, Position::Plain, depth);
                }
                _ => {}
            }
        }
    }

    fn enter(&mut self, parser: &mut Parser<'_, '_>, kind: ResourceKind, position: Position, depth: u32) {
        if depth < DEPTH_MAX {
            let _: Result<(), ParseError<'_, ()>> = parser.parse_nested_block(|inner| {
                self.read(inner, kind, position, depth + 1);
                Ok(())
            });
        }
    }

    fn take(&mut self, position: &mut Position, kind: ResourceKind, address: &str, line: u32) {
        let kind = match position {
            Position::Import => ResourceKind::Style,
            Position::Namespace => return,
            Position::FontFace | Position::ImageSet | Position::Plain => kind,
        };
        // Conditions follow an import's address. An image set has several addresses.
        if *position != Position::ImageSet {
            *position = Position::Plain;
        }
        self.references.push(Reference::new(Use::Load(kind), address, line));
    }
}

fn is_image_set(name: &str) -> bool {
    ["image-set", "-webkit-image-set"].iter().any(|set| name.eq_ignore_ascii_case(set))
}

fn position_of(name: &str) -> Position {
    match name.to_ascii_lowercase().as_str() {
        "import" => Position::Import,
        "namespace" => Position::Namespace,
        "font-face" => Position::FontFace,
        _ => Position::Plain,
    }
}

fn string_in(parser: &mut Parser<'_, '_>) -> Option<String> {
    let read: Result<String, ParseError<'_, ()>> =
        parser.parse_nested_block(|inner| Ok(inner.expect_string()?.to_string()));
    read.ok()
}
