//! Searches a sentence for the phrases of the lexicon: things, lures and the roles of words.

use super::class::Class;
use super::classifier::PhraseMatch;
use super::lexicon::{Ids, LEXICON};
use super::lures::{LureAt, may_name_bank};
use super::reader::{Gap, Manner, TextWord};
use super::roles::{Role::*, Roles};
use super::{Text, Thing};

/// Longer phrases are not searched for.
const PHRASE_WORDS_MAX: usize = 12;

impl<'a> PhraseMatch<'a> {
    /// Finds the phrases of the lexicon in a sentence. Of overlapping phrases the first counts, then the
    /// longest.
    pub(super) fn in_words(
        words: &'a [TextWord],
        is_question: bool,
        manner: Manner,
        text: &mut Text,
    ) -> PhraseMatch<'a> {
        let mut found = PhraseMatch::new(words, is_question, manner);
        let ids: Vec<Ids> = words.iter().map(|word| word.ids).collect();
        let (mut thing_from, mut lure_from, mut role_from) = (0, 0, 0);
        for at in 0..ids.len() {
            if ids[at] == [0; 4] {
                if may_name_bank(&words[at]) {
                    found.lures.push(LureAt { name: "bank", is_certain: false, from: at, to: at + 1 });
                }
                continue;
            }
            let mut longest = Longest::default();
            let reach = Reach::of(words, at);
            LEXICON.phrases_at(&ids[at..reach.end], |length, classes| {
                let is_whole = length == ids.len() && manner == Manner::Prose;
                let classes = classes.iter().filter(|class| at + length <= reach.end_of(**class));
                for class in classes {
                    longest.take(*class, length, text);
                    if is_whole {
                        found.whole.take(*class);
                    }
                }
            });
            if at >= role_from && longest.role.0 > 0 {
                role_from = at + longest.role.0;
                found.roles[at..role_from].iter_mut().for_each(|roles| *roles |= longest.role.1);
            }
            if at >= thing_from && longest.thing.0 > 0 {
                thing_from = at + longest.thing.0;
                found.add_thing(longest.thing.1, at, thing_from);
            }
            if at >= lure_from && longest.lure.0 > 0 {
                lure_from = at + longest.lure.0;
                let lure = |(name, is_certain)| LureAt { name, is_certain, from: at, to: lure_from };
                found.lures.extend(longest.lure.1.map(lure));
            }
        }
        found.settle();
        found
    }
}

/// Limits a phrase by punctuation: `Any seed, phrase or name` names no seed phrase.
struct Reach {
    end: usize,
    /// The position of the first slash. Only dates contain one: `MM/YY`.
    slash: usize,
}

impl Reach {
    fn of(words: &[TextWord], at: usize) -> Reach {
        let longest = words.len().min(at + PHRASE_WORDS_MAX);
        let first =
            |gaps: &[Gap], end| (at + 1..end).find(|at| gaps.contains(&words[*at].gap)).unwrap_or(end);
        let end = first(&[Gap::Comma, Gap::Colon], longest);
        Reach { end, slash: first(&[Gap::Slash], end) }
    }

    fn end_of(&self, class: Class) -> usize {
        if class == Class::Thing(Thing::CardExpiry) { self.end } else { self.slash }
    }
}

/// The longest phrase of each kind that begins at one word.
#[derive(Default)]
struct Longest {
    thing: (usize, Option<Thing>),
    lure: (usize, Option<(&'static str, bool)>),
    role: (usize, Roles),
}

impl Longest {
    fn take(&mut self, class: Class, length: usize, text: &mut Text) {
        match class {
            Class::Thing(thing) if length > self.thing.0 => self.thing = (length, Some(thing)),
            Class::NotThing if length >= self.thing.0 => self.thing = (length, None),
            Class::Lure(name) if length > self.lure.0 => self.lure = (length, Some((name, true))),
            Class::PossibleLure(name) if length > self.lure.0 => self.lure = (length, Some((name, false))),
            Class::NotLure if length >= self.lure.0 => self.lure = (length, None),
            Class::Role(role) if length > self.role.0 => self.role = (length, role.into()),
            Class::Role(role) if length == self.role.0 => self.role.1 |= role,
            Class::Hint(hint) => text.put_hint(hint),
            _ => {}
        }
    }
}

/// The meaning of a sentence if it is the whole text: `Reply`, `Outlook`.
#[derive(Clone, Copy, Default)]
pub(super) struct Whole {
    pub(super) hints: u32,
    pub(super) lure: Option<&'static str>,
}

impl Whole {
    fn take(&mut self, class: Class) {
        match class {
            Class::WholeHint(hint) => self.hints |= 1 << hint as u32,
            Class::WholeLure(name) => self.lure = Some(name),
            _ => {}
        }
    }
}

/// Whether a word may be in a text that asks for nothing specific.
pub(super) fn is_plain(roles: Roles) -> bool {
    roles.has_any(Give | GiveLast | Filler | Please | It | Link | And)
}
