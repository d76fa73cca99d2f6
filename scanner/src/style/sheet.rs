//! Splits style sheets into rules in one pass without recursion, whatever unclosed brackets they contain. The
//! content of a rule stays text.

use super::media;

/// Rules nested deeper are ignored.
const DEPTH_MAX: usize = 32;
/// The total length of a rule's selectors and those of the rules around it.
const SELECTORS_BYTES_MAX: usize = 2000;
const SELECTORS_AROUND_BYTES_MAX: usize = 300;
/// Further rules of a sheet are ignored. What they would hide counts as visible.
const RULES_MAX: usize = 200_000;
/// The limit for all rules of a sheet, because nested rules repeat the selectors around them.
const SHEET_SELECTORS_BYTES_MAX: usize = 4 << 20;

/// A rule with its selectors and declarations.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Rule<'a> {
    pub(super) selectors: String,
    pub(super) declarations: Vec<&'a str>,
}

/// The owner of an open brace.
enum Block<'a> {
    Rule(Rule<'a>),
    /// A condition that holds, with the selectors of the rule around it and the declarations directly in it.
    Group(Rule<'a>),
    Nothing,
}

/// The rules of a sheet that apply to a desktop screen, in order, and the addresses that it imports.
pub(super) fn read(sheet: &str) -> (Vec<Rule<'_>>, Vec<String>) {
    let mut reader = Reader {
        rules: Vec::new(),
        imports: Vec::new(),
        open: Vec::new(),
        too_deep: 0,
        selectors_bytes_left: SHEET_SELECTORS_BYTES_MAX,
    };
    let mut start = 0;
    for (at, end) in Ends::of(sheet) {
        let item = sheet.get(start..at).unwrap_or_default();
        match end {
            End::Semicolon => reader.statement(item),
            End::Opens => reader.open(item),
            // At the top level a closing brace closes nothing and invalidates the following rule.
            End::Closes if reader.open.is_empty() => continue,
            End::Closes => reader.close(item),
        }
        start = at + 1;
    }
    reader.statement(sheet.get(start..).unwrap_or_default());
    reader.too_deep = 0;
    while !reader.open.is_empty() {
        reader.close("");
    }
    (reader.rules, reader.imports)
}

/// The declarations of a `style` attribute.
pub(super) fn declarations(style: &str) -> Vec<&str> {
    let mut declarations = Vec::new();
    let mut start = 0;
    for (at, end) in Ends::of(style) {
        if let End::Semicolon = end {
            declarations.extend(style.get(start..at));
            start = at + 1;
        }
    }
    declarations.extend(style.get(start..));
    declarations
}

struct Reader<'a> {
    rules: Vec<Rule<'a>>,
    imports: Vec<String>,
    open: Vec<Block<'a>>,
    /// The number of open braces beyond the limit.
    too_deep: usize,
    selectors_bytes_left: usize,
}

impl<'a> Reader<'a> {
    fn statement(&mut self, item: &'a str) {
        if self.too_deep > 0 {
            return;
        }
        let trimmed = start_of(item);
        if trimmed.starts_with('@') {
            if self.open.is_empty() {
                self.imports.extend(import(trimmed));
            }
            return;
        }
        if let Some(Block::Rule(rule) | Block::Group(rule)) = self.open.last_mut()
            && trimmed.contains(':')
        {
            rule.declarations.push(trimmed);
        }
    }

    fn open(&mut self, prelude: &'a str) {
        if self.open.len() >= DEPTH_MAX {
            self.too_deep += 1;
            return;
        }
        let block = self.block(start_of(prelude)).unwrap_or(Block::Nothing);
        self.open.push(block);
    }

    fn block(&self, prelude: &str) -> Option<Block<'a>> {
        let around = match self.open.last() {
            None => "",
            Some(Block::Rule(rule) | Block::Group(rule)) => &rule.selectors,
            Some(Block::Nothing) => return None,
        };
        let rule = |selectors| Rule { selectors, declarations: Vec::new() };
        if let Some(at_rule) = prelude.strip_prefix('@') {
            return media::holds(at_rule).then(|| Block::Group(rule(around.to_owned())));
        }
        let copies = prelude.bytes().filter(|byte| matches!(byte, b'&' | b',')).count() + 1;
        if around.len() > SELECTORS_AROUND_BYTES_MAX
            || prelude.len() + copies * around.len() > SELECTORS_BYTES_MAX
        {
            return None;
        }
        let selectors = if around.is_empty() { prelude.to_owned() } else { nested(around, prelude) };
        Some(Block::Rule(rule(selectors)))
    }

    fn close(&mut self, item: &'a str) {
        if self.too_deep > 0 {
            self.too_deep -= 1;
            return;
        }
        self.statement(item);
        if let Some(Block::Rule(rule) | Block::Group(rule)) = self.open.pop()
            && !rule.declarations.is_empty()
            && !rule.selectors.is_empty()
            && rule.selectors.len() <= self.selectors_bytes_left
            && self.rules.len() < RULES_MAX
        {
            self.selectors_bytes_left -= rule.selectors.len();
            self.rules.push(rule);
        }
    }
}

