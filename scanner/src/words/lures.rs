//! Nouns that are lures only in the right context. River banks, apples on trees and leather wallets do not
//! count.

use super::classifier::PhraseMatch;
use super::found::is_plain;
use super::reader::{Gap, TextWord};
use super::roles::Role::*;
use super::{Lure, Text};

const LURES_MAX: usize = 12;
/// "My bank" counts, a sentence that contains a bank does not.
const ALONE_WORDS_MAX: usize = 3;
/// The maximum distance between such a noun and a word about accounts.
const NEAR_WORDS_MAX: usize = 4;
/// In a heading with more capitals than this, a capital does not mark a name.
const CAPITALS_MAX: usize = 4;

/// Nouns that are followed by their name: `Banco Serrano`.
const NAMED_BEHIND: [&str; 5] = ["banco", "banca", "banque", "banka", "банк"];
/// On its own it means a jar: the nominative of bank is `банк`.
const JARS: [&str; 3] = ["банка", "банки", "банку"];
/// Last words of company names: `Serrano Bank Ltd`.
const COMPANY: &str = "ltd limited plc inc ag na usa uk group corp corporation co europe trust";
/// Endings of German adjectives, which may begin a sentence: `Neue Bank`.
const ADJECTIVE_ENDINGS: [&str; 4] = ["e", "er", "en", "es"];

/// Shorter prefixes do not form the name of a bank.
const BANK_STEM_CHARS_MIN: usize = 3;
/// Prefixes of `bank` in compounds with another meaning: benches, collections, locations.
const STEMS_OF_OTHERS: &str = "\
    daten data bild bilder image beeld wissens kennis kunskaps ideen job vacature word phrase question vraag \
    muster zeit tid tids time tausch blut blood bloed blod zell samen seed zaad saatgut gen gene \
    genen milk food voedsel mittel mat toy speelgoed clothes kleding power fenster kuchen kirchen kerk \
    school garten park wald holz sitz zit werk sand schlamm river spiel";

/// Prefixes of `bank` in names of places: `Burbank`, `Millbank`.
const PLACES: [&str; 12] =
    ["bur", "fair", "mill", "south", "north", "east", "west", "clyde", "sunny", "green", "rose", "moss"];

/// A lure and its position.
#[derive(Clone, Copy)]
pub(super) struct LureAt {
    pub(super) name: &'static str,
    pub(super) is_certain: bool,
    pub(super) from: usize,
    pub(super) to: usize,
}

/// The lures of a text while it is read.
#[derive(Default)]
pub(super) struct Lures {
    certain: Vec<&'static str>,
    possible: Vec<&'static str>,
    /// A possible lure that stands alone in a sentence with this many words. It is certain if the text has no
    /// other words.
    alone: Option<(&'static str, usize)>,
}

impl Lures {
    pub(super) fn take(&mut self, sentence: &PhraseMatch<'_>) {
        for lure in &sentence.lures {
            if lure.is_certain || sentence.is_meant(lure) {
                put(&mut self.certain, lure.name);
            } else {
                put(&mut self.possible, lure.name);
                self.alone = sentence.is_alone(lure).then(|| (lure.name, sentence.word_count()));
            }
        }
    }

    /// Adds a lure that only counts as the whole text.
    pub(super) fn take_whole(&mut self, name: Option<&'static str>) {
        name.into_iter().for_each(|name| put(&mut self.certain, name));
    }

    pub(super) fn settle(mut self, text: &mut Text) {
        if let Some((name, words)) = self.alone
            && words == text.word_count()
        {
            put(&mut self.certain, name);
        }
        self.possible.retain(|name| !self.certain.contains(name));
        text.lures.extend(self.certain.into_iter().map(|name| Lure { name, is_certain: true }));
        text.lures.extend(self.possible.into_iter().map(|name| Lure { name, is_certain: false }));
        text.lures.sort_unstable();
    }
}

fn put(lures: &mut Vec<&'static str>, name: &'static str) {
    if lures.len() < LURES_MAX && !lures.contains(&name) {
        lures.push(name);
    }
}

/// An unknown name with an ending of bank names: `Hafenbank`, `Mälarbanken`.
pub(super) fn may_name_bank(word: &TextWord) -> bool {
    let stem = ["bank", "banken"].iter().find_map(|ending| word.folded.strip_suffix(ending));
    let is_name = |stem: &str| {
        stem.chars().count() >= BANK_STEM_CHARS_MIN
            && !STEMS_OF_OTHERS.split(' ').any(|other| stem.ends_with(other))
            && !PLACES.contains(&stem)
    };
    word.is_capital && stem.is_some_and(is_name)
}

impl PhraseMatch<'_> {
    fn is_meant(&self, lure: &LureAt) -> bool {
        match lure.name {
            "bank" => {
                self.is_name(lure)
                    || (!self.is_inside_name(lure) && self.has_account_near(lure, NEAR_WORDS_MAX))
            }
            "apple" => self.is_proper(lure),
            _ => self.has_account_near(lure, NEAR_WORDS_MAX),
        }
    }

