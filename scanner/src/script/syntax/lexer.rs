//! Splits JavaScript into tokens, in one pass and without recursion. An error must never hide the rest of a
//! file: invalid input is skipped one character at a time.

use super::tokens::{LONG, Token, TokenKind, Tokens};

/// Longer sources are cut. No published file is as long.
const SOURCE_BYTES_MAX: usize = (1 << 24) - 1;
/// The tokens of one script, which take memory. Ten megabytes of minified script have fewer. The lexer
/// returns one more if there are more.
pub(crate) const TOKENS_MAX: usize = 5_000_000;
/// The depth at which a closing bracket searches for its partner when the nesting is broken.
const BROKEN_NESTING_MAX: usize = 8;
/// All searches for the ends of unterminated literals together cover this many times the source.
const FAILED_LOOKAHEAD_MAX: usize = 4;

pub(crate) fn lex(source: &str) -> Tokens<'_> {
    let mut end = source.len().min(SOURCE_BYTES_MAX);
    while !source.is_char_boundary(end) {
        end -= 1;
    }
    let source = source.get(..end).unwrap_or("");
    let mut lexer = Lexer {
        source,
        bytes: source.as_bytes(),
        at: 0,
        tokens: Vec::new(),
        open: Vec::new(),
        may_start_line: true,
        closed_block: false,
        lookahead_left: end.saturating_mul(FAILED_LOOKAHEAD_MAX),
    };
    if source.starts_with("#!") {
        lexer.skip_line();
    }
    while lexer.at < lexer.bytes.len() && lexer.tokens.len() <= TOKENS_MAX {
        lexer.step();
    }
    Tokens::new(source, lexer.tokens)
}

/// An open bracket, and whether a statement follows its end, where a slash begins a regular expression.
struct Open {
    token: usize,
    kind: TokenKind,
    is_before_statement: bool,
}

struct Lexer<'s> {
    source: &'s str,
    bytes: &'s [u8],
    at: usize,
    tokens: Vec<Token>,
    open: Vec<Open>,
    may_start_line: bool,
    closed_block: bool,
    lookahead_left: usize,
}

