//! A page as a visitor sees it: its fields and texts in reading order.

mod context;
mod field;
mod flow;
mod label;
mod raised;
mod reader;
mod run;
mod written;

use std::cell::OnceCell;

pub(crate) use field::{Field, Kind};
pub(crate) use flow::Flow;
pub(crate) use reader::{Around, read};
pub(crate) use written::{read_json, read_source, read_text};

use crate::words::Text;

/// A part of a page that was read in one go: a document with its frames, or the output of a script.
#[derive(Default)]
pub(crate) struct Part {
    /// The number of its source file.
    pub(crate) file: usize,
    /// Whether a script writes it. The order of its contents may differ from that on the page.
    pub(crate) is_written: bool,
    pub(crate) titles: Vec<String>,
    pub(crate) blocks: Vec<Block>,
    /// Tooltips and texts for screen readers. They can name things but not ask for them.
    pub(crate) tips: Vec<Block>,
    pub(crate) fields: Vec<Field>,
}

/// Everything else about the page, and what its scripts can do to it.
#[derive(Default)]
pub(crate) struct Reading {
    pub(crate) parts: Vec<Part>,
    /// Addresses, as written, of files that are shown or run with this page.
    pub(crate) embedded: Vec<String>,
    pub(crate) reveals: Reveals,
    pub(crate) flow: Flow,
}

/// Which hidden content can become visible.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reveals {
    /// Elements, by a script that changes the page, or by a style that reacts to the visitor.
    pub(crate) elements: bool,
    /// Templates, by a script that copies them.
    pub(crate) templates: bool,
}

impl Region {
    /// A region of hidden elements that is not a template.
    fn of_elements(number: u32) -> Self {
        Self { number, is_template: false }
    }
}

impl Reveals {
    pub(crate) fn join(&mut self, more: Reveals) {
        self.elements |= more.elements;
        self.templates |= more.templates;
    }

    pub(crate) fn may_show(self, region: Option<Region>) -> bool {
        region.is_none_or(|region| if region.is_template { self.templates } else { self.elements })
    }
}

impl Reading {
    /// Adds another reading of the same page, or of more of it.
    pub(crate) fn join(&mut self, more: Reading) {
        self.parts.extend(more.parts);
        self.embedded.extend(more.embedded);
        self.reveals.join(more.reveals);
        self.flow.join(more.flow);
    }
}

/// The memory of a block apart from its text.
const BLOCK_BYTES: usize = 200;

/// A separate text: a paragraph, a heading, a cell, the label of a button.
pub(crate) struct Block {
    pub(crate) role: Role,
    pub(crate) spot: Spot,
    raw: String,
    words: usize,
    text: OnceCell<Box<Text>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Plain,
    Heading,
    Button,
    /// It contains only a link.
    Link,
    /// An option next to a checkbox or a radio button.
    Choice,
    /// A code sample, which is shown and is no instruction to the visitor.
    Code,
}

/// The form of a field or a text. Everything outside of forms has the same value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Form {
    None,
    Numbered(u32),
}

/// The position of a field or a text on the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    pub(crate) form: Form,
    /// The hidden region that it is in, or `None` if it is visible.
    pub(crate) region: Option<Region>,
    /// The article, post or quotation that it is in.
    pub(crate) story: Option<u32>,
    /// The navigation or footer that it is in.
    pub(crate) margin: Option<u32>,
}

impl Spot {
    pub(crate) const OPEN: Spot = Spot { form: Form::None, region: None, story: None, margin: None };
}

/// A region that is hidden until something shows it. Its contents are shown together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    number: u32,
    /// Only a script that copies templates shows it.
    pub(crate) is_template: bool,
}

impl Block {
    pub(crate) fn new(role: Role, spot: Spot, raw: String) -> Self {
        let words = words_in(&raw);
        Self { role, spot, raw, words, text: OnceCell::new() }
    }

    pub(crate) fn raw(&self) -> &str {
        &self.raw
    }

    /// The memory that it takes, including its parsed text.
    pub(crate) fn kept_bytes(&self) -> usize {
        BLOCK_BYTES + self.raw.len()
    }

    /// The approximate number of words.
    pub(crate) fn words(&self) -> usize {
        self.words
    }

    /// Parsed on first use, because most blocks of a long page are never read.
    pub(crate) fn text(&self) -> &Text {
        self.text.get_or_init(|| Box::new(Text::of(&self.raw)))
    }

    /// Whether it is in an article or margin that does not contain the field.
    pub(crate) fn is_apart_from(&self, field: &Field) -> bool {
        let is_in_another = |mine: Option<u32>, its: Option<u32>| mine.is_some() && mine != its;
        is_in_another(self.spot.story, field.spot.story) || is_in_another(self.spot.margin, field.spot.margin)
    }

    /// Whether a visitor who sees the field sees this too.
    pub(crate) fn is_seen_with(&self, field: &Field) -> bool {
        self.spot.region.is_none() || self.spot.region == field.spot.region
    }
}

/// Scripts without spaces have about two letters in a word.
fn words_in(raw: &str) -> usize {
    let spaced = raw.split_whitespace().count();
    if raw.is_ascii() {
        return spaced;
    }
    let unspaced = raw.chars().filter(|letter| ('\u{3040}'..='\u{9fff}').contains(letter)).count() / 2;
    spaced.max(unspaced)
}
