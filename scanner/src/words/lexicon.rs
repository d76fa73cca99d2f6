//! The tables of all languages, built once into a tree of words, in which a text is looked up word by word.

use std::rc::Rc;
use std::sync::LazyLock;

use super::fold::{fold_phrase, is_unspaced};
use super::languages::{self, Language, Patterns};
use super::tree::{Map, Tree};
use super::{Hint, Thing};

/// What a stem may be followed by.
const ENDING_BYTES_MAX: usize = 24;
/// The shortest stem of the tables, in bytes.
const STEM_BYTES_MIN: usize = 3;
/// Longer runs are not taken apart into words.
const JOINED_BYTES_MAX: usize = 64;
/// Longer phrases are no names, so that nobody writes them in one word.
const JOINED_WORDS_MAX: usize = 4;
/// The longest word that such a run is taken apart into.
const PART_BYTES_MAX: usize = 12;

/// The parts that words play in a sentence.
pub(super) mod role {
    /// A verb of giving, before its object: `enter`.
    pub(crate) const GIVE: u32 = 1;
    /// A verb of giving that stands behind its object: `eingeben`.
    pub(crate) const GIVE_LAST: u32 = 1 << 1;
    /// A negation of what follows in its clause: `never`.
    pub(crate) const NO: u32 = 1 << 2;
    /// A negation that also binds what stands before it: `nicht`.
    pub(crate) const NO_LAST: u32 = 1 << 3;
    /// Opens a question, where it begins a clause.
    pub(crate) const QUESTION: u32 = 1 << 4;
    /// Somebody else who asks or acts: `scammers`, `they`, `asks for`.
    pub(crate) const OTHER: u32 = 1 << 5;
    /// Talk about something: `guide`, `about`, `forgot`.
    pub(crate) const TALK: u32 = 1 << 6;
    /// A verb of keeping, showing, getting or making.
    pub(crate) const KEEP: u32 = 1 << 7;
    /// A noun that takes the thing before it as its kind: `seed phrase generator`.
    pub(crate) const TAIL: u32 = 1 << 8;
    /// Words that a label may have around its head.
    pub(crate) const FILLER: u32 = 1 << 9;
    /// Prepositions: what follows belongs to what stands before.
    pub(crate) const LINK: u32 = 1 << 10;
    pub(crate) const AND: u32 = 1 << 11;
    /// Stands for a thing named before.
    pub(crate) const IT: u32 = 1 << 12;
    /// Who does something; a verb of giving right behind it only tells.
    pub(crate) const SUBJECT: u32 = 1 << 13;
    pub(crate) const PLEASE: u32 = 1 << 14;
    /// Asks with a question: `what is your`.
    pub(crate) const INQUIRE: u32 = 1 << 15;
    /// What happens to whoever does not obey: `suspended`.
    pub(crate) const THREAT: u32 = 1 << 16;
    /// Looks like one of the others and is none: `do not forget to`.
    pub(crate) const NOTHING: u32 = 1 << 17;
    /// `it` behind it is advice and no request: `only`.
    pub(crate) const ONLY: u32 = 1 << 18;
    /// Says of what kind a value is, so that a text with it is no plain ask.
    pub(crate) const KIND: u32 = 1 << 19;
    /// Opens a condition: `if`.
    pub(crate) const IF: u32 = 1 << 20;
    /// Whoever runs the page, who promises and does not warn: `we`.
    pub(crate) const OURS: u32 = 1 << 21;
    /// A verb of giving that may also mean to put down on paper: `write`.
    pub(crate) const WRITE: u32 = 1 << 22;
    /// What one writes on to keep it: `paper`, `steel plate`.
    pub(crate) const PAPER: u32 = 1 << 23;
    /// What has to do with an account at a bank, in a wallet, of a brand: `login`, `account`, `balance`.
    pub(crate) const ACCOUNT: u32 = 1 << 24;
    /// A verb of giving that is done among people: `share`.
    pub(crate) const SHARE: u32 = 1 << 25;
    /// Opens what is only said of a demand, its purpose or what comes of it: `so that`, `and we will`.
    pub(crate) const SO: u32 = 1 << 26;
    /// A place of its own in which things are entered: `app`, `device`, `terminal`.
    pub(crate) const ELSEWHERE: u32 = 1 << 27;
    /// A place on the page itself: `here`, `this form`.
    pub(crate) const NEARBY: u32 = 1 << 28;
    /// A preposition of places: `into`.
    pub(crate) const INTO: u32 = 1 << 29;
    /// Preposition and place elsewhere in one: `アプリで`, `with --key`.
    pub(crate) const THERE: u32 = 1 << 30;
}