impl Lexer<'_> {
    fn byte(&self, offset: usize) -> u8 {
        self.bytes.get(self.at + offset).copied().unwrap_or(0)
    }

    fn rest_starts_with(&self, what: &str) -> bool {
        self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with(what.as_bytes()))
    }

    fn push(&mut self, kind: TokenKind, start: usize, size: usize) {
        self.tokens.push(Token::new(kind, start, size));
        self.may_start_line = false;
    }

    fn operator(&mut self, kind: TokenKind, size: usize) {
        self.push(kind, self.at, size);
        self.at += size;
    }

    fn step(&mut self) {
        match self.byte(0) {
            b'\n' | b'\r' => {
                self.may_start_line = true;
                self.at += 1;
            }
            byte if byte <= b' ' || byte == 0x7f => self.at += 1,
            b'/' if self.byte(1) == b'/' => self.skip_line(),
            b'/' if self.byte(1) == b'*' => self.skip_comment(),
            b'<' if self.rest_starts_with("<!--") => self.skip_line(),
            b'-' if self.may_start_line && self.rest_starts_with("-->") => self.skip_line(),
            b'/' => self.slash(),
            quote @ (b'"' | b'\'') => self.quoted(quote),
            b'`' => {
                self.open_bracket(TokenKind::TemplateOpen, 1);
                self.template();
            }
            b'(' => self.open_bracket(TokenKind::ParenOpen, 1),
            b'[' => self.open_bracket(TokenKind::SquareOpen, 1),
            b'{' => self.open_bracket(TokenKind::BraceOpen, 1),
            b')' => self.close_bracket(&[TokenKind::ParenOpen], TokenKind::ParenClose),
            b']' => self.close_bracket(&[TokenKind::SquareOpen], TokenKind::SquareClose),
            b'}' => self.close_brace(),
            b'0'..=b'9' => self.number(),
            b'.' if self.byte(1).is_ascii_digit() => self.number(),
            byte if byte.is_ascii_alphanumeric()
                || matches!(byte, b'_' | b'$' | b'\\' | b'#')
                || byte >= 0x80 =>
            {
                self.name();
            }
            b'<' if self.expects_operand()
                && (self.byte(1).is_ascii_alphabetic() || self.byte(1) == b'>') =>
            {
                self.jsx();
            }
            _ => self.punctuation(),
        }
    }

    fn skip_line(&mut self) {
        let rest = self.bytes.get(self.at..).unwrap_or(&[]);
        self.at += rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len());
    }

    fn skip_comment(&mut self) {
        let from = self.at + 2;
        let end = self.source.get(from..).and_then(|rest| rest.find("*/"));
        self.at = end.map_or(self.bytes.len(), |end| from + end + 2);
    }

    fn name(&mut self) {
        let start = self.at;
        self.at += 1;
        while self.at < self.bytes.len() {
            let byte = self.byte(0);
            match byte {
                b'{' if self.bytes.get(start..self.at).is_some_and(|name| name.ends_with(b"\\u")) => {}
                b'}' if self.tail_is_escape(start) => {}
                _ if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'\\') || byte >= 0x80 => {}
                _ => break,
            }
            self.at += 1;
        }
        let text = self.source.get(start..self.at).unwrap_or("");
        let is_space = |c: char| c.is_whitespace() || c == '\u{feff}';
        if text.is_ascii() || !text.contains(is_space) {
            self.push(TokenKind::Name, start, self.at - start);
            return;
        }
        // Non-ASCII spaces separate names as well.
        let mut from = start;
        for part in text.split(is_space) {
            if !part.is_empty() {
                self.push(TokenKind::Name, from, part.len());
            }
            from += part.len();
            from += self.source.get(from..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        }
    }

    fn tail_is_escape(&self, start: usize) -> bool {
        let from = self.at.saturating_sub(9).max(start);
        let tail = self.bytes.get(from..self.at).unwrap_or(&[]);
        tail.iter().rposition(|&byte| byte == b'{').is_some_and(|brace| brace >= 2)
    }

    fn number(&mut self) {
        let start = self.at;
        while self.byte(0).is_ascii_alphanumeric() || matches!(self.byte(0), b'.' | b'_') {
            let is_hex = matches!(self.bytes.get(start + 1), Some(b'x' | b'X'));
            let has_exponent = matches!(self.byte(0), b'e' | b'E') && matches!(self.byte(1), b'+' | b'-');
            self.at += 1 + usize::from(has_exponent && !is_hex);
            // `1..toString()` and `[...]` after a number are not part of it.
            if self.byte(0) == b'.' && self.byte(1) == b'.' {
                break;
            }
        }
        self.at = self.at.min(self.bytes.len());
        self.push(TokenKind::Number, start, self.at - start);
    }

    /// The end of a literal that must end on its line, as long as the allowance for failed searches lasts.
    fn end_on_line(&mut self, is_end: impl Fn(u8, bool) -> bool, has_classes: bool) -> Option<usize> {
        if self.lookahead_left == 0 {
            return None;
        }
        let (mut at, mut in_class) = (self.at + 1, false);
        while let Some(&byte) = self.bytes.get(at) {
            match byte {
                b'\\' if !has_classes && self.bytes.get(at + 1) == Some(&b'\r') => {
                    at += 1 + usize::from(self.bytes.get(at + 2) == Some(&b'\n'));
                }
                b'\\' => at += 1,
                b'\n' | b'\r' => break,
                _ if is_end(byte, in_class) => return Some(at),
                b'[' if has_classes => in_class = true,
                b']' if has_classes => in_class = false,
                _ => {}
            }
            at += 1;
        }
        self.lookahead_left = self.lookahead_left.saturating_sub(at - self.at);
        None
    }

    fn quoted(&mut self, quote: u8) {
        let Some(end) = self.end_on_line(|byte, _| byte == quote, false) else {
            self.at += 1;
            return;
        };
        self.push(TokenKind::Text, self.at + 1, end - self.at - 1);
        self.at = end + 1;
    }

    fn slash(&mut self) {
        let end = if self.expects_operand() {
            self.end_on_line(|byte, in_class| byte == b'/' && !in_class, true)
        } else {
            None
        };
        let Some(end) = end else {
            return self.operator_or_assignment(TokenKind::Arithmetic);
        };
        let start = self.at;
        self.at = end + 1;
        while self.byte(0).is_ascii_alphabetic() {
            self.at += 1;
        }
        self.push(TokenKind::Regex, start, self.at - start);
    }

    /// The text of a template up to its end or its next hole.
    fn template(&mut self) {
        let start = self.at;
        loop {
            match self.byte(0) {
                _ if self.at >= self.bytes.len() => break,
                b'\\' => self.at += 1,
                b'`' => break,
                b'$' if self.byte(1) == b'{' => break,
                _ => {}
            }
            self.at += 1;
        }
        let end = self.at.min(self.bytes.len());
        self.at = end;
        if end > start {
            self.push(TokenKind::Chunk, start, end - start);
        }
        match self.byte(0) {
            b'`' => self.close_bracket(&[TokenKind::TemplateOpen], TokenKind::TemplateClose),
            b'$' => self.open_bracket(TokenKind::HoleOpen, 2),
            _ => {}
        }
    }

    fn open_bracket(&mut self, kind: TokenKind, size: usize) {
        let is_before_statement = match kind {
            TokenKind::ParenOpen => matches!(self.last_name(), Some("if" | "while" | "for" | "with")),
            TokenKind::BraceOpen => !self.expects_operand() || self.begins_statement(),
            _ => false,
        };
        self.open.push(Open { token: self.tokens.len(), kind, is_before_statement });
        self.push(kind, self.at, 0);
        self.at += size;
    }

    fn close_brace(&mut self) {
        let found = self.open.iter().rev().take(BROKEN_NESTING_MAX);
        let partner = found
            .map(|open| open.kind)
            .find(|kind| matches!(kind, TokenKind::BraceOpen | TokenKind::HoleOpen));
        if partner == Some(TokenKind::HoleOpen) {
            self.close_bracket(&[TokenKind::HoleOpen], TokenKind::HoleClose);
            self.template();
        } else {
            self.close_bracket(&[TokenKind::BraceOpen], TokenKind::BraceClose);
        }
    }

    fn close_bracket(&mut self, opens: &[TokenKind], kind: TokenKind) {
        let depth =
            self.open.iter().rev().take(BROKEN_NESTING_MAX).position(|open| opens.contains(&open.kind));
        let Some(depth) = depth else {
            self.at += 1;
            return;
        };
        self.open.truncate(self.open.len() - depth);
        let Some(open) = self.open.pop() else { return };
        let distance = self.tokens.len() - open.token;
        if let Some(token) = self.tokens.get_mut(open.token) {
            *token = Token::new(token.kind, token.start(), distance);
        }
        self.push(kind, self.at, distance);
        self.closed_block = open.is_before_statement;
        self.at += 1;
    }

    fn last_name(&self) -> Option<&str> {
        self.tokens.last().filter(|token| token.kind == TokenKind::Name).map(|token| token.text(self.source))
    }

    /// Whether a value may come next, by the token before.
    fn expects_operand(&self) -> bool {
        let Some(last) = self.tokens.last() else { return true };
        match last.kind {
            TokenKind::Name => BEFORE_OPERAND.contains(&last.text(self.source)) && !self.is_after_dot(),
            TokenKind::ParenClose | TokenKind::BraceClose => self.closed_block,
            TokenKind::Number
            | TokenKind::Text
            | TokenKind::TemplateClose
            | TokenKind::Regex
            | TokenKind::Jsx => false,
            TokenKind::SquareClose | TokenKind::Step => false,
            _ => true,
        }
    }

    fn is_after_dot(&self) -> bool {
        let before = self.tokens.len().checked_sub(2).and_then(|at| self.tokens.get(at));
        before.is_some_and(|token| token.kind == TokenKind::Dot)
    }

    fn begins_statement(&self) -> bool {
        match self.tokens.last() {
            None => true,
            Some(last) => match last.kind {
                TokenKind::Semicolon
                | TokenKind::BraceOpen
                | TokenKind::BraceClose
                | TokenKind::Arrow
                | TokenKind::ParenClose => true,
                TokenKind::Name => matches!(last.text(self.source), "else" | "do" | "try" | "finally"),
                _ => false,
            },
        }
    }

    fn jsx(&mut self) {
        match super::jsx::end(self.bytes, self.at, &mut self.lookahead_left) {
            Some(end) => {
                self.push(TokenKind::Jsx, self.at, end - self.at);
                self.at = end;
            }
            None => self.operator(TokenKind::Compare, 1),
        }
    }

    fn operator_or_assignment(&mut self, kind: TokenKind) {
        if self.byte(1) == b'=' { self.operator(TokenKind::OtherAssign, 2) } else { self.operator(kind, 1) }
    }

    fn punctuation(&mut self) {
        let long = LONG.iter().find(|(sign, _)| self.rest_starts_with(sign));
        match long {
            Some((sign, _)) if *sign == "?." && self.byte(2).is_ascii_digit() => {
                self.operator(TokenKind::Question, 1)
            }
            Some((sign, kind)) => self.operator(*kind, sign.len()),
            None => match self.byte(0) {
                b',' => self.operator(TokenKind::Comma, 1),
                b';' => self.operator(TokenKind::Semicolon, 1),
                b':' => self.operator(TokenKind::Colon, 1),
                b'?' => self.operator(TokenKind::Question, 1),
                b'.' => self.operator(TokenKind::Dot, 1),
                b'+' => self.operator(TokenKind::Plus, 1),
                b'<' | b'>' => self.operator(TokenKind::Compare, 1),
                b'!' => self.operator(TokenKind::Not, 1),
                b'-' | b'*' | b'%' | b'^' | b'&' | b'|' | b'~' => {
                    self.operator_or_assignment(TokenKind::Arithmetic)
                }
                _ => self.at += 1,
            },
        }
    }
}

/// Words that are followed by a value and not by an operator.
#[rustfmt::skip]
const BEFORE_OPERAND: [&str; 16] = [
    "return", "typeof", "case", "do", "else", "in", "instanceof", "new", "delete", "void", "throw", "of", "yield", "await",
    "default", "extends",
];
