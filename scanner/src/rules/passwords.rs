//! Detects a password field next to a lure: a page that may impersonate another site.

use std::collections::{BTreeMap, BTreeSet};

use crate::Rule;
use crate::page::{Block, Field, Form, Kind, Role};
use crate::words::{Hint, Text, lures, possible_lures};

use super::RuleMatch;
use super::nearby::{At, Purpose, Stretch, TOP_MAX, View, is_of_the_page, is_prose};

/// All texts of a page with at most this many words count.
const SHORT_PAGE_WORDS_MAX: usize = 400;
/// Longer parts of a title are not names.
const TITLE_NAME_WORDS_MAX: usize = 4;
/// Longer texts at the top of a page are not the site's name with or without a tagline.
const NAME_WORDS_MAX: usize = 12;
/// A text in the margin of a page with at most this many words is also a name.
const IMPRINT_NAME_WORDS_MAX: usize = 3;
/// Separators between the name of a site and the rest of its title.
const TITLE_MARKS: [char; 8] = ['|', '–', '—', '·', ':', '»', '•', '«'];
/// The number of lures in the evidence.
const LURES_MAX: usize = 10;

/// Lures by name, in alphabetical order.
#[derive(Default)]
pub(super) struct Lures {
    certain: BTreeSet<String>,
    /// Words with a common harmless meaning: a river bank, an apple on a tree.
    possible: BTreeSet<String>,
}

pub(super) fn findings<'v>(view: &'v View<'_>) -> impl Iterator<Item = RuleMatch> + 'v {
    view.fields().filter(|at| is_password(*at) && !is_of_a_tool(*at)).filter_map(lured)
}

fn lured(at: At<'_, '_>) -> Option<RuleMatch> {
    let mut found = Lures::default();
    at.own_texts().for_each(|text| found.take(text));
    let purpose = at.purpose();
    let near = at.around().filter(|block| speaks_for_field(at, block, purpose));
    near.for_each(|block| found.take(block.text()));
    if purpose == Purpose::ThisForm || at.field.spot.form != Form::None {
        lures_by_form(at.stretch).get(&at.field.spot.form).into_iter().for_each(|lures| found.join(lures));
    }
    for stretch in &at.view.stretches {
        found.join(names_of_page(stretch));
        if purpose == Purpose::ThisForm {
            found.join(lures_of_page(stretch));
            found.join(lures_of_tips(stretch));
        }
    }
    let words = found.that_count(at.view);
    (!words.is_empty()).then(|| RuleMatch {
        rule: Rule::PasswordNearLure,
        file: at.stretch.part.file,
        field: at.field.description.clone(),
        words: words.into_iter().take(LURES_MAX).collect(),
    })
}

/// A password field by its type, its appearance or its autofill setting.
fn is_password(at: At<'_, '_>) -> bool {
    at.field.kind == Kind::Password || (at.field.kind == Kind::Line && at.field.shape.is_for_managers)
}

/// Tools that generate or rate passwords do not collect them, and need not know whose they are.
fn is_of_a_tool(at: At<'_, '_>) -> bool {
    if at.own_texts().any(|text| !lures(text).is_empty()) {
        return false;
    }
    let titles = at.stretch.titles.iter();
    let texts = || at.around().filter(|block| !is_prose(block)).map(|block| block.text());
    let is_tool = texts().chain(titles).any(|text| text.has(Hint::MakesPasswords) && !text.has(Hint::SignIn));
    is_tool && !at.buttons().any(|button| button.text().has(Hint::SignIn))
}

/// Whether a nearby text belongs to the form that asks for the password. On a page with another purpose, only
/// the form itself and its heading count.
fn speaks_for_field(at: At<'_, '_>, block: &Block, purpose: Purpose) -> bool {
    let is_story = at.stretch.is_article && is_prose(block);
    let is_near = purpose == Purpose::ThisForm || at.is_in_form_of(block) || block.role == Role::Heading;
    block.role != Role::Link && !is_story && (is_near || at.field.spot.form == Form::None)
}

