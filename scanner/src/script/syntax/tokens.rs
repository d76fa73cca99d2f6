//! What a script is made of. Tokens say where they lie and hold no text of their own.

/// Operators of more than one character, longest first where one begins another.
pub(crate) const LONG: [(&str, Kind); 27] = [
    (">>>=", Kind::OtherAssign),
    ("...", Kind::Spread),
    ("===", Kind::Compare),
    ("!==", Kind::Compare),
    ("**=", Kind::OtherAssign),
    ("<<=", Kind::OtherAssign),
    (">>=", Kind::OtherAssign),
    ("||=", Kind::Assign),
    ("??=", Kind::Assign),
    ("&&=", Kind::Assign),
    (">>>", Kind::Arithmetic),
    ("=>", Kind::Arrow),
    ("==", Kind::Compare),
    ("!=", Kind::Compare),
    ("<=", Kind::Compare),
    (">=", Kind::Compare),
    ("+=", Kind::PlusAssign),
    ("++", Kind::Step),
    ("--", Kind::Step),
    ("||", Kind::Or),
    ("??", Kind::Or),
    ("&&", Kind::And),
    ("?.", Kind::Dot),
    ("**", Kind::Arithmetic),
    ("<<", Kind::Arithmetic),
    (">>", Kind::Arithmetic),
    ("=", Kind::Assign),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
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
    /// An element written in the script itself, as Babel takes it.
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

/// Eight bytes, because ten megabytes of brackets are as many tokens.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    start: u32,
    pub(crate) kind: Kind,
    size: [u8; 3],
}

impl Token {
    pub(crate) fn new(kind: Kind, start: usize, size: usize) -> Self {
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

    /// What it says: a name, a number, the inside of a literal as written.
    pub(crate) fn text(self, source: &str) -> &str {
        let start = self.start as usize;
        source.get(start..start + self.size()).unwrap_or("")
    }

    /// The first character of an operator.
    pub(crate) fn operator(self, source: &str) -> u8 {
        source.as_bytes().get(self.start as usize).copied().unwrap_or(0)
    }
}

/// The tokens of a script. Each bracket knows its partner.
#[derive(Debug, Default)]
pub(crate) struct Tokens {
    list: Vec<Token>,
}

impl Tokens {
    pub(crate) fn new(list: Vec<Token>) -> Self {
        Self { list }
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn get(&self, at: usize) -> Option<Token> {
        self.list.get(at).copied()
    }

    pub(crate) fn kind(&self, at: usize) -> Option<Kind> {
        self.list.get(at).map(|token| token.kind)
    }

    /// The bracket that closes (or opens) the one at a place.
    pub(crate) fn partner(&self, at: usize) -> Option<usize> {
        let token = self.get(at)?;
        let distance = Some(token.size()).filter(|&distance| distance > 0)?;
        match token.kind {
            Kind::ParenOpen | Kind::SquareOpen | Kind::BraceOpen | Kind::HoleOpen | Kind::TemplateOpen => {
                at.checked_add(distance)
            }
            Kind::ParenClose
            | Kind::SquareClose
            | Kind::BraceClose
            | Kind::HoleClose
            | Kind::TemplateClose => at.checked_sub(distance),
            _ => None,
        }
    }
}
