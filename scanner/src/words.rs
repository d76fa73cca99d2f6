//! Decides what a text means to its readers: whether it asks for a thing, names it as a label does, or only
//! mentions it. The vocabulary is in the files of `scanner/languages`. The logic is the same for all
//! languages. This module never reads markup, and what it stores of a text is bounded.

mod alike;
mod class;
mod classifier;
mod clauses;
mod fold;
mod found;
mod labels;
mod languages;
mod letters;
mod lexicon;
mod lures;
mod names;
mod pattern;
mod places;
mod quotes;
mod reader;
mod roles;
mod seams;
#[cfg(test)]
mod tests;
mod tree;

use reader::{Manner, Reading};
use strum::EnumString;

/// A thing that a text may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, EnumString)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum Thing {
    /// A seed phrase, by an unambiguous name: seed phrase, secret recovery phrase, mnemonic phrase.
    SeedPhrase,
    /// A seed phrase on a page about wallets, and something else elsewhere: seed, passphrase, mnemonic, 12
    /// words.
    MaybeSeedPhrase,
    /// A private key, by an unambiguous name.
    PrivateKey,
    /// A private key on a page about wallets: secret key, keystore, wallet key.
    MaybePrivateKey,
    CardNumber,
    /// The CVV of a card. "Security code" is included, because the rule requires a card number as well.
    CardCode,
    CardExpiry,
    CardHolder,
    Password,
    /// Only while a text is read: a seed phrase in a label or a request, which may mean something else in
    /// passing.
    RecoveryPhrase,
    /// Only while a text is read: a phrase, which has a meaning only next to a wallet or a number of words.
    BarePhrase,
}

/// How strongly a text refers to a thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sense {
    /// A sentence about it: an article, a question, a warning, a promise, a button that shows or creates it.
    Mentioned,
    /// A label with the thing as its head.
    Named,
    /// A request to the reader to enter it.
    Requested,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sensed {
    pub(crate) sense: Sense,
    /// The matched words in normalized form, for the evidence.
    pub(crate) words: String,
}

/// The subject of a text, for the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumString)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum Hint {
    /// Crypto wallets: metamask, ledger, blockchain, airdrop, …
    Wallet,
    /// "Word 1", "1.", "#3", "word3", "Wort 5", and nothing else.
    NumberedWord,
    /// Does not say what to enter: "Enter here", "Value", "Your answer", or no words at all.
    PlainAsk,
    /// A short text with a word for searching.
    Search,
    /// Names another value: e-mail, name, comment, amount, a code from an SMS, an answer.
    OtherValue,
    /// Verbs for submitting a password: sign in, continue, unlock, submit, verify, next.
    SignIn,
    /// Tools that generate or rate passwords: generate, strength, length.
    MakesPasswords,
    /// A card that is not a payment card: gift, library, loyalty, student.
    OtherCard,
    /// Text about something, such as the heading of an article: what is, how to, guide, explained, quiz.
    Talk,
    /// Learning by answering: quiz, exam, crossword, flash card.
    Quiz,
    /// A subject other than money, brands and accounts, where "bank" means a river bank, "apple" a fruit and
    /// "wallet" a leather wallet. Also music and memory. It affects only `possible_lures`.
    Elsewhere,
    /// Fields and buttons for messages: "Type a message", "Reply", "Chat". `OtherValue` is always set as
    /// well.
    Message,
}

/// A parsed text. It stores what was found and not the text itself. A hostile page has a million texts
/// without findings, so that these allocate nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Text {
    /// At most one entry for each thing.
    senses: Vec<(Thing, Sensed)>,
    /// Sorted by name.
    lures: Vec<Lure>,
    hints: u32,
    word_count: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Lure {
    name: &'static str,
    /// It has no other meaning.
    is_certain: bool,
}

impl Text {
    /// Parses visible text: a label, a sentence, a page.
    pub(crate) fn of(raw: &str) -> Text {
        Reading::of(raw, Manner::Prose)
    }

    /// Parses an identifier of the markup: `seedPhrase`, `card-number`, `privkey`, `word12`.
    pub(crate) fn of_name(raw: &str) -> Text {
        Reading::of(&names::spaced(raw), Manner::Name)
    }

    /// The strongest sense of the thing in any sentence.
    pub(crate) fn sense(&self, thing: Thing) -> Option<Sensed> {
        self.sensed(thing).cloned()
    }

    pub(crate) fn has(&self, hint: Hint) -> bool {
        self.hints & (1 << hint as u32) != 0
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.word_count == 0
    }

    pub(crate) fn word_count(&self) -> usize {
        self.word_count as usize
    }

    fn put_hint(&mut self, hint: Hint) {
        self.hints |= 1 << hint as u32;
    }

    fn sensed(&self, thing: Thing) -> Option<&Sensed> {
        self.senses.iter().find(|(known, _)| *known == thing).map(|(_, sensed)| sensed)
    }

    fn put_sense(&mut self, thing: Thing, sense: Sense, words: impl FnOnce() -> String) {
        match self.senses.iter_mut().find(|(known, _)| *known == thing) {
            None => {
                // Most texts name one thing.
                self.senses.reserve_exact(1);
                self.senses.push((thing, Sensed { sense, words: words() }));
            }
            Some((_, weaker)) if weaker.sense < sense => *weaker = Sensed { sense, words: words() },
            Some(_) => {}
        }
    }

    fn take_sense(&mut self, thing: Thing) -> Option<Sensed> {
        let at = self.senses.iter().position(|(known, _)| *known == thing)?;
        Some(self.senses.swap_remove(at).1)
    }

    fn shrink(&mut self) {
        self.senses.shrink_to_fit();
        self.senses.iter_mut().for_each(|(_, sensed)| sensed.words.shrink_to_fit());
        self.lures.shrink_to_fit();
    }

    fn lures_that(&self, are_wanted: impl Fn(&&Lure) -> bool) -> Vec<String> {
        self.lures.iter().filter(are_wanted).map(|lure| lure.name.to_owned()).collect()
    }
}

/// Lures of the review rule: visible brands and phrases of urgency without another meaning. Sorted.
pub(crate) fn lures(text: &Text) -> Vec<String> {
    text.lures_that(|lure| lure.is_certain)
}

/// Ambiguous nouns that may be lures: bank, apple, wallet. They count if no text on the page has
/// `Hint::Elsewhere`. Sorted.
pub(crate) fn possible_lures(text: &Text) -> Vec<String> {
    text.lures_that(|lure| !lure.is_certain)
}
