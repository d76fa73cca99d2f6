//! JSX: elements in the script itself, for pages that compile them with Babel. This finds their extent and
//! returns their markup without computed parts.

/// Properties whose names differ from their attributes.
const RENAMED: [(&str, &str); 2] = [("className=", "class="), ("htmlFor=", "for=")];

/// The search for the end of an element stops here, because `<` may be an operator.
const JSX_BYTES_MAX: usize = 1 << 20;

/// The end of the element that begins at a position, if there is one.
pub(crate) fn end(bytes: &[u8], at: usize, lookahead_left: &mut usize) -> Option<usize> {
    let lookahead_max = JSX_BYTES_MAX.min(*lookahead_left);
    let inside = bytes.get(at..)?;
    let inside = inside.get(..lookahead_max).unwrap_or(inside);
    let mut reader = Reader { bytes: inside, at: 0, open: Vec::new(), out: None };
    let end = reader.run();
    if end.is_none() {
        *lookahead_left = lookahead_left.saturating_sub(inside.len());
    }
    end.map(|end| at + end)
}

/// The element as markup.
pub(crate) fn markup(source: &str) -> String {
    let mut reader = Reader { bytes: source.as_bytes(), at: 0, open: Vec::new(), out: Some(Vec::new()) };
    reader.run();
    String::from_utf8(reader.out.unwrap_or_default()).unwrap_or_default()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    /// Inside of a tag, between `<` and `>`.
    Tag { closes: bool, is_empty: bool },
    /// Between a tag and its end tag.
    Element,
    /// A computed part in a tag or between tags.
    Braces { in_tag: bool },
}

struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
    open: Vec<Open>,
    out: Option<Vec<u8>>,
}

impl Reader<'_> {
    fn byte(&self, offset: usize) -> u8 {
        self.bytes.get(self.at + offset).copied().unwrap_or(0)
    }

    fn keep(&mut self, byte: u8) {
        if let Some(out) = &mut self.out {
            out.push(byte);
        }
    }

    fn keep_all(&mut self, bytes: &[u8]) {
        if let Some(out) = &mut self.out {
            out.extend_from_slice(bytes);
        }
    }

    fn run(&mut self) -> Option<usize> {
        while self.at < self.bytes.len() {
            match self.open.last().copied() {
                Some(Open::Tag { closes, is_empty }) => self.in_tag(closes, is_empty),
                Some(Open::Braces { in_tag }) => self.in_braces(in_tag),
                Some(Open::Element) | None => self.between(),
            }
            if self.open.is_empty() {
                return Some(self.at);
            }
        }
        None
    }

    fn between(&mut self) {
        match self.byte(0) {
            b'<' => {
                let closes = self.byte(1) == b'/';
                self.keep(b'<');
                self.at += 1;
                if closes {
                    self.keep(b'/');
                    self.at += 1;
                }
                self.open.push(Open::Tag { closes, is_empty: false });
            }
            b'{' => {
                self.at += 1;
                if self.lone_literal(b"") {
                    return;
                }
                self.open.push(Open::Braces { in_tag: false });
                self.keep(b' ');
            }
            byte => {
                self.keep(byte);
                self.at += 1;
            }
        }
    }

    fn in_tag(&mut self, closes: bool, is_empty: bool) {
        let byte = self.byte(0);
        match byte {
            b'>' => {
                self.keep(b'>');
                self.at += 1;
                self.open.pop();
                if closes {
                    self.open.pop_if(|open| *open == Open::Element);
                } else if !is_empty {
                    self.open.push(Open::Element);
                }
                return;
            }
            b'"' | b'\'' => return self.quoted(byte),
            b'{' => {
                self.at += 1;
                if !self.lone_literal(b"\"") {
                    self.keep_all(b"\"\"");
                    self.open.push(Open::Braces { in_tag: true });
                }
                return;
            }
            _ => {}
        }
        let ends = byte == b'/' && self.byte(1) == b'>';
        if let Some(Open::Tag { is_empty, .. }) = self.open.last_mut() {
            *is_empty = ends;
        }
        self.at += 1;
        let rest = self.bytes.get(self.at - 1..).unwrap_or(&[]);
        let renamed = RENAMED.iter().find(|(name, _)| rest.starts_with(name.as_bytes()));
        if let Some((name, attribute)) = renamed {
            self.keep_all(attribute.as_bytes());
            self.at += name.len() - 1;
        } else {
            self.keep(byte);
        }
    }

    fn quoted(&mut self, quote: u8) {
        let rest = self.bytes.get(self.at + 1..).unwrap_or(&[]);
        let end = rest.iter().position(|&byte| byte == quote).unwrap_or(rest.len());
        let literal = self.bytes.get(self.at..self.at + end + 2).unwrap_or(&[]);
        self.keep_all(literal);
        self.at += end + 2;
    }

    /// `{"…"}`: a literal and nothing else.
    fn lone_literal(&mut self, quote: &[u8]) -> bool {
        let rest = self.bytes.get(self.at..).unwrap_or(&[]);
        let Some(&sign @ (b'"' | b'\'' | b'`')) = rest.first() else { return false };
        let inner = rest.get(1..).unwrap_or(&[]);
        let end = inner
            .iter()
            .take(LITERAL_BYTES_MAX)
            .position(|&byte| byte == sign || byte == b'$' || byte == b'\\');
        let Some(end) = end.filter(|&end| inner.get(end) == Some(&sign) && inner.get(end + 1) == Some(&b'}'))
        else {
            return false;
        };
        let literal = inner.get(..end).unwrap_or(&[]);
        if let Some(out) = &mut self.out {
            out.extend_from_slice(quote);
            let text = String::from_utf8_lossy(literal);
            let mut escaped = String::new();
            crate::script::encodings::escape(&text, &mut escaped);
            out.extend_from_slice(escaped.as_bytes());
            out.extend_from_slice(quote);
        }
        self.at += end + 3;
        true
    }

    /// In braces only elements count, and the syntax that is needed to find their ends.
    fn in_braces(&mut self, in_tag: bool) {
        let byte = self.byte(0);
        let follows_value = self.bytes.get(..self.at).and_then(last_sign).is_some_and(is_value_end);
        match byte {
            b'{' => self.open.push(Open::Braces { in_tag }),
            b'}' => {
                self.open.pop();
            }
            b'"' | b'\'' | b'`' => {
                let rest = self.bytes.get(self.at + 1..).unwrap_or(&[]);
                let end = rest.iter().take(LITERAL_BYTES_MAX).position(|&sign| sign == byte).unwrap_or(0);
                self.at += end + 1;
            }
            b'<' if !in_tag
                && !follows_value
                && (self.byte(1).is_ascii_alphabetic() || self.byte(1) == b'>') =>
            {
                return self.between();
            }
            _ => {}
        }
        self.at += 1;
    }
}

/// The length of a literal in a computed part.
const LITERAL_BYTES_MAX: usize = 2_000;
/// The number of spaces that are skipped to find the character before them.
const SPACES_MAX: usize = 64;

fn last_sign(before: &[u8]) -> Option<u8> {
    before.iter().rev().take(SPACES_MAX).copied().find(|byte| !byte.is_ascii_whitespace())
}

fn is_value_end(sign: u8) -> bool {
    sign.is_ascii_alphanumeric() || matches!(sign, b')' | b']' | b'_' | b'$' | b'"' | b'\'')
}
