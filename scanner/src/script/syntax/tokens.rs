//! Tokens. They contain a position in the source and no text.

/// Operators of more than one character, longest first where one begins another.
#[rustfmt::skip]
pub(super) const LONG: [(&str, TokenKind); 27] = [
    (">>>=", TokenKind::OtherAssign), ("...", TokenKind::Spread), ("===", TokenKind::Compare),
    ("!==", TokenKind::Compare), ("**=", TokenKind::OtherAssign), ("<<=", TokenKind::OtherAssign),
    (">>=", TokenKind::OtherAssign), ("||=", TokenKind::Assign), ("??=", TokenKind::Assign),
    ("&&=", TokenKind::Assign), (">>>", TokenKind::Arithmetic), ("=>", TokenKind::Arrow),
    ("==", TokenKind::Compare), ("!=", TokenKind::Compare), ("<=", TokenKind::Compare),
    (">=", TokenKind::Compare), ("+=", TokenKind::PlusAssign), ("++", TokenKind::Step),
    ("--", TokenKind::Step), ("||", TokenKind::Or), ("??", TokenKind::Or),
    ("&&", TokenKind::And), ("?.", TokenKind::Dot), ("**", TokenKind::Arithmetic),
    ("<<", TokenKind::Arithmetic), (">>", TokenKind::Arithmetic), ("=", TokenKind::Assign),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    Name,
    Number,
    Text,
    /// Literal text within a template.
    Chunk,
    TemplateOpen,
    TemplateClose,
    HoleOpen,
    HoleClose,
    Regex,
    /// An element in the script itself (JSX).
    Jsx,
    ParenOpen,
    ParenClose,
    SquareOpen,
    SquareClose,
    BraceOpen,
    BraceClose,
    Comma,
    Semicolon,
    Colon,
    Question,
    Dot,
    Spread,
    Arrow,
    Plus,
    PlusAssign,
    Assign,
    OtherAssign,
    /// `||` and `??`.
    Or,
    And,
    Compare,
    Arithmetic,
    Not,
    /// `++` and `--`.
    Step,
}

impl TokenKind {
    fn opens(self) -> bool {
        use TokenKind::{BraceOpen, HoleOpen, ParenOpen, SquareOpen, TemplateOpen};
        matches!(self, ParenOpen | SquareOpen | BraceOpen | HoleOpen | TemplateOpen)
    }

    pub(crate) fn closes(self) -> bool {
        self.closes_code() || self == TokenKind::TemplateClose
    }

    /// Whether it closes a block of code, unlike a template.
    pub(crate) fn closes_code(self) -> bool {
        use TokenKind::{BraceClose, HoleClose, ParenClose, SquareClose};
        matches!(self, ParenClose | SquareClose | BraceClose | HoleClose)
    }
}

/// Eight bytes, because ten megabytes of brackets yield as many tokens.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    start: u32,
    pub(crate) kind: TokenKind,
    size: [u8; 3],
}

impl Token {
    pub(crate) fn new(kind: TokenKind, start: usize, size: usize) -> Self {
        let [a, b, c, _] = u32::try_from(size).unwrap_or(0).to_le_bytes();
        Self { start: u32::try_from(start).unwrap_or(0), kind, size: [a, b, c] }
    }

    pub(crate) fn start(self) -> usize {
        self.start as usize
    }

    fn size(self) -> usize {
        let [a, b, c] = self.size;
        usize::from(a) | usize::from(b) << 8 | usize::from(c) << 16
    }

    /// Its text: a name, a number, or the inside of a literal as written.
    pub(crate) fn text(self, source: &str) -> &str {
        let start = self.start as usize;
        source.get(start..start + self.size()).unwrap_or("")
    }
}

/// The tokens of a script. Each bracket knows its partner.
#[derive(Debug, Default)]
pub(crate) struct Tokens<'s> {
    source: &'s str,
    list: Vec<Token>,
}

impl<'s> Tokens<'s> {
    pub(crate) fn new(source: &'s str, list: Vec<Token>) -> Self {
        Self { source, list }
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn get(&self, at: usize) -> Option<Token> {
        self.list.get(at).copied()
    }

    pub(crate) fn kind(&self, at: usize) -> Option<TokenKind> {
        self.list.get(at).map(|token| token.kind)
    }

    pub(crate) fn text(&self, token: Token) -> &'s str {
        token.text(self.source)
    }

    /// The first character of an operator.
    pub(crate) fn operator(&self, token: Token) -> u8 {
        self.source.as_bytes().get(token.start()).copied().unwrap_or(0)
    }

    pub(crate) fn name_at(&self, at: usize) -> Option<Token> {
        self.get(at).filter(|token| token.kind == TokenKind::Name)
    }

    /// Whether one of these words is at a position.
    pub(crate) fn is_word_at(&self, at: usize, words: &[&str]) -> bool {
        self.name_at(at).is_some_and(|token| words.contains(&self.text(token)))
    }

    pub(crate) fn is_after(&self, at: usize, kind: TokenKind) -> bool {
        at.checked_sub(1).and_then(|before| self.kind(before)) == Some(kind)
    }

    /// The bracket that closes (or opens) the one at this position.
    pub(crate) fn partner(&self, at: usize) -> Option<usize> {
        let token = self.get(at)?;
        let distance = Some(token.size()).filter(|&distance| distance > 0)?;
        if token.kind.opens() {
            at.checked_add(distance)
        } else if token.kind.closes() {
            at.checked_sub(distance)
        } else {
            None
        }
    }
}