    /// The sentence contains nothing else: `Bank`, `My wallet`.
    fn is_alone(&self, lure: &LureAt) -> bool {
        let noun = &self.words[lure.from];
        if JARS.contains(&noun.folded.as_str()) || may_name_bank(noun) {
            return false;
        }
        let others = (0..self.words.len()).filter(|at| !(lure.from..lure.to).contains(at));
        self.words.len() <= ALONE_WORDS_MAX && others.into_iter().all(|at| is_plain(self.roles[at]))
    }

    fn has_account_near(&self, lure: &LureAt, words_max: usize) -> bool {
        let near = lure.from.saturating_sub(words_max)..(lure.to + words_max).min(self.words.len());
        near.into_iter().any(|at| self.roles[at].has_any(Account))
    }

    /// `First National Bank`, `Banco Serrano`, `Bank of Ireland`, but not a heading In Which Every Word Is A
    /// Capital.
    fn is_name(&self, lure: &LureAt) -> bool {
        let is_heading = self.words.len() > CAPITALS_MAX && self.words.iter().all(|word| word.is_capital);
        let noun = &self.words[lure.from];
        if !noun.is_capital || is_heading {
            return false;
        }
        if NAMED_BEHIND.contains(&noun.folded.as_str()) {
            return self.is_own_name(lure.to);
        }
        let is_of = self.words.get(lure.to).is_some_and(|word| word.folded == "of");
        (is_of && self.is_own_name(lure.to + 1))
            || (self.is_named_before(lure.from) && self.ends_name(lure.to))
    }

    /// `Meadow Bank Nursery` is named after a place.
    fn is_inside_name(&self, lure: &LureAt) -> bool {
        self.words[lure.from].is_capital && self.is_own_name(lure.to)
    }

    fn is_named_before(&self, noun: usize) -> bool {
        let Some(before) = noun.checked_sub(1) else { return false };
        let is_adjective =
            before == 0 && ADJECTIVE_ENDINGS.iter().any(|ending| self.words[before].folded.ends_with(ending));
        self.words[noun].gap == Gap::None && self.is_own(before) && !is_adjective
    }

    fn ends_name(&self, behind: usize) -> bool {
        let Some(word) = self.words.get(behind) else { return true };
        let is_known =
            self.roles[behind].has_any(Account) || COMPANY.split(' ').any(|known| known == word.folded);
        word.gap != Gap::None || !word.is_capital || is_known
    }

    fn is_own_name(&self, at: usize) -> bool {
        self.words.get(at).is_some_and(|word| word.gap == Gap::None) && self.is_own(at)
    }

    /// An unknown word with a capital is a name.
    fn is_own(&self, at: usize) -> bool {
        self.words[at].is_capital
            && self.roles[at].is_empty()
            && !self.words[at].folded.bytes().any(|byte| byte.is_ascii_digit())
    }

    /// It has a capital in the middle of a sentence and is not part of a longer name: `protected by Apple`.
    fn is_proper(&self, lure: &LureAt) -> bool {
        let noun = &self.words[lure.from];
        let is_inside = noun.gap == Gap::None
            && lure.from.checked_sub(1).is_some_and(|before| !self.words[before].is_capital);
        let is_last = self.words.get(lure.to).is_none_or(|word| word.gap != Gap::None || !word.is_capital);
        noun.is_capital && is_last && (is_inside || self.has_account_near(lure, 1))
    }
}