/// The selectors of a nested rule. `&` stands for the outer selector.
fn nested(around: &str, inner: &str) -> String {
    let around = if around.contains(',') { format!(":is({around})") } else { around.to_owned() };
    if inner.contains('&') {
        return inner.replace('&', &around);
    }
    let each = inner.split(',').map(|selector| format!("{around} {}", selector.trim()));
    each.collect::<Vec<_>>().join(", ")
}

/// Strips white space, comments and `<!--` marks from the start.
fn start_of(item: &str) -> &str {
    let mut rest = item.trim();
    loop {
        let next = match rest.strip_prefix("/*") {
            Some(comment) => comment.split_once("*/").map_or("", |(_, rest)| rest),
            None => rest.strip_prefix("<!--").or_else(|| rest.strip_prefix("-->")).unwrap_or(rest),
        };
        if next.len() == rest.len() {
            return rest;
        }
        rest = next.trim_start();
    }
}

fn import(statement: &str) -> Option<String> {
    let keyword = statement.get(..7).filter(|keyword| keyword.eq_ignore_ascii_case("@import"))?;
    let address = statement.get(keyword.len()..)?.trim_start();
    let is_function = address.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("url("));
    let inside = if is_function { address.get(4..)?.trim_start() } else { address };
    let address = match inside.chars().next()? {
        quote @ ('"' | '\'') => inside.get(1..)?.split(quote).next()?,
        _ if is_function => inside.split(')').next()?.trim(),
        _ => return None,
    };
    Some(address.to_owned())
}

/// What ends a declaration, a statement or a prelude.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Semicolon,
    Opens,
    Closes,
}

/// The ends in a sheet, outside of strings, comments, addresses and brackets.
struct Ends<'a> {
    text: &'a str,
    at: usize,
    /// The brackets that are open, innermost last. A brace inside of another bracket counts as one.
    brackets: Vec<u8>,
}

impl<'a> Ends<'a> {
    fn of(text: &'a str) -> Self {
        Self { text, at: 0, brackets: Vec::new() }
    }

    /// The length of the token that begins here and contains no end.
    fn length_of(&self, byte: u8) -> usize {
        let bytes = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let past =
            |offset: Option<usize>, length: usize| offset.map_or(bytes.len(), |offset| offset + length);
        match byte {
            b'\\' => 2,
            b'/' if bytes.starts_with(b"/*") => {
                past(self.text.get(self.at + 2..).and_then(|rest| rest.find("*/")), 4)
            }
            b'"' | b'\'' => end_of_string(bytes, byte),
            b'(' if is_bare_address(self.text, self.at) => {
                past(bytes.iter().position(|byte| *byte == b')'), 1)
            }
            _ => 1,
        }
    }
}

impl Iterator for Ends<'_> {
    type Item = (usize, End);

    fn next(&mut self) -> Option<(usize, End)> {
        loop {
            let at = self.at;
            let byte = *self.text.as_bytes().get(at)?;
            let length = self.length_of(byte);
            self.at = at + length;
            if length > 1 {
                continue;
            }
            match byte {
                b')' | b']' | b'}' if self.brackets.last() == Some(&byte) => {
                    self.brackets.pop();
                }
                b'(' => self.brackets.push(b')'),
                b'[' => self.brackets.push(b']'),
                b'{' if !self.brackets.is_empty() => self.brackets.push(b'}'),
                b'{' => return Some((at, End::Opens)),
                b'}' if self.brackets.is_empty() => return Some((at, End::Closes)),
                b';' if self.brackets.is_empty() => return Some((at, End::Semicolon)),
                _ => {}
            }
        }
    }
}

/// A string ends at its quote, or before the end of its line.
fn end_of_string(bytes: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'\n' => return at,
            byte if *byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Whether the bracket here opens an unquoted `url(`, in which no character has a meaning.
fn is_bare_address(text: &str, at: usize) -> bool {
    let bytes = text.as_bytes();
    let name = bytes.get(at.saturating_sub(3)..at).unwrap_or_default();
    let inside = bytes.get(at + 1..).unwrap_or_default();
    name.eq_ignore_ascii_case(b"url")
        && !matches!(inside.iter().find(|byte| !byte.is_ascii_whitespace()), Some(b'"' | b'\''))
}
