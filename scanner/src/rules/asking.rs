//! Whether a field asks for a thing: by its own words first; where it has none, by those around it.

use std::rc::Rc;

use crate::page::{Block, Form, Kind, Role};
use crate::words::{Hint, Sense, Sensed, Text, Thing};

use super::nearby::{At, NearbyTexts, Stretch, is_prose, says_nothing};

/// A label is short.
const LABEL_WORDS_MAX: usize = 14;

/// What stands beside a field that says nothing itself.
enum Beside {
    /// It asks for the thing, in these words.
    Asks(String),
    /// It names something else.
    Another,
    Nothing,
}

/// Who tells visitors to give something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SentenceMood {
    /// A title, a heading or a sentence anywhere on the page.
    Page,
    /// A sentence that a script writes.
    Script,
}

/// A field for one of these is for nothing else.
const OTHERS: [Thing; 5] =
    [Thing::CardNumber, Thing::CardCode, Thing::CardExpiry, Thing::CardHolder, Thing::Password];

/// A label of one word leaves open much of what belongs into the field.
const VAGUE_WORDS_MAX: usize = 1;

/// What is asked for: a thing, and what else means it where the page is about it.
#[derive(Clone, Copy)]
pub(super) struct Wanted {
    pub(super) thing: Thing,
    pub(super) maybe: Option<Thing>,
    /// Fields for numbers take it too.
    pub(super) is_digits: bool,
}

impl Wanted {
    fn sense(self, text: &Text, at: At<'_, '_>) -> Option<Sensed> {
        let certain = text.sense(self.thing);
        let likely = self
            .maybe
            .and_then(|maybe| text.sense(maybe))
            .filter(|_| certain.is_none() && (text.has(Hint::Wallet) || at.view.is_about_wallets()));
        certain.or(likely)
    }

    /// Whether a text says that something else belongs into the field.
    fn is_another(self, text: &Text) -> bool {
        let names = |thing: &Thing| text.sense(*thing).is_some_and(|sensed| sensed.sense >= Sense::Named);
        let others = OTHERS.iter().filter(|thing| **thing != self.thing);
        text.has(Hint::OtherValue) || text.has(Hint::Search) || others.into_iter().any(names)
    }

    pub(super) fn at_least(self, least: Sense, text: &Text, at: At<'_, '_>) -> Option<String> {
        self.sense(text, at).filter(|sensed| sensed.sense >= least).map(|sensed| sensed.words)
    }
}

