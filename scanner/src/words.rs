//! What a text means as people read it: whether it asks for a thing, names it as a label does, or only talks about it.
//! The vocabulary comes from the files in `scanner/languages`; the logic is the same for all languages.
//! This module never reads markup, and what it keeps of a text is bounded, however long the text is.

mod alike;
mod class;
mod clauses;
mod fold;
mod found;
mod judge;
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
    /// The words that open a wallet, by a name that means nothing else: seed phrase, secret recovery phrase, mnemonic phrase.
    SeedPhrase,
    /// What means a seed phrase on a page about wallets and something else elsewhere: seed, passphrase, mnemonic, 12 words.
    MaybeSeedPhrase,
    /// A private key, by a name that means nothing else.
    PrivateKey,
    /// What means a private key on a page about wallets: secret key, keystore, wallet key.
    MaybePrivateKey,
    CardNumber,
    /// The CVV of a card. "Security code" counts: only together with a card number does it mean anything.
    CardCode,
    CardExpiry,
    CardHolder,
    Password,
    /// Only while a text is read: what means a seed phrase in a label or a request, and may mean something else in passing.
    RecoveryPhrase,
    /// Only while a text is read: a phrase, which means something only beside a wallet or a number of words.
    BarePhrase,
}

/// How strongly a text brings a thing up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sense {
    /// A sentence about it: an article, a question about it, a warning, a promise, a button that shows or makes it.
    Mentioned,
    /// The text is a label with the thing as its head.
    Named,
    /// The text asks the reader to give it.
    Requested,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sensed {
    pub(crate) sense: Sense,
    /// The words that it was found by, folded, for the evidence.
    pub(crate) words: String,
}

/// What a text is about, for the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumString)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum Hint {
    /// The talk is of crypto wallets: metamask, ledger, blockchain, airdrop, …
    Wallet,
    /// "Word 1", "1.", "#3", "word3", "Wort 5", and nothing else.
    NumberedWord,
    /// Says nothing of what to enter: "Enter here", "Value", "Your answer", or no words at all.
    PlainAsk,
    /// A short text with a word of searching.
    Search,
    /// Names a value that is none of the things: e-mail, name, comment, amount, a code from an SMS, an answer.
    OtherValue,
    /// Verbs of handing over a password: sign in, continue, unlock, submit, verify, next.
    SignIn,
    /// Tools that make or rate passwords: generate, strength, length.
    MakesPasswords,
    /// A card that is none for paying: gift, library, loyalty, student.
    OtherCard,
    /// Talk about something, as an article's heading or a quiz has it: what is, how to, guide, explained, quiz.
    Talk,
    /// Learning by answering: quiz, exam, crossword, flash card.
    Quiz,
    /// A subject other than money, brands and accounts, in which a bank is a river's, an apple a fruit and a wallet made of
    /// leather; also music and memory. It makes only `possible_lures` doubtful.
    Elsewhere,
    /// Fields and buttons for messages and talk: "Type a message", "Reply", "Chat". `OtherValue` always stands beside it.
    Message,
}

/// A text, read. It holds what was found and not the text itself. A hostile page has a million of them, most of which say
/// nothing, so that a text without findings allocates nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Text {
    /// At most one for each thing.
    senses: Vec<(Thing, Sensed)>,
    /// Sorted by name.
    lures: Vec<Lure>,
    hints: u32,
    word_count: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Lure {
    name: &'static str,
    /// Nothing else can be meant.
    is_certain: bool,
}

impl Text {
    /// What people read: a label, a sentence, a page.
    pub(crate) fn of(raw: &str) -> Text {
        Reading::of(raw, Manner::Prose)
    }

    /// An identifier of the markup: `seedPhrase`, `card-number`, `privkey`, `word12`.
    pub(crate) fn of_name(raw: &str) -> Text {
        Reading::of(&names::spaced(raw), Manner::Name)
    }

    /// The strongest sense in which the thing stands in any sentence.
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

/// Lures of the review rule: brands and urgency, as words that people see, where nothing else can be meant. Sorted.
pub(crate) fn lures(text: &Text) -> Vec<String> {
    text.lures_that(|lure| lure.is_certain)
}

/// Nouns in passing that may be lures: bank, apple, wallet. They count where nothing on the page is `Hint::Elsewhere`. Sorted.
pub(crate) fn possible_lures(text: &Text) -> Vec<String> {
    text.lures_that(|lure| !lure.is_certain)
}
