//! Finds the texts near a field: next to it, in the same form, on the same page. How far a text reaches
//! depends on the page. In a long article, a text three paragraphs away does not refer to the field.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::budget::{Budget, steps};
use crate::page::{Block, Field, Form, Part, Reveals, Role};
use crate::site::Page;
use crate::words::{Hint, Text, Thing};

use super::asking::SentenceMood;
use super::passwords::Lures;

/// A block with at least this many words is prose, and not part of a form.
const PROSE_WORDS_MIN: usize = 25;
/// A part with at least this many words of prose is an article.
const ARTICLE_WORDS_MIN: usize = 200;
/// A page with more other words than this has another purpose than its form.
const OTHER_WORDS_MAX: usize = 80;
/// The limits of a field's surroundings.
const BLOCKS_BEFORE_MAX: usize = 12;
const BLOCKS_BEHIND_MAX: usize = 8;
const WORDS_BEFORE_MAX: usize = 160;
const WORDS_BEHIND_MAX: usize = 80;
/// The number of blocks that are searched for those that refer to a field.
const BLOCKS_SEARCHED_MAX: usize = 64;
/// The blocks between a field and the one before it that may be its label, nearest first.
const BESIDE_MAX: usize = 4;
/// The number of fields before this one that may be in the same row.
const ROW_MAX: usize = 30;
/// The number of blocks at the top of a page that may contain its name and logo.
pub(super) const TOP_MAX: usize = 4;

/// The numbers of the parts that ask all visitors for something, and their words for it.
pub(super) type NearbyTexts = Rc<Vec<(usize, String)>>;

/// A page with cached facts about each of its parts.
pub(super) struct View<'p> {
    pub(super) stretches: Vec<Stretch<'p>>,
    reveals: Reveals,
    is_about_wallets: OnceCell<bool>,
    is_elsewhere: OnceCell<bool>,
    /// The requests in all parts by kind of text and by thing, with the number of the part.
    pub(super) requests: RefCell<BTreeMap<(SentenceMood, Thing), NearbyTexts>>,
    budget: &'p Budget<'p>,
    /// The cost of one check of a field.
    field_steps: usize,
}

pub(super) struct Stretch<'p> {
    pub(super) part: &'p Part,
    pub(super) titles: Vec<Text>,
    pub(super) is_article: bool,
    pub(super) words: usize,
    /// The words by which its title asks for a thing. Cached, because every bare field needs them.
    pub(super) titled: RefCell<BTreeMap<Thing, Option<String>>>,
    /// The lures in texts that describe the whole page.
    pub(super) lures: OnceCell<Lures>,
    /// The lures in the names of the page.
    pub(super) names: OnceCell<Lures>,
    /// The lures in the fields and tooltips of each form.
    pub(super) lures_by_form: OnceCell<BTreeMap<Form, Lures>>,
    /// The lures in tooltips that describe the whole page.
    pub(super) lures_of_tips: OnceCell<Lures>,
    words_by_form: OnceCell<BTreeMap<Form, usize>>,
}

/// The purpose of a part, in relation to one of its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Filling in the form of the field.
    ThisForm,
    Another,
}

/// A field with its position on the page.
#[derive(Clone, Copy)]
pub(super) struct At<'v, 'p> {
    pub(super) view: &'v View<'p>,
    pub(super) stretch: &'v Stretch<'p>,
    number: usize,
    pub(super) field: &'p Field,
}

impl<'p> View<'p> {
    pub(super) fn of(page: &Page<'p>, budget: &'p Budget<'p>) -> Self {
        // Parts that exceed the budget are left out.
        let affordable = page.parts.iter().filter(|part| budget.take(part.blocks.len()));
        let stretches: Vec<_> = affordable.map(|part| Stretch::of(part)).collect();
        let field_steps = steps::FIELD + stretches.len() * steps::STRETCH;
        Self {
            stretches,
            reveals: page.reveals,
            is_about_wallets: OnceCell::new(),
            is_elsewhere: OnceCell::new(),
            requests: RefCell::default(),
            budget,
            field_steps,
        }
    }

    pub(super) fn asks_anything(&self) -> bool {
        self.fields().next().is_some()
    }

    /// The fields that a visitor can fill in, now or at a later step. The list ends when the budget is
    /// exhausted.
    pub(super) fn fields(&self) -> impl Iterator<Item = At<'_, 'p>> {
        let all = self.stretches.iter().flat_map(move |stretch| {
            let fields = stretch.part.fields.iter().enumerate();
            fields.map(move |(number, field)| At { view: self, stretch, number, field })
        });
        all.take_while(|_| self.budget.take(self.field_steps))
            .filter(|at| at.field.takes_anything() && self.reveals.may_show(at.field.spot.region))
    }

    /// Whether the page is about crypto wallets, so that "seed" does not mean a plant.
    pub(super) fn is_about_wallets(&self) -> bool {
        *self.is_about_wallets.get_or_init(|| {
            self.stretches.iter().any(|stretch| {
                let says = |text: &Text| text.has(Hint::Wallet) || text.sense(Thing::SeedPhrase).is_some();
                let headings =
                    stretch.part.blocks.iter().filter(|block| !is_prose(block) && is_followed(block));
                stretch.titles.iter().any(says) || headings.map(Block::text).any(says)
            })
        })
    }
}

