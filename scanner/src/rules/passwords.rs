//! A password field next to a lure: a page that may pretend to be somebody else's.

use std::collections::{BTreeMap, BTreeSet};

use crate::Rule;
use crate::page::{Block, Field, Form, Kind, Role};
use crate::words::{Hint, Text, lures, possible_lures};

use super::RuleMatch;
use super::nearby::{At, Purpose, Stretch, TOP_MAX, View, is_of_the_page, is_prose};

/// A page of so many words is read as a whole.
const SHORT_PAGE_WORDS_MAX: usize = 400;
/// A longer part of a title is no name.
const TITLE_NAME_WORDS_MAX: usize = 4;
/// A longer text at the top of a page is no name, nor a name with what the site offers.
const NAME_WORDS_MAX: usize = 12;
/// A text of so few words in the margin of a page is a name, too.
const IMPRINT_NAME_WORDS_MAX: usize = 3;
/// What stands between the name of a site and what else its title says.
const TITLE_MARKS: [char; 8] = ['|', '–', '—', '·', ':', '»', '•', '«'];
/// Lures that the evidence names.
const LURES_MAX: usize = 10;

/// Lures by their names, in the order of the alphabet.
#[derive(Default)]
pub(super) struct Lures {
    certain: BTreeSet<String>,
    /// Words that mean something harmless as often: a bank by the river, an apple on the tree.
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

/// By its type, by how it looks, or by what a password manager would put there.
fn is_password(at: At<'_, '_>) -> bool {
    at.field.kind == Kind::Password || (at.field.kind == Kind::Line && at.field.shape.is_for_managers)
}

/// Tools that make or rate passwords take one from nobody. They need not know whose it is.
fn is_of_a_tool(at: At<'_, '_>) -> bool {
    if at.own_texts().any(|text| !lures(text).is_empty()) {
        return false;
    }
    let titles = at.stretch.titles.iter();
    let texts = || at.around().filter(|block| !is_prose(block)).map(|block| block.text());
    let is_tool = texts().chain(titles).any(|text| text.has(Hint::MakesPasswords) && !text.has(Hint::SignIn));
    is_tool && !at.buttons().any(|button| button.text().has(Hint::SignIn))
}

/// Whether what a text near the field says is said by whoever asks for the password. On a page that is there for
/// something else, only what stands in the form and the heading over it is.
fn speaks_for_field(at: At<'_, '_>, block: &Block, purpose: Purpose) -> bool {
    let is_story = at.stretch.is_article && is_prose(block);
    let is_near = purpose == Purpose::ThisForm || at.is_in_form_of(block) || block.role == Role::Heading;
    block.role != Role::Link && !is_story && (is_near || at.field.spot.form == Form::None)
}

/// Lures in what speaks for the page as a whole.
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

/// Lures in what the fields of each form say, and in the tips that stand in it.
fn lures_by_form<'s>(stretch: &'s Stretch<'_>) -> &'s BTreeMap<Form, Lures> {
    stretch.lures_by_form.get_or_init(|| {
        let mut by_form: BTreeMap<Form, Lures> = BTreeMap::new();
        // Most fields say none, and a hostile page has a million of them.
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

/// Whether it is part of what is handed in, and not a search or a choice.
fn is_filled_in(field: &Field) -> bool {
    field.takes_anything() && field.kind != Kind::Search && !field.shape.is_named_search
}

/// Lures in what elements of the page say when they are pointed at.
fn lures_of_tips<'s>(stretch: &'s Stretch<'_>) -> &'s Lures {
    stretch.lures_of_tips.get_or_init(|| {
        let mut found = Lures::default();
        let tips = stretch.part.tips.iter().filter(|tip| !stretch.is_article && is_of_the_page(tip));
        tips.for_each(|tip| found.take(tip.text()));
        found
    })
}

/// Lures in the names that the page bears: in its title, at its top, in its imprint.
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

/// Who says that the page is theirs.
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

    /// A bank is a bank where nothing on the page speaks of rivers.
    fn that_count(mut self, view: &View<'_>) -> BTreeSet<String> {
        if !self.possible.is_empty() && !view.is_elsewhere() {
            self.certain.append(&mut self.possible);
        }
        self.certain
    }
}
