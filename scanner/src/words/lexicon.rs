//! The vocabulary of all languages as a tree of words, for searching a text word by word. It is built once.

use std::sync::LazyLock;

use super::class::Class;
use super::fold::is_unspaced;
use super::languages::{self, Entry, File};
use super::pattern::{Pattern, STEM_BYTES_MIN};
use super::tree::{Map, Tree};

/// The longest ending after a stem.
const ENDING_BYTES_MAX: usize = 24;
/// Longer runs of letters are not split into words.
const JOINED_BYTES_MAX: usize = 64;
/// Longer phrases are not written as one word.
const JOINED_WORDS_MAX: usize = 4;
/// The longest word in such a run.
const PART_BYTES_MAX: usize = 12;

/// The ids of a word itself and of its stems. 0 means none.
pub(super) type Ids = [u32; 4];

#[derive(Default)]
pub(super) struct Lexicon {
    words: Map<String, u32>,
    /// Stems by their first bytes, so that most words are skipped quickly. The longest comes first.
    stems: Map<[u8; STEM_BYTES_MIN], Vec<(String, u32)>>,
    /// The words of scripts without spaces.
    unspaced: Tree,
    /// All ASCII words, for letters that are written apart: `s e e d`.
    spelled: Tree,
    /// Words in the names of things, for names that are written as one word.
    parts: Tree,
    /// Node 0 is the root.
    edges: Map<(u32, u32), u32>,
    classes: Vec<Vec<Class>>,
    is_start: Vec<bool>,
}

pub(super) static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| {
    let mut lexicon = Lexicon { classes: vec![Vec::new()], is_start: vec![false], ..Lexicon::default() };
    // A test ensures that the files have no faults.
    languages::FILES.iter().flat_map(File::entries).flatten().for_each(|entry| lexicon.add(&entry));
    lexicon
});

impl Lexicon {
    fn add(&mut self, Entry { pattern, classes }: &Entry) {
        let mut nodes = vec![0];
        for slot in &pattern.slots {
            let mut next = if slot.is_optional { nodes.clone() } else { Vec::new() };
            for choice in &slot.choices {
                let ids: Vec<u32> = choice.iter().map(|word| self.word_id(word)).collect();
                next.extend(nodes.iter().map(|node| self.node_behind(*node, &ids)));
            }
            nodes = next;
        }
        nodes.into_iter().for_each(|node| self.add_classes(node, classes));
        if classes.iter().any(|class| matches!(class, Class::Thing(_) | Class::NotThing)) {
            let words = pattern.slots.iter().flat_map(|slot| &slot.choices).flatten();
            words.filter(|word| is_part(word)).for_each(|word| self.parts.add(word));
        }
        let are_names = |class: &Class| {
            matches!(class, Class::Thing(_) | Class::NotThing | Class::Lure(_) | Class::NotLure)
        };
        if classes.iter().any(are_names) {
            for name in in_one_word(pattern) {
                let id = self.word_id(&name);
                let node = self.node_behind(0, &[id]);
                self.add_classes(node, classes);
            }
        }
    }

    fn add_classes(&mut self, node: u32, classes: &[Class]) {
        let known = &mut self.classes[node as usize];
        for class in classes {
            if !known.contains(class) {
                known.push(*class);
            }
        }
    }

    /// The node for these words, created if necessary.
    fn node_behind(&mut self, node: u32, ids: &[u32]) -> u32 {
        ids.iter().fold(node, |node, id| {
            if node == 0 {
                self.is_start[*id as usize] = true;
            }
            let next = self.classes.len() as u32;
            let behind = *self.edges.entry((node, *id)).or_insert(next);
            if behind == next {
                self.classes.push(Vec::new());
            }
            behind
        })
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
        // The loader rejects shorter stems.
        let Some(start) = stem.as_bytes().first_chunk() else { return 0 };
        let stems = self.stems.entry(*start).or_default();
        if let Some((_, id)) = stems.iter().find(|(known, _)| known == stem) {
            return *id;
        }
        stems.push((stem.to_owned(), next));
        stems.sort_by_key(|(stem, _)| std::cmp::Reverse(stem.len()));
        next
    }

    /// The ids of a normalized word. All are 0 for an unknown word.
    pub(super) fn ids(&self, word: &str) -> Ids {
        let mut ids = [self.words.get(word).copied().unwrap_or_default(), 0, 0, 0];
        let stems = word.as_bytes().first_chunk().and_then(|start| self.stems.get(start));
        let fits = |stem: &str| word.starts_with(stem) && word.len() - stem.len() <= ENDING_BYTES_MAX;
        let found = stems.into_iter().flatten().filter(|(stem, _)| fits(stem));
        ids[1..].iter_mut().zip(found).for_each(|(place, (_, id))| *place = *id);
        ids
    }

    /// The length in characters of the first word of a text without spaces, or `None` if no word matches.
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

    /// Splits a name that is written as one word into words that name things.
    pub(super) fn name_taken_apart<'a>(&self, name: &'a str) -> Option<Vec<&'a str>> {
        taken_apart(name, &self.parts)
    }

    /// Splits letters that were written apart into known words.
    pub(super) fn letters_taken_apart<'a>(&self, letters: &'a str) -> Option<Vec<&'a str>> {
        taken_apart(letters, &self.spelled)
    }
}

/// The words of the tree that cover a whole run of letters, preferring longer words.
fn taken_apart<'a>(joined: &'a str, words: &Tree) -> Option<Vec<&'a str>> {
    if !joined.is_ascii() || joined.len() > JOINED_BYTES_MAX {
        return None;
    }
    // reached[end] is the length of the last word of a cover of everything before `end`.
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

/// Names that are written as one word: `seedphrase`.
fn in_one_word(pattern: &Pattern) -> Vec<String> {
    let mut names = vec![(String::new(), 0)];
    for slot in &pattern.slots {
        let mut next = if slot.is_optional { names.clone() } else { Vec::new() };
        for choice in &slot.choices {
            let [word] = choice.as_slice() else { continue };
            if word.contains(is_unspaced) {
                continue;
            }
            // Nothing can follow the open end of a stem.
            let begun =
                names.iter().filter(|(name, count)| *count < JOINED_WORDS_MAX && !name.ends_with('*'));
            next.extend(begun.map(|(name, count)| ([name.as_str(), word].concat(), count + 1)));
        }
        names = next;
    }
    names.into_iter().filter(|(_, count)| *count > 1).map(|(name, _)| name).collect()
}

/// Single letters, stems and long words cannot be part of a run.
fn is_part(word: &str) -> bool {
    (2..=PART_BYTES_MAX).contains(&word.len()) && word.is_ascii() && !word.ends_with('*')
}