impl View<'_> {
    /// Whether the page is about a subject where "bank" does not mean money and "apple" means a fruit.
    pub(super) fn is_elsewhere(&self) -> bool {
        *self.is_elsewhere.get_or_init(|| {
            self.stretches.iter().any(|stretch| {
                let says = |text: &Text| text.has(Hint::Elsewhere);
                stretch.titles.iter().any(says) || stretch.part.blocks.iter().map(Block::text).any(says)
            })
        })
    }
}

impl<'p> Stretch<'p> {
    fn of(part: &'p Part) -> Self {
        let seen = part.blocks.iter().filter(|block| block.role != Role::Code);
        let words = seen.clone().map(Block::words).sum();
        let prose: usize = seen.filter(|block| is_prose(block)).map(Block::words).sum();
        Self {
            part,
            titles: part.titles.iter().map(|title| Text::of(title)).collect(),
            is_article: prose >= ARTICLE_WORDS_MIN,
            words,
            titled: RefCell::default(),
            lures: OnceCell::new(),
            names: OnceCell::new(),
            lures_by_form: OnceCell::new(),
            lures_of_tips: OnceCell::new(),
            words_by_form: OnceCell::new(),
        }
    }
}

impl<'v, 'p> At<'v, 'p> {
    /// The texts between this field and the one before it, nearest first. One of them is its label if it has
    /// no label of its own.
    pub(super) fn beside(self) -> impl Iterator<Item = &'p Block> {
        let start = match self.number.checked_sub(1) {
            Some(before) => {
                let before = &self.stretch.part.fields[before];
                before.blocks_before + usize::from(before.is_labelled_behind)
            }
            None => 0,
        };
        self.up_to(start).take(BESIDE_MAX).map(|(_, block)| block)
    }

    /// The text at the head of its column. A field for a single letter is not in a column.
    pub(super) fn head(self) -> Option<&'p Block> {
        let head = self.stretch.part.blocks.get(self.field.head?)?;
        (!self.field.shape.is_tiny && self.concerns(head)).then_some(head)
    }

    /// The text after it, up to the next field.
    pub(super) fn behind(self) -> Option<&'p Block> {
        let end = self.stretch.part.fields.get(self.number + 1).map(|next| next.blocks_before);
        self.down_to(end.unwrap_or(self.stretch.part.blocks.len())).next()
    }

    /// The texts around it, up to a number of words.
    pub(super) fn around(self) -> impl Iterator<Item = &'p Block> {
        self.before().chain(self.after())
    }

    pub(super) fn before(self) -> impl Iterator<Item = &'p Block> {
        within(self.up_to(0).map(|(_, block)| block), BLOCKS_BEFORE_MAX, WORDS_BEFORE_MAX)
    }

    /// The texts before it and before the bare fields above it. A text that leads up to another field is left
    /// out, unless that field is in the same form.
    pub(super) fn before_row(self) -> impl Iterator<Item = &'p Block> {
        let (start, form) = (self.row_start(), self.field.spot.form);
        let leads_here = move |number: usize, block: &Block| {
            number >= start || (form != Form::None && block.spot.form == form)
        };
        let leading = self.up_to(0).take_while(move |(number, block)| leads_here(*number, block));
        within(leading.map(|(_, block)| block), BLOCKS_BEFORE_MAX, WORDS_BEFORE_MAX)
    }

    /// The number of the first block of the texts that lead up to the row.
    fn row_start(self) -> usize {
        // A choice of two, such as twelve words or twenty-four, leads up to this field.
        let is_other = |field: &&Field| {
            let says_more = || !field.labels().chain(field.hints()).all(says_nothing);
            !field.shape.is_dot && (!field.takes_text() || says_more())
        };
        let mut above = self.stretch.part.fields.iter().take(self.number).rev().take(ROW_MAX);
        above.find(is_other).map_or(0, |other| other.blocks_before)
    }

    pub(super) fn after(self) -> impl Iterator<Item = &'p Block> {
        within(self.down_to(self.stretch.part.blocks.len()), BLOCKS_BEHIND_MAX, WORDS_BEHIND_MAX)
    }

    /// The nearest heading above it, at any distance.
    pub(super) fn heading(self) -> Option<&'p Block> {
        let start = self.row_start();
        self.up_to(start)
            .map(|(_, block)| block)
            .find(|block| block.role == Role::Heading && !is_prose(block))
    }

    pub(super) fn buttons(self) -> impl Iterator<Item = &'p Block> {
        let form = self.field.spot.form;
        let is_its_own = move |block: &&Block| block.spot.form == form || form == Form::None;
        self.after().filter(|block| block.role == Role::Button).filter(is_its_own)
    }

    /// The buttons that submit the field: those of its form, or the block directly after it.
    pub(super) fn handing_in(self) -> impl Iterator<Item = &'p Block> {
        let form = self.field.spot.form;
        let next = self.stretch.part.fields.get(self.number + 1).map(|next| next.blocks_before);
        let group_end = next.unwrap_or(self.stretch.part.blocks.len());
        let end = if form == Form::None { group_end } else { self.stretch.part.blocks.len() };
        let belongs = move |block: &&Block| form != Form::None || block.role != Role::Heading;
        let group = self.down_to(end).take_while(belongs);
        let words_max = if form == Form::None { WORDS_BEHIND_MAX } else { usize::MAX };
        within(group, BLOCKS_SEARCHED_MAX, words_max)
            .filter(move |block| block.role == Role::Button && block.spot.form == form)
    }

    pub(super) fn is_in_form_of(self, block: &Block) -> bool {
        self.field.spot.form != Form::None && block.spot.form == self.field.spot.form
    }

    /// Whether the other field is next in the same part.
    pub(super) fn is_in_row_with(self, next: At<'_, '_>) -> bool {
        std::ptr::eq(self.stretch.part, next.stretch.part)
    }

    /// Whether the main purpose of the part is to fill in this form, because it has little other text.
    pub(super) fn purpose(self) -> Purpose {
        let form = self.field.spot.form;
        let of_it = match form {
            Form::None => self.around().map(Block::words).sum(),
            form => self.stretch.words_in_form(form),
        };
        match self.stretch.words.saturating_sub(of_it) {
            0..=OTHER_WORDS_MAX => Purpose::ThisForm,
            _ => Purpose::Another,
        }
    }

    /// The other parts of the page, whose texts apply to fields from scripts and frames.
    pub(super) fn elsewhere(self) -> impl Iterator<Item = &'v Stretch<'p>> {
        let here = self.stretch;
        self.view.stretches.iter().filter(move |stretch| !std::ptr::eq(*stretch, here))
    }

    /// Whether a visitor at the field sees the text and relates it to the form.
    fn concerns(self, block: &Block) -> bool {
        is_followed(block) && block.is_seen_with(self.field) && !block.is_apart_from(self.field)
    }

    /// The blocks before it that refer to the field, nearest first.
    fn up_to(self, start: usize) -> impl Iterator<Item = (usize, &'p Block)> {
        let blocks = self.stretch.part.blocks.iter().enumerate().take(self.field.blocks_before).skip(start);
        blocks.rev().take(BLOCKS_SEARCHED_MAX).filter(move |(_, block)| self.concerns(block))
    }

    /// The blocks after it that refer to the field.
    fn down_to(self, end: usize) -> impl Iterator<Item = &'p Block> {
        let behind = self.stretch.part.blocks.get(self.field.blocks_before..end).unwrap_or_default();
        behind.iter().take(BLOCKS_SEARCHED_MAX).filter(move |block| self.concerns(block))
    }
}