impl<'p> At<'_, 'p> {
    /// The words by which the field asks for the thing.
    pub(super) fn asks_for(self, wanted: Wanted) -> Option<String> {
        if self.field.kind == Kind::Search {
            return self.own_texts().find_map(|text| wanted.at_least(Sense::Requested, text, self));
        }
        let by_label = self.field.labels().find_map(|text| wanted.at_least(Sense::Named, text, self));
        by_label.or_else(|| self.asked_by_hint(wanted)).or_else(|| {
            let talks = |text: &Text| wanted.sense(text, self).is_some();
            if self.field.labels().any(talks) {
                // "What is a seed phrase?" asks for an answer.
                None
            } else if self.field.hints().iter().any(talks) {
                // It tells more of what its label says, or of something else.
                self.asked_beside(wanted)
            } else {
                self.asked_by_less(wanted)
            }
        })
    }

    /// What the field says of itself to people.
    pub(super) fn own_texts(self) -> impl Iterator<Item = &'p Text> {
        self.field.labels().chain(self.field.hints())
    }

    /// Whether the field itself says nothing of what belongs into it.
    pub(super) fn is_unnamed(self) -> bool {
        self.own_texts().all(says_nothing)
    }

    fn asked_by_hint(self, wanted: Wanted) -> Option<String> {
        let is_for_another = self.field.labels().any(|text| wanted.is_another(text));
        let least = if is_for_another { Sense::Requested } else { Sense::Named };
        self.field.hints().iter().find_map(|text| wanted.at_least(least, text, self))
    }

    fn asked_by_less(self, wanted: Wanted) -> Option<String> {
        if self.own_texts().any(|text| wanted.is_another(text)) {
            return self.asked_in_talk(wanted);
        }
        let is_open = self.field.labels().all(says_nothing);
        if is_open { self.asked_around(wanted) } else { self.asked_by_name(wanted) }
    }

    /// By what scripts call it, or what a browser is told to fill in. What people read outranks that, unless it is too
    /// short to say much.
    fn asked_by_name(self, wanted: Wanted) -> Option<String> {
        let says_much = self.field.labels().any(|label| label.word_count() > VAGUE_WORDS_MAX);
        let names = self.field.names().iter().filter(|_| !says_much).chain(self.field.filled_in());
        names.into_iter().find_map(|name| wanted.at_least(Sense::Named, name, self))
    }

    /// By the last thing that was said before a field for messages: "Please type your recovery phrase here."
    fn asked_in_talk(self, wanted: Wanted) -> Option<String> {
        let is_message = self.own_texts().any(|text| text.has(Hint::Message));
        let is_other = self.own_texts().any(|text| text.has(Hint::Search)) || self.stretch.is_article;
        let is_for_messages = is_message && !is_other && matches!(self.field.kind, Kind::Line | Kind::Area);
        if !is_for_messages {
            return None;
        }
        let last = self.beside().next();
        let said = last.and_then(|last| wanted.at_least(Sense::Requested, last.text(), self));
        // Or by what a script says in their talk.
        said.or_else(|| self.told_by(SentenceMood::Script, wanted).first().map(|(_, words)| words.clone()))
    }

    fn asked_around(self, wanted: Wanted) -> Option<String> {
        let takes_it = self.field.takes_text() || (wanted.is_digits && self.field.kind == Kind::Value);
        let label = self.label_apart(wanted).filter(|_| takes_it && self.is_unnamed());
        if let Some(words) = label.and_then(|label| wanted.at_least(Sense::Named, label.text(), self)) {
            return Some(words);
        }
        let beside = if takes_it { self.beside_says(wanted) } else { Beside::Nothing };
        match beside {
            Beside::Asks(words) => return Some(words),
            Beside::Another => return None,
            Beside::Nothing => {}
        }
        let by_name = self.asked_by_name(wanted);
        if by_name.is_some() || !takes_it || self.field.shape.is_named_search {
            return by_name;
        }
        let behind = self.asked_behind(wanted);
        if behind.is_some() || wanted.is_digits {
            return behind;
        }
        self.asked_before(wanted)
            .or_else(|| self.asked_elsewhere(wanted))
            .or_else(|| self.asked_by_button(wanted))
    }

    /// By what a press of its button does: "Send seed phrase". A button that shows or copies one asks for none.
    fn asked_by_button(self, wanted: Wanted) -> Option<String> {
        let is_beside_talk = self.stretch.is_article && self.field.spot.form == Form::None;
        // A field that has a word of its own is for that, whatever the button opens next.
        if is_beside_talk || !self.is_unnamed() || self.is_sent_as_another() {
            return None;
        }
        self.handing_in().find_map(|button| wanted.at_least(Sense::Requested, button.text(), self))
    }

    fn asked_beside(self, wanted: Wanted) -> Option<String> {
        match self.beside_says(wanted) {
            Beside::Asks(words) => Some(words),
            Beside::Another | Beside::Nothing => None,
        }
    }

    /// What the texts between it and the field before say of it.
    fn beside_says(self, wanted: Wanted) -> Beside {
        let is_search = self.field.shape.is_named_search;
        // What is searched may stand under a heading of that name.
        for block in self.beside().filter(|block| !is_search || block.role == Role::Plain) {
            let text = block.text();
            let is_label =
                text.word_count() <= LABEL_WORDS_MAX && matches!(block.role, Role::Plain | Role::Heading);
            let least = if is_label { Sense::Named } else { Sense::Requested };
            if let Some(words) = wanted.at_least(least, text, self) {
                return Beside::Asks(words);
            }
            // The nearest label wins, and a text that talks of the thing is no label for it.
            let talks = wanted.sense(text, self).is_some();
            let is_question = block.raw().trim_end().ends_with(['?', '？']);
            if is_label && (talks || is_question || wanted.is_another(text)) {
                return Beside::Another;
            }
        }
        Beside::Nothing
    }

    /// What labels it without standing right before it: the only text of a box that it has to itself, or the head of its
    /// column.
    fn label_apart(self, wanted: Wanted) -> Option<&'p Block> {
        let is_another = || self.beside().next().is_some_and(|label| wanted.is_another(label.text()));
        let behind = self.behind().filter(|_| self.field.is_labelled_behind && !is_another());
        let label = behind.or_else(|| self.head().filter(|_| !self.stretch.is_article))?;
        (label.text().word_count() <= LABEL_WORDS_MAX).then_some(label)
    }

    fn asked_behind(self, wanted: Wanted) -> Option<String> {
        if self.beside().next().is_some() {
            return None;
        }
        let behind = self.behind().filter(|block| block.role == Role::Plain)?;
        (behind.text().word_count() <= LABEL_WORDS_MAX)
            .then(|| wanted.at_least(Sense::Named, behind.text(), self))
            .flatten()
    }

    /// By what the form or the page told the visitor to do, fields ago.
    fn asked_before(self, wanted: Wanted) -> Option<String> {
        if self.is_sent_as_another() {
            return None;
        }
        let heading = self.heading().filter(|_| !self.stretch.is_article);
        self.before_row().chain(heading).find_map(|block| {
            let is_near = !self.stretch.is_article || self.is_in_form_of(block);
            let is_heading = block.role == Role::Heading && !is_prose(block);
            let least = if is_heading && is_near { Sense::Named } else { Sense::Requested };
            (is_near || !is_prose(block)).then(|| wanted.at_least(least, block.text(), self)).flatten()
        })
    }

    /// By the rest of the page, for what a script or a frame puts there, and by its title.
    fn asked_elsewhere(self, wanted: Wanted) -> Option<String> {
        if self.is_sent_as_another() {
            return None;
        }
        let titled = self.stretch.titled(wanted, self);
        titled.or_else(|| self.told_elsewhere(wanted)).or_else(|| self.told_anywhere_here(wanted))
    }

    /// What another stretch tells visitors of the whole page to give.
    pub(super) fn told_elsewhere(self, wanted: Wanted) -> Option<String> {
        let (told, here) = (self.told_by(SentenceMood::Page, wanted), self.stretch_number());
        told.iter().find(|(number, _)| Some(*number) != here).map(|(_, words)| words.clone())
    }

    /// What a script demands that writes a bare field, wherever in what it writes it does so.
    fn told_anywhere_here(self, wanted: Wanted) -> Option<String> {
        let here = self.stretch_number().filter(|_| self.stretch.part.is_written && self.is_unnamed());
        let told = self.told_by(SentenceMood::Script, wanted);
        told.iter().find(|(number, _)| Some(*number) == here).map(|(_, words)| words.clone())
    }

    fn stretch_number(self) -> Option<usize> {
        self.view.stretches.iter().position(|stretch| std::ptr::eq(stretch, self.stretch))
    }

    fn told_by(self, voice: SentenceMood, wanted: Wanted) -> NearbyTexts {
        if let Some(told) = self.view.told.borrow().get(&(voice, wanted.thing)) {
            return told.clone();
        }
        let stretches = self.view.stretches.iter().enumerate();
        let told = stretches.filter_map(|(number, stretch)| {
            let words = match voice {
                SentenceMood::Page => stretch.told(wanted, self),
                SentenceMood::Script => stretch.demanded(wanted, self),
            };
            Some((number, words?))
        });
        let told: NearbyTexts = Rc::new(told.collect());
        self.view.told.borrow_mut().insert((voice, wanted.thing), told.clone());
        told
    }

    /// Whether its button says that something else is sent: a comment, a search, a subscription.
    fn is_sent_as_another(self) -> bool {
        self.buttons().any(|button| button.text().has(Hint::OtherValue) || button.text().has(Hint::Search))
    }
}

