//! A page as a visitor meets it: fields, and the texts around them in the order in which they are read.

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

/// A stretch of a page that was read in one go: a document with the frames in it, or what a script writes.
#[derive(Default)]
pub(crate) struct Part {
    /// The number of the file that it comes from.
    pub(crate) file: usize,
    /// A script writes it, in an order that may be another than that of its parts on the page.
    pub(crate) is_written: bool,
    pub(crate) titles: Vec<String>,
    pub(crate) blocks: Vec<Block>,
    /// What elements say of themselves when they are pointed at or read aloud. They name things and ask for none.
    pub(crate) tips: Vec<Block>,
    pub(crate) fields: Vec<Field>,
}

/// What else belongs to the page, and what its scripts may do to it.
#[derive(Default)]
pub(crate) struct Reading {
    pub(crate) parts: Vec<Part>,
    /// Addresses, as written, of files that are shown or run with this one.
    pub(crate) embedded: Vec<String>,
    pub(crate) reveals: Reveals,
    pub(crate) flow: Flow,
}

/// What may yet be shown of what is hidden.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reveals {
    /// By a script that touches the page, or by a style that reacts to what a visitor does.
    pub(crate) elements: bool,
    /// By a script that copies templates.
    pub(crate) templates: bool,
}

impl Region {
    /// Hidden until something shows it, and no template.
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
    /// Takes in what was read besides: the same page gone through another way, or more of it.
    pub(crate) fn join(&mut self, more: Reading) {
        self.parts.extend(more.parts);
        self.embedded.extend(more.embedded);
        self.reveals.join(more.reveals);
        self.flow.join(more.flow);
    }
}

/// What a block takes besides its letters.
const BLOCK_BYTES: usize = 200;

/// A text that lies apart from the text around it: a paragraph, a heading, a cell, what a button says.
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
    /// Nothing but a link to somewhere.
    Link,
    /// What may be chosen, at a box to tick.
    Choice,
    /// A sample of code, which people read and do not follow.
    Code,
}

/// Where a field or a text belongs. Those outside of all forms belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Form {
    None,
    Numbered(u32),
}

/// Where on the page a field or a text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    pub(crate) form: Form,
    /// The hidden stretch that it is in; none when it is seen.
    pub(crate) region: Option<Region>,
    /// The story that it is part of: an article, a post, a quotation.
    pub(crate) story: Option<u32>,
    /// The navigation or the footer that it is part of.
    pub(crate) margin: Option<u32>,
}

impl Spot {
    pub(crate) const OPEN: Spot = Spot { form: Form::None, region: None, story: None, margin: None };
}

/// A stretch that is hidden until something shows it; what is hidden together is shown together.
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

    /// What it takes of memory, with its text once that is read.
    pub(crate) fn kept_bytes(&self) -> usize {
        BLOCK_BYTES + self.raw.len()
    }

    /// How many words it has, roughly.
    pub(crate) fn words(&self) -> usize {
        self.words
    }

    /// Folded at the first look: most blocks of a long page are never looked at.
    pub(crate) fn text(&self) -> &Text {
        self.text.get_or_init(|| Box::new(Text::of(&self.raw)))
    }

    /// Whether it is told in a story, or stands in a margin, that the field is no part of.
    pub(crate) fn is_apart_from(&self, field: &Field) -> bool {
        let is_in_another = |mine: Option<u32>, its: Option<u32>| mine.is_some() && mine != its;
        is_in_another(self.spot.story, field.spot.story) || is_in_another(self.spot.margin, field.spot.margin)
    }

    /// Whether somebody who has the field before them reads this too.
    pub(crate) fn is_seen_with(&self, field: &Field) -> bool {
        self.spot.region.is_none() || self.spot.region == field.spot.region
    }
}

/// Scripts without spaces have about two letters a word.
fn words_in(raw: &str) -> usize {
    let spaced = raw.split_whitespace().count();
    if raw.is_ascii() {
        return spaced;
    }
    let unspaced = raw.chars().filter(|letter| ('\u{3040}'..='\u{9fff}').contains(letter)).count() / 2;
    spaced.max(unspaced)
}