impl Stretch<'_> {
    fn words_in_form(&self, form: Form) -> usize {
        let by_form = self.words_by_form.get_or_init(|| {
            let mut by_form = BTreeMap::new();
            for block in &self.part.blocks {
                *by_form.entry(block.spot.form).or_default() += block.words();
            }
            by_form
        });
        by_form.get(&form).copied().unwrap_or_default()
    }

    /// The texts that describe the whole part: all texts of a short part, the top and the headings of a long
    /// one.
    pub(super) fn speaking(&self) -> impl Iterator<Item = (usize, &Block)> {
        let is_short = self.words <= ARTICLE_WORDS_MIN;
        let speaks = move |number: usize, block: &Block| {
            let is_at_top = number < TOP_MAX && !is_prose(block);
            (is_short || is_at_top || block.role == Role::Heading) && is_of_the_page(block)
        };
        let blocks = self.part.blocks.iter().enumerate().filter(|_| !self.is_article);
        blocks.filter(move |(number, block)| speaks(*number, block))
    }
}

/// Whether a text can tell a visitor what to do. Samples and options cannot.
fn is_followed(block: &Block) -> bool {
    !matches!(block.role, Role::Code | Role::Choice)
}

/// Whether a text describes the page, and not a later step, an article or a margin.
pub(super) fn is_of_the_page(block: &Block) -> bool {
    let spot = block.spot;
    is_followed(block) && spot.region.is_none() && spot.margin.is_none() && spot.story.is_none()
}

pub(super) fn is_prose(block: &Block) -> bool {
    block.words() >= PROSE_WORDS_MIN
}

/// Whether a text does not say what to enter.
pub(super) fn says_nothing(text: &Text) -> bool {
    text.is_empty() || text.has(Hint::PlainAsk) || text.has(Hint::NumberedWord)
}

fn within<'p>(
    blocks: impl Iterator<Item = &'p Block>,
    blocks_max: usize,
    words_max: usize,
) -> impl Iterator<Item = &'p Block> {
    let mut words = 0;
    blocks.take(blocks_max).take_while(move |block| {
        // The first text counts at any length.
        let has_budget = words < words_max;
        words += block.words();
        has_budget
    })
}