impl Stretch<'_> {
    /// What it tells visitors of the whole page to give.
    fn told(&self, wanted: Wanted, at: At<'_, '_>) -> Option<String> {
        self.titled(wanted, at).or_else(|| {
            self.speaking().find_map(|(_, block)| {
                let least = if block.role == Role::Heading { Sense::Named } else { Sense::Requested };
                wanted.at_least(least, block.text(), at)
            })
        })
    }

    /// What a script demands in so many words, and in no title or heading.
    fn demanded(&self, wanted: Wanted, at: At<'_, '_>) -> Option<String> {
        let said = self.speaking().filter(|(_, block)| self.part.is_written && block.role == Role::Plain);
        said.into_iter().find_map(|(_, block)| wanted.at_least(Sense::Requested, block.text(), at))
    }

    fn titled(&self, wanted: Wanted, at: At<'_, '_>) -> Option<String> {
        if let Some(titled) = self.titled.borrow().get(&wanted.thing) {
            return titled.clone();
        }
        let titles = self.titles.iter().filter(|title| !self.is_article && !title.has(Hint::Talk));
        let titled = titles.into_iter().find_map(|title| wanted.at_least(Sense::Named, title, at));
        self.titled.borrow_mut().insert(wanted.thing, titled.clone());
        titled
    }
}