/// What a phrase of the tables is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Thing(Thing),
    NoThing,
    Lure(&'static str),
    PossibleLure(&'static str),
    NoLure,
    Role(u32),
    Hint(Hint),
    /// Where the phrase is all of a text.
    WholeHint(Hint),
    WholeLure(&'static str),
}

/// The numbers of a word as it stands and as its stems; 0 is none.
pub(super) type Ids = [u32; 4];

#[derive(Default)]
pub(super) struct Lexicon {
    words: Map<String, u32>,
    /// Stems by what they begin with, to pass over most words quickly; the longest first.
    stems: Map<[u8; STEM_BYTES_MIN], Vec<(String, u32)>>,
    /// The words of scripts without spaces.
    unspaced: Tree,
    /// All words of ASCII, for letters that stand apart: `s e e d`.
    spelled: Tree,
    /// Words that things are named with, for names that are written in one word.
    parts: Tree,
    /// Node 0 is the root.
    edges: Map<(u32, u32), u32>,
    classes: Vec<Vec<Class>>,
    is_start: Vec<bool>,
}

pub(super) static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| {
    let mut lexicon = Lexicon { classes: vec![Vec::new()], is_start: vec![false], ..Lexicon::default() };
    languages::ALL.iter().for_each(|language| lexicon.add_language(language));
    languages::WHOLE_HINTS.iter().for_each(|(hint, texts)| lexicon.add(texts, Class::WholeHint(*hint)));
    languages::WHOLE_LURES.iter().for_each(|(name, texts)| lexicon.add(texts, Class::WholeLure(name)));
    lexicon
});

impl Lexicon {
    fn add_language(&mut self, language: &Language) {
        for (thing, patterns) in language.things {
            self.add(patterns, Class::Thing(*thing));
        }
        self.add(language.no_things, Class::NoThing);
        for (role, patterns) in language.roles {
            self.add(patterns, Class::Role(*role));
        }
        for (hint, patterns) in language.hints {
            self.add(patterns, Class::Hint(*hint));
        }
        for (name, patterns) in language.lures {
            self.add(patterns, Class::Lure(name));
        }
        for (name, patterns) in language.possible_lures {
            self.add(patterns, Class::PossibleLure(name));
        }
        self.add(language.no_lures, Class::NoLure);
    }

    fn add(&mut self, patterns: Patterns, class: Class) {
        for pattern in patterns {
            for phrase in expanded(pattern) {
                self.add_phrase(&phrase, class);
            }
        }
    }

    fn add_phrase(&mut self, phrase: &[Rc<str>], class: Class) {
        self.add_words(phrase, class);
        let names = matches!(class, Class::Thing(_) | Class::NoThing | Class::Lure(_) | Class::NoLure);
        if !names {
            return;
        }
        if let Class::Thing(_) | Class::NoThing = class {
            phrase.iter().filter(|word| is_part(word)).for_each(|word| self.parts.add(word));
        }
        // Names are often written in one word: `seedphrase`.
        let stems = phrase.iter().rev().skip(1).any(|word| word.ends_with('*'));
        if (2..=JOINED_WORDS_MAX).contains(&phrase.len())
            && !stems
            && !phrase.iter().any(|word| word.chars().any(is_unspaced))
        {
            self.add_words(&[phrase.concat().into()], class);
        }
    }

    fn add_words(&mut self, phrase: &[Rc<str>], class: Class) {
        let mut node = 0;
        for word in phrase {
            let id = self.word_id(word);
            if node == 0 {
                self.is_start[id as usize] = true;
            }
            let next = self.classes.len() as u32;
            node = *self.edges.entry((node, id)).or_insert(next);
            if node == next {
                self.classes.push(Vec::new());
            }
        }
        let classes = &mut self.classes[node as usize];
        if node != 0 && !classes.contains(&class) {
            classes.push(class);
        }
    }

    fn word_id(&mut self, word: &str) -> u32 {
        let next = self.is_start.len() as u32;
        let id = match word.strip_suffix('*') {
            Some(stem) => self.stem_id(stem, next),
            None => match self.words.get(word) {
                Some(known) => *known,
                None => *self.words.entry(word.to_owned()).or_insert(next),
            },
        };
        if id != next {
            return id;
        }
        self.is_start.push(false);
        if word.chars().all(is_unspaced) {
            self.unspaced.add(word);
        } else if is_part(word) {
            self.spelled.add(word);
        }
        id
    }

    fn stem_id(&mut self, stem: &str, next: u32) -> u32 {
        // A shorter stem would mean everything; the tables have none.
        let Some(start) = stem.as_bytes().first_chunk() else { return 0 };
        let stems = self.stems.entry(*start).or_default();
        if let Some((_, id)) = stems.iter().find(|(known, _)| known == stem) {
            return *id;
        }
        stems.push((stem.to_owned(), next));
        stems.sort_by_key(|(stem, _)| std::cmp::Reverse(stem.len()));
        next
    }

    /// The numbers of a folded word; all 0 for a word of no table.
    pub(super) fn ids(&self, word: &str) -> Ids {
        let mut ids = [self.words.get(word).copied().unwrap_or_default(), 0, 0, 0];
        let stems = word.as_bytes().first_chunk().and_then(|start| self.stems.get(start));
        let fits = |stem: &str| word.starts_with(stem) && word.len() - stem.len() <= ENDING_BYTES_MAX;
        let found = stems.into_iter().flatten().filter(|(stem, _)| fits(stem));
        ids[1..].iter_mut().zip(found).for_each(|(place, (_, id))| *place = *id);
        ids
    }

    /// How many characters at the start of a text without spaces make a word; none when there is no such word.
    pub(super) fn unspaced_word(&self, text: &[char]) -> Option<usize> {
        let mut longest = None;
        self.unspaced.words_at(text.iter().copied(), |length| longest = Some(length));
        longest
    }

    /// Calls back with the length and the classes of every phrase that begins with the first of these words.
    pub(super) fn phrases_at(&self, words: &[Ids], mut found: impl FnMut(usize, &[Class])) {
        let starts = words.first().is_some_and(|ids| ids.iter().any(|id| self.is_start[*id as usize]));
        if !starts {
            return;
        }
        let mut nodes = [0_u32; 8];
        let mut count = 1;
        for (at, ids) in words.iter().enumerate() {
            let mut next = [0_u32; 8];
            let mut next_count = 0;
            for node in &nodes[..count] {
                for id in ids.iter().filter(|id| **id != 0) {
                    if let Some(child) = self.edges.get(&(*node, *id))
                        && next_count < next.len()
                    {
                        next[next_count] = *child;
                        next_count += 1;
                        found(at + 1, &self.classes[*child as usize]);
                    }
                }
            }
            if next_count == 0 {
                return;
            }
            (nodes, count) = (next, next_count);
        }
    }

    /// Takes a name that is written in one word apart into words that things are named with.
    pub(super) fn name_taken_apart<'a>(&self, name: &'a str) -> Option<Vec<&'a str>> {
        taken_apart(name, &self.parts)
    }

    /// Takes letters that stood apart into words of the tables.
    pub(super) fn letters_taken_apart<'a>(&self, letters: &'a str) -> Option<Vec<&'a str>> {
        taken_apart(letters, &self.spelled)
    }
}

