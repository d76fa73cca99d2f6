//! The modules that a script imports: `import … from "…"`, `import "…"`, `import("…")` and `export … from`.
//!
//! The script is split into tokens just well enough that comments, strings and regular expressions are not
//! mistaken for imports.

use domain::ResourceKind;

use crate::reference::{Reference, Use};

/// Words after which a slash begins a regular expression.
const WORDS_BEFORE_REGEX: [&str; 12] =
    ["return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "else", "do", "await"];

/// The imports of a script whose first line has this number.
pub fn references(script: &str, first_line: u32) -> Vec<Reference> {
    if !script.contains("import") && !script.contains("export") {
        return vec![];
    }
    let mut tokens = Tokens::of(script, first_line);
    let mut imports = Imports::default();
    while let Some((token, line)) = tokens.next() {
        imports.pass(token, line);
    }
    imports.references
}

/// Whether a module is named by an address. Other names need an import map.
pub fn is_address(specifier: &str) -> bool {
    let is_relative = ["/", "./", "../"].iter().any(|start| specifier.starts_with(start));
    is_relative || specifier.starts_with("http:") || specifier.starts_with("https:")
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Token<'s> {
    Word(&'s str),
    /// A string without escapes.
    Text(&'s str),
    Sign(u8),
    /// Anything that cannot be part of an import.
    Other,
}

/// The position within an import.
#[derive(Clone, Copy, Default)]
enum State<'s> {
    #[default]
    Outside,
    Import,
    Export,
    Clause,
    From,
    Call,
    CallText(&'s str, u32),
}

#[derive(Default)]
struct Imports<'s> {
    state: State<'s>,
    is_after_dot: bool,
    references: Vec<Reference>,
}

impl<'s> Imports<'s> {
    fn pass(&mut self, token: Token<'s>, line: u32) {
        self.state = match (self.state, token) {
            (_, Token::Word("import")) if !self.is_after_dot => State::Import,
            (_, Token::Word("export")) if !self.is_after_dot => State::Export,
            (State::Import, Token::Sign(b'(')) => State::Call,
            (State::Call, Token::Text(name)) => State::CallText(name, line),
            (State::CallText(name, line), Token::Sign(b')' | b',')) => self.take(name, line),
            (State::Import | State::From, Token::Text(name)) => self.take(name, line),
            (State::Clause, Token::Word("from")) => State::From,
            (State::Import, Token::Word(_) | Token::Sign(b'{' | b'*')) => State::Clause,
            (State::Export, Token::Sign(b'{' | b'*')) => State::Clause,
            (State::From, Token::Word(_) | Token::Sign(b'}' | b',')) => State::Clause,
            (State::Clause, Token::Word(_) | Token::Text(_) | Token::Sign(b'{' | b'}' | b',' | b'*')) => {
                State::Clause
            }
            _ => State::Outside,
        };
        self.is_after_dot = token == Token::Sign(b'.');
    }

    fn take(&mut self, name: &str, line: u32) -> State<'s> {
        if is_address(name) {
            self.references.push(Reference::new(Use::Load(ResourceKind::Script), name, line));
        }
        State::Outside
    }
}

struct Tokens<'s> {
    script: &'s str,
    at: usize,
    line: u32,
    /// Whether a slash at this point is a division.
    is_after_value: bool,
    /// For each open `${`, the number of open braces within it.
    templates: Vec<u32>,
    /// No regular expression begins before this offset.
    regex_from: usize,
}

impl<'s> Tokens<'s> {
    fn of(script: &'s str, line: u32) -> Self {
        Self { script, at: 0, line, is_after_value: false, templates: vec![], regex_from: 0 }
    }

    fn next(&mut self) -> Option<(Token<'s>, u32)> {
        self.skip_gaps();
        let (line, byte) = (self.line, self.byte(0)?);
        let token = match byte {
            b'"' | b'\'' => self.string(byte),
            b'`' => self.template(),
            b'/' if !self.is_after_value && self.at >= self.regex_from => self.regex(),
            byte if is_word(byte) => self.word(),
            sign => self.sign(sign),
        };
        Some((token, line))
    }

