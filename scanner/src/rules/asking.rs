//! Decides whether a field asks for a thing: by its own words, or if it has none, by the texts around it.

use std::rc::Rc;

use crate::page::{Block, Form, Kind, Role};
use crate::words::{Hint, Sense, Sensed, Text, Thing};

use super::nearby::{At, NearbyTexts, Stretch, is_prose, says_nothing};

/// Longer texts are not labels.
const LABEL_WORDS_MAX: usize = 14;

/// The meaning of the texts next to a field without words of its own.
enum Beside {
    /// They ask for the thing, in these words.
    Asks(String),
    /// They name something else.
    Another,
    Nothing,
}

/// What kind of text asks visitors for something.
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

/// A label of one word does not say clearly what to enter.
const VAGUE_WORDS_MAX: usize = 1;

/// A thing that a rule searches for, and the thing that means the same on a page with the right subject.
#[derive(Clone, Copy)]
pub(super) struct Wanted {
    pub(super) thing: Thing,
    pub(super) maybe: Option<Thing>,
    /// Whether fields for numbers accept it.
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

    /// Whether a text says that the field is for something else.
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
        by_label.or_else(|| self.requested_by_hint(wanted)).or_else(|| {
            let talks = |text: &Text| wanted.sense(text, self).is_some();
            if self.field.labels().any(talks) {
                // "What is a seed phrase?" as a label asks a question that the visitor answers.
                None
            } else if self.field.hints().iter().any(talks) {
                // The hint explains the label, or is about something else.
                self.requested_beside(wanted)
            } else {
                self.requested_by_less(wanted)
            }
        })
    }

    /// The field's own visible texts.
    pub(super) fn own_texts(self) -> impl Iterator<Item = &'p Text> {
        self.field.labels().chain(self.field.hints())
    }

    /// Whether the field's own texts do not say what to enter.
    pub(super) fn is_unnamed(self) -> bool {
        self.own_texts().all(says_nothing)
    }

    fn requested_by_hint(self, wanted: Wanted) -> Option<String> {
        let is_for_another = self.field.labels().any(|text| wanted.is_another(text));
        let least = if is_for_another { Sense::Requested } else { Sense::Named };
        self.field.hints().iter().find_map(|text| wanted.at_least(least, text, self))
    }

    fn requested_by_less(self, wanted: Wanted) -> Option<String> {
        if self.own_texts().any(|text| wanted.is_another(text)) {
            return self.requested_in_chat(wanted);
        }
        let is_open = self.field.labels().all(says_nothing);
        if is_open { self.asked_around(wanted) } else { self.requested_by_name(wanted) }
    }

    /// Decides by its identifiers and by `autocomplete`. Visible text takes precedence, unless it is too
    /// short to be clear.
    fn requested_by_name(self, wanted: Wanted) -> Option<String> {
        let says_much = self.field.labels().any(|label| label.word_count() > VAGUE_WORDS_MAX);
        let names = self.field.names().iter().filter(|_| !says_much).chain(self.field.filled_in());
        names.into_iter().find_map(|name| wanted.at_least(Sense::Named, name, self))
    }

    /// Decides by the last message before a field for chat messages: "Please type your recovery phrase here."
    fn requested_in_chat(self, wanted: Wanted) -> Option<String> {
        let is_message = self.own_texts().any(|text| text.has(Hint::Message));
        let is_other = self.own_texts().any(|text| text.has(Hint::Search)) || self.stretch.is_article;
        let is_for_messages = is_message && !is_other && matches!(self.field.kind, Kind::Line | Kind::Area);
        if !is_for_messages {
            return None;
        }
        let last = self.beside().next();
        let said = last.and_then(|last| wanted.at_least(Sense::Requested, last.text(), self));
        // A script may write the messages of the chat.
        said.or_else(|| {
            self.requests_by(SentenceMood::Script, wanted).first().map(|(_, words)| words.clone())
        })
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
        let by_name = self.requested_by_name(wanted);
        if by_name.is_some() || !takes_it || self.field.shape.is_named_search {
            return by_name;
        }
        let behind = self.asked_behind(wanted);
        if behind.is_some() || wanted.is_digits {
            return behind;
        }
        self.requested_before(wanted)
            .or_else(|| self.requested_elsewhere(wanted))
            .or_else(|| self.requested_by_button(wanted))
    }

    /// Decides by the field's button: "Send seed phrase". A button that shows or copies a phrase does not
    /// count.
    fn requested_by_button(self, wanted: Wanted) -> Option<String> {
        let is_beside_talk = self.stretch.is_article && self.field.spot.form == Form::None;
        // A field with its own label asks for what the label names, whatever the button opens next.
        if is_beside_talk || !self.is_unnamed() || self.is_sent_as_another() {
            return None;
        }
        self.handing_in().find_map(|button| wanted.at_least(Sense::Requested, button.text(), self))
    }

    fn requested_beside(self, wanted: Wanted) -> Option<String> {
        match self.beside_says(wanted) {
            Beside::Asks(words) => Some(words),
            Beside::Another | Beside::Nothing => None,
        }
    }

    /// The meaning of the texts between this field and the one before it.
    fn beside_says(self, wanted: Wanted) -> Beside {
        let is_search = self.field.shape.is_named_search;
        // A search field may stand below a heading that names what is searched.
        for block in self.beside().filter(|block| !is_search || block.role == Role::Plain) {
            let text = block.text();
            let is_label =
                text.word_count() <= LABEL_WORDS_MAX && matches!(block.role, Role::Plain | Role::Heading);
            let least = if is_label { Sense::Named } else { Sense::Requested };
            if let Some(words) = wanted.at_least(least, text, self) {
                return Beside::Asks(words);
            }
            // The nearest label wins. A text that mentions the thing in passing is not a label.
            let talks = wanted.sense(text, self).is_some();
            let is_question = block.raw().trim_end().ends_with(['?', '？']);
            if is_label && (talks || is_question || wanted.is_another(text)) {
                return Beside::Another;
            }
        }
        Beside::Nothing
    }

    /// A label that is not directly before the field: the only text of the field's own box, or the head of
    /// its column.
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

    /// Decides by a request earlier in the form or on the page.
    fn requested_before(self, wanted: Wanted) -> Option<String> {
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

    /// Decides by the title, and by the other parts of the page if a script or a frame adds the field.
    fn requested_elsewhere(self, wanted: Wanted) -> Option<String> {
        if self.is_sent_as_another() {
            return None;
        }
        let titled = self.stretch.titled(wanted, self);
        titled
            .or_else(|| self.request_in_other_part(wanted))
            .or_else(|| self.request_anywhere_in_part(wanted))
    }

    /// A request in another part of the page that addresses all visitors.
    pub(super) fn request_in_other_part(self, wanted: Wanted) -> Option<String> {
        let (requests, here) = (self.requests_by(SentenceMood::Page, wanted), self.stretch_number());
        requests.iter().find(|(number, _)| Some(*number) != here).map(|(_, words)| words.clone())
    }

    /// A request anywhere in the output of a script that also writes a bare field.
    fn request_anywhere_in_part(self, wanted: Wanted) -> Option<String> {
        let here = self.stretch_number().filter(|_| self.stretch.part.is_written && self.is_unnamed());
        let requests = self.requests_by(SentenceMood::Script, wanted);
        requests.iter().find(|(number, _)| Some(*number) == here).map(|(_, words)| words.clone())
    }

    fn stretch_number(self) -> Option<usize> {
        self.view.stretches.iter().position(|stretch| std::ptr::eq(stretch, self.stretch))
    }

    fn requests_by(self, voice: SentenceMood, wanted: Wanted) -> NearbyTexts {
        if let Some(requests) = self.view.requests.borrow().get(&(voice, wanted.thing)) {
            return requests.clone();
        }
        let stretches = self.view.stretches.iter().enumerate();
        let requests = stretches.filter_map(|(number, stretch)| {
            let words = match voice {
                SentenceMood::Page => stretch.requests(wanted, self),
                SentenceMood::Script => stretch.demanded(wanted, self),
            };
            Some((number, words?))
        });
        let requests: NearbyTexts = Rc::new(requests.collect());
        self.view.requests.borrow_mut().insert((voice, wanted.thing), requests.clone());
        requests
    }

    /// Whether the button says that it submits something else: a comment, a search, a subscription.
    fn is_sent_as_another(self) -> bool {
        self.buttons().any(|button| button.text().has(Hint::OtherValue) || button.text().has(Hint::Search))
    }
}

impl Stretch<'_> {
    /// A text's request that addresses all visitors of the page.
    fn requests(&self, wanted: Wanted, at: At<'_, '_>) -> Option<String> {
        self.titled(wanted, at).or_else(|| {
            self.speaking().find_map(|(_, block)| {
                let least = if block.role == Role::Heading { Sense::Named } else { Sense::Requested };
                wanted.at_least(least, block.text(), at)
            })
        })
    }

    /// An explicit request in a script's text, outside of titles and headings.
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