/// Lures in texts that describe the whole page.
fn lures_of_page<'s>(stretch: &'s Stretch<'_>) -> &'s Lures {
    stretch.lures.get_or_init(|| {
        let mut found = Lures::default();
        if !stretch.is_article {
            stretch.titles.iter().filter(|title| !title.has(Hint::Talk)).for_each(|title| found.take(title));
            let speaking = stretch.speaking().map(|(_, block)| block);
            speaking.filter(|block| block.role != Role::Link).for_each(|block| found.take(block.text()));
        }
        found
    })
}

/// Lures in the fields and tooltips of each form.
fn lures_by_form<'s>(stretch: &'s Stretch<'_>) -> &'s BTreeMap<Form, Lures> {
    stretch.lures_by_form.get_or_init(|| {
        let mut by_form: BTreeMap<Form, Lures> = BTreeMap::new();
        // Most fields have no lures, and a hostile page has a million fields.
        let mut put = |form: Form, said: &Lures| {
            if !said.is_empty() {
                by_form.entry(form).or_default().join(said);
            }
        };
        for field in stretch.part.fields.iter().filter(|field| is_filled_in(field)) {
            put(field.spot.form, &Lures::of(field.labels().chain(field.hints())));
        }
        for tip in stretch.part.tips.iter().filter(|tip| tip.spot.form != Form::None) {
            put(tip.spot.form, &Lures::of([tip.text()]));
        }
        by_form
    })
}

/// Whether it is submitted, and is not a search or a choice.
fn is_filled_in(field: &Field) -> bool {
    field.takes_anything() && field.kind != Kind::Search && !field.shape.is_named_search
}

/// Lures in tooltips of the page.
fn lures_of_tips<'s>(stretch: &'s Stretch<'_>) -> &'s Lures {
    stretch.lures_of_tips.get_or_init(|| {
        let mut found = Lures::default();
        let tips = stretch.part.tips.iter().filter(|tip| !stretch.is_article && is_of_the_page(tip));
        tips.for_each(|tip| found.take(tip.text()));
        found
    })
}

/// Lures in the names of the page: in its title, at its top and in its imprint.
fn names_of_page<'s>(stretch: &'s Stretch<'_>) -> &'s Lures {
    stretch.names.get_or_init(|| {
        let mut found = Lures::default();
        if stretch.is_article {
            return found;
        }
        let titles = stretch.part.titles.iter().flat_map(|title| title.split(TITLE_MARKS));
        titles
            .filter(|name| name.split_whitespace().count() <= TITLE_NAME_WORDS_MAX)
            .for_each(|name| found.take(&Text::of(name)));
        let top = stretch.speaking().take_while(|(number, _)| *number < TOP_MAX).map(|(_, block)| block);
        let names = top.filter(|block| block.words() <= NAME_WORDS_MAX);
        let imprints = stretch.part.blocks.iter().filter(|block| is_imprint(block));
        let imprints = imprints.filter(|_| stretch.words <= SHORT_PAGE_WORDS_MAX);
        names.chain(imprints).for_each(|block| found.take(block.text()));
        found
    })
}

/// A text that says who owns the page.
fn is_imprint(block: &Block) -> bool {
    let raw = block.raw();
    block.spot.margin.is_some()
        && (raw.contains('©')
            || raw.contains("(c)")
            || raw.contains("opyright")
            || block.words() <= IMPRINT_NAME_WORDS_MAX)
}

impl Lures {
    fn of<'t>(texts: impl IntoIterator<Item = &'t Text>) -> Lures {
        let mut found = Lures::default();
        texts.into_iter().for_each(|text| found.take(text));
        found
    }

    fn is_empty(&self) -> bool {
        self.certain.is_empty() && self.possible.is_empty()
    }

    fn take(&mut self, text: &Text) {
        self.certain.extend(lures(text));
        self.possible.extend(possible_lures(text));
    }

    fn join(&mut self, other: &Lures) {
        self.certain.extend(other.certain.iter().cloned());
        self.possible.extend(other.possible.iter().cloned());
    }

    /// Returns the lures that count. The possible ones count unless the page is about another subject.
    fn that_count(mut self, view: &View<'_>) -> BTreeSet<String> {
        if !self.possible.is_empty() && !view.is_elsewhere() {
            self.certain.append(&mut self.possible);
        }
        self.certain
    }
}