    fn byte(&self, ahead: usize) -> Option<u8> {
        self.script.as_bytes().get(self.at + ahead).copied()
    }

    fn step(&mut self) {
        self.line += u32::from(self.byte(0) == Some(b'\n'));
        self.at += 1;
    }

    /// Skips white space and comments.
    fn skip_gaps(&mut self) {
        while let Some(byte) = self.byte(0) {
            match (byte, self.byte(1)) {
                (b'/', Some(b'/')) => self.skip_past("\n"),
                (b'/', Some(b'*')) => self.skip_past("*/"),
                _ if byte.is_ascii_whitespace() => self.step(),
                _ => return,
            }
        }
    }

    fn skip_past(&mut self, end: &str) {
        let rest = &self.script[self.at..];
        // The end must not overlap the opening: `/*/` is not a whole comment.
        let skipped =
            rest.get(2..).and_then(|inner| inner.find(end)).map_or(rest.len(), |at| at + 2 + end.len());
        let breaks = rest[..skipped].bytes().filter(|byte| *byte == b'\n').count();
        self.line += u32::try_from(breaks).unwrap_or_default();
        self.at += skipped;
    }

    fn string(&mut self, quote: u8) -> Token<'s> {
        self.is_after_value = true;
        let start = self.at + 1;
        let mut is_plain = true;
        self.at = start;
        while let Some(byte) = self.byte(0) {
            match byte {
                b'\\' => {
                    is_plain = false;
                    self.step();
                }
                b'\n' => return Token::Other,
                byte if byte == quote => {
                    let text = &self.script[start..self.at];
                    self.at += 1;
                    return if is_plain { Token::Text(text) } else { Token::Other };
                }
                _ => {}
            }
            self.step();
        }
        Token::Other
    }

    /// A template up to its end or to its next `${`.
    fn template(&mut self) -> Token<'s> {
        self.at += 1;
        self.is_after_value = true;
        while let Some(byte) = self.byte(0) {
            match (byte, self.byte(1)) {
                (b'\\', _) => self.step(),
                (b'`', _) => {
                    self.at += 1;
                    return Token::Other;
                }
                (b'$', Some(b'{')) => {
                    self.at += 2;
                    self.templates.push(0);
                    self.is_after_value = false;
                    return Token::Other;
                }
                _ => {}
            }
            self.step();
        }
        Token::Other
    }

    fn regex(&mut self) -> Token<'s> {
        let (mut is_in_class, mut is_escaped) = (false, false);
        self.at += 1;
        let start = self.at;
        while let Some(byte) = self.byte(0).filter(|byte| *byte != b'\n') {
            self.at += 1;
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = true,
                b'[' => is_in_class = true,
                b']' => is_in_class = false,
                b'/' if !is_in_class => {
                    self.is_after_value = true;
                    return Token::Other;
                }
                _ => {}
            }
        }
        // It was a division after all. No part is searched for a regular expression twice.
        self.regex_from = self.at;
        self.at = start;
        Token::Other
    }

    fn word(&mut self) -> Token<'s> {
        let start = self.at;
        while self.byte(0).is_some_and(is_word) {
            self.at += 1;
        }
        let word = &self.script[start..self.at];
        self.is_after_value = !WORDS_BEFORE_REGEX.contains(&word);
        Token::Word(word)
    }

    fn sign(&mut self, sign: u8) -> Token<'s> {
        self.at += 1;
        self.is_after_value = matches!(sign, b')' | b']');
        match (sign, self.templates.last_mut()) {
            (b'{', Some(open)) => *open += 1,
            (b'}', Some(0)) => {
                self.templates.pop();
                // The template continues here as if it began again.
                self.at -= 1;
                return self.template();
            }
            (b'}', Some(open)) => *open -= 1,
            _ => {}
        }
        Token::Sign(sign)
    }
}

/// Letters of other scripts count as letters too, so that no character is split.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'#') || !byte.is_ascii()
}