/// The words of the tree that cover all of a run of letters; longer words first.
fn taken_apart<'a>(joined: &'a str, words: &Tree) -> Option<Vec<&'a str>> {
    if !joined.is_ascii() || joined.len() > JOINED_BYTES_MAX {
        return None;
    }
    // reached[end] is the length of the last word of a way to cover everything before `end`.
    let mut reached = [0_usize; JOINED_BYTES_MAX + 1];
    for start in 0..joined.len() {
        if start == 0 || reached[start] != 0 {
            let rest = joined[start..].bytes().take(PART_BYTES_MAX).map(char::from);
            words.words_at(rest, |length| {
                let way = &mut reached[start + length];
                *way = if *way == 0 { length } else { *way };
            });
        }
    }
    let mut parts = Vec::new();
    let mut end = joined.len();
    while end > 0 && reached[end] != 0 {
        parts.push(&joined[end - reached[end]..end]);
        end -= reached[end];
    }
    parts.reverse();
    (end == 0 && !parts.is_empty()).then_some(parts)
}

/// Single letters, stems and long words are no parts of a run.
fn is_part(word: &str) -> bool {
    (2..=PART_BYTES_MAX).contains(&word.len()) && word.is_ascii() && !word.ends_with('*')
}

/// The words of a phrase, folded. Each stands in many phrases, so it is shared.
type Phrase = Vec<Rc<str>>;

/// The phrases that a pattern stands for.
fn expanded(pattern: &str) -> Vec<Phrase> {
    let mut phrases: Vec<Phrase> = vec![Vec::new()];
    for choices in pattern.split(' ') {
        let (choices, may_miss) =
            choices.strip_suffix('?').map_or((choices, false), |choices| (choices, true));
        let mut next = if may_miss { phrases.clone() } else { Vec::new() };
        for choice in choices.split('|') {
            for spelled in spellings(choice) {
                let words = by_script(&spelled);
                next.extend(phrases.iter().map(|phrase| [phrase.as_slice(), &words].concat()));
            }
        }
        phrases = next;
    }
    phrases.retain(|phrase| !phrase.is_empty());
    phrases
}

/// German is also written without its dots: `schlüssel` and `schluessel`.
fn spellings(word: &str) -> Vec<String> {
    let folded = fold_phrase(word);
    if !word.contains(['ä', 'ö', 'ü', 'Ä', 'Ö', 'Ü']) {
        return vec![folded];
    }
    let spelled_out = word.to_lowercase().replace('ä', "ae").replace('ö', "oe").replace('ü', "ue");
    let spelled_out = fold_phrase(&spelled_out);
    if spelled_out == folded { vec![folded] } else { vec![folded, spelled_out] }
}

/// A word is cut where its script changes between one with spaces and one without.
fn by_script(word: &str) -> Phrase {
    let mut words: Vec<String> = Vec::new();
    let mut before = None;
    for character in word.chars() {
        let script = is_unspaced(character);
        match words.last_mut() {
            Some(last) if before == Some(script) => last.push(character),
            _ => words.push(character.to_string()),
        }
        before = Some(script);
    }
    words.into_iter().map(Rc::from).collect()
}
