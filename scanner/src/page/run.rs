//! Collects text up to the next block boundary.

use super::{Block, Region, Role, Spot};

/// The maximum text of one block, far more than the rules read.
const BLOCK_CHARS_MAX: usize = 4_000;
/// The maximum length of a word whose letters are in separate elements.
const SCRAPS_BYTES_MAX: usize = 80;

#[derive(Default)]
pub(super) struct Run {
    text: String,
    chars: usize,
    /// The number of its characters that are in links.
    link_chars: usize,
    pub(super) region: Option<Region>,
    /// Whether an element began or ended since the last text.
    is_at_edge: bool,
    is_at_line_end: bool,
}

/// How the page formats a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SetAs {
    Text,
    /// Preformatted, in a fixed-width font.
    Code,
}

impl Run {
    /// Records that an inline element begins or ends here. An element may split a word. Adjacent names in
    /// separate elements (`BankAccounts`) are recognized by their capitals.
    pub(super) fn edge(&mut self) {
        self.is_at_edge = true;
    }

    pub(super) fn end_line(&mut self) {
        self.is_at_line_end = true;
    }

    /// Whether a text begins a new block: after the end of a line, unless it continues a sentence.
    pub(super) fn is_ended_by(&self, text: &str) -> bool {
        let goes_on = text.trim_start().starts_with(char::is_lowercase)
            && self.text.trim_end().ends_with(|one: char| one.is_alphanumeric() || one == ',');
        self.is_at_line_end && !text.trim().is_empty() && !goes_on
    }

    pub(super) fn push(&mut self, text: &str) {
        let ends_small = self.text.chars().next_back().is_some_and(char::is_lowercase);
        let is_new_word = ends_small && text.starts_with(char::is_uppercase);
        let is_at_edge = std::mem::take(&mut self.is_at_edge);
        if std::mem::take(&mut self.is_at_line_end) || (is_at_edge && is_new_word) {
            self.take(" ");
        }
        self.take(text);
    }

    fn take(&mut self, text: &str) {
        let chars_left = BLOCK_CHARS_MAX.saturating_sub(self.chars);
        if text.len() <= chars_left {
            self.text.push_str(text);
            self.chars += text.chars().count();
        } else {
            self.text.extend(text.chars().take(chars_left));
            self.chars += text.chars().take(chars_left).count();
        }
    }

    pub(super) fn push_link(&mut self, text: &str) {
        self.push(text);
        self.link_chars += letters(text);
    }

    /// Whether it is a code sample, which is no instruction to the visitor.
    pub(super) fn is_sample(&self, set_as: SetAs) -> bool {
        has_end_tag(&self.text) || (set_as == SetAs::Code && looks_like_code(&self.text))
    }

    pub(super) fn is_link(&self) -> bool {
        self.link_chars > 0 && self.link_chars >= letters(&self.text)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Ends the run and begins the next one in the same region. A run of only white space is no block.
    pub(super) fn end(&mut self, role: Role, spot: Spot) -> Option<Block> {
        let region = self.region;
        let Run { text, .. } = std::mem::replace(self, Run { region, ..Run::default() });
        (!text.trim().is_empty()).then(|| Block::new(role, Spot { region, ..spot }, text))
    }
}

impl Block {
    /// Joins letters that are each in a box of their own to the word that they form.
    pub(super) fn take_scrap(&mut self, scrap: &Block) -> bool {
        let fits = self.raw().len() <= SCRAPS_BYTES_MAX
            && scrap.raw().trim().chars().nth(2).is_none()
            && (self.role, self.spot) == (Role::Plain, scrap.spot)
            && is_word(scrap.raw())
            && is_word(self.raw());
        if fits {
            let word = format!("{}{}", self.raw().trim(), scrap.raw().trim());
            *self = Block::new(self.role, self.spot, word);
        }
        fits
    }
}

fn is_word(text: &str) -> bool {
    !text.trim().is_empty() && text.trim().chars().all(char::is_alphabetic)
}

fn letters(text: &str) -> usize {
    text.chars().filter(|one| !one.is_whitespace()).count()
}

fn has_end_tag(text: &str) -> bool {
    text.match_indices("</")
        .any(|(at, mark)| text[at + mark.len()..].starts_with(|one: char| one.is_ascii_alphabetic()))
}

fn looks_like_code(text: &str) -> bool {
    text.contains(['<', '{', '}', ';', '=', '$', '#']) || text.contains("//")
}
