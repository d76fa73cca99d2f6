//! The tables: pure data, a file for each language. A pattern is words with a space between; `a|b` is a choice, `a?` may be
//! missing, `a*` is a stem with any ending. Capitals and marks do not matter: the tables are folded as the texts are.

mod de;
mod distant;
mod en;
mod en_hints;
mod en_lures;
mod es;
mod fr;
mod it;
mod ja;
mod lessons;
mod messages;
mod more;
mod nl;
mod others;
mod paraphrases;
mod pl;
mod places;
mod pt;
mod ru;
mod scenes;
mod tr;
mod zh;

use super::{Hint, Thing};

pub(super) type Patterns = &'static [&'static str];

/// What one language contributes.
#[derive(Clone, Copy)]
pub(super) struct Language {
    pub(super) things: &'static [(Thing, Patterns)],
    /// What sounds like a thing and is none: `library card number`, `random seed`.
    pub(super) no_things: Patterns,
    /// The parts that words play in a sentence, by the names in `lexicon::role`.
    pub(super) roles: &'static [(u32, Patterns)],
    pub(super) hints: &'static [(Hint, Patterns)],
    /// Lures, each with the name that the evidence gives it.
    pub(super) lures: &'static [(&'static str, Patterns)],
    /// Nouns that are lures only in the right company.
    pub(super) possible_lures: &'static [(&'static str, Patterns)],
    pub(super) no_lures: Patterns,
}

pub(super) const ALL: &[&Language] = &[
    &en::ENGLISH,
    &de::GERMAN,
    &fr::FRENCH,
    &es::SPANISH,
    &pt::PORTUGUESE,
    &it::ITALIAN,
    &nl::DUTCH,
    &pl::POLISH,
    &ru::RUSSIAN,
    &tr::TURKISH,
    &ja::JAPANESE,
    &zh::CHINESE,
    &more::MORE,
    &distant::DISTANT,
    &others::OTHERS,
    &scenes::SCENES,
    &paraphrases::PARAPHRASES,
    &lessons::LESSONS,
    &places::PLACES,
    &messages::MESSAGES,
];

pub(super) use en_lures::WHOLE_LURES;
pub(super) use messages::WHOLE_HINTS;
