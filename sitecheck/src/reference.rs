//! References from one file to another.

use domain::ResourceKind;

/// A reference as it stands in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    pub text: String,
    pub line: u32,
    pub use_: Use,
}

/// What a browser does with the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// Opens it when a visitor follows the link.
    Link,
    Load(ResourceKind),
    /// Loads it. A target on another host is not checked.
    LoadOwn,
}

impl Reference {
    pub fn new(use_: Use, text: &str, line: u32) -> Self {
        Self { text: text.trim_matches(is_stripped).to_owned(), line, use_ }
    }

    /// Whether a script or template engine will replace parts of it.
    pub fn is_template(&self) -> bool {
        ["{{", "}}", "{%", "${", "<%"].iter().any(|mark| self.text.contains(mark))
    }

    /// The text without query, fragment and credentials, and of a limited length.
    pub fn shown(&self) -> String {
        const LENGTH_MAX: usize = 200;
        let text = self.text.split(['?', '#']).next().unwrap_or_default();
        let mut shown = match text.split_once("//").map(|(scheme, rest)| (scheme, rest.split_once('@'))) {
            Some((scheme, Some((user, rest)))) if !user.contains('/') => format!("{scheme}//{rest}"),
            _ => text.to_owned(),
        };
        if let Some((end, _)) = shown.char_indices().nth(LENGTH_MAX) {
            shown.truncate(end);
            shown.push('…');
        }
        shown
    }
}

/// Characters that browsers strip from both ends of a reference.
fn is_stripped(character: char) -> bool {
    character <= ' '
}

/// The addresses in a `srcset`.
pub fn addresses_in_set(set: &str) -> Vec<&str> {
    let is_space = |character: char| character.is_ascii_whitespace();
    let is_gap = |character: char| character.is_ascii_whitespace() || character == ',';
    let mut addresses = Vec::new();
    let mut rest = set.trim_start_matches(is_gap);
    while !rest.is_empty() {
        let (address, after) = rest.split_at(rest.find(is_space).unwrap_or(rest.len()));
        let bare = address.trim_end_matches(',');
        addresses.push(bare);
        let ends_here = bare.len() < address.len();
        let next = if ends_here { after } else { &after[after.find(',').unwrap_or(after.len())..] };
        rest = next.trim_start_matches(is_gap);
    }
    addresses
}
