//! Words as people tell them apart: lower case, without punctuation, each with its boundaries.

use std::collections::HashSet;
use std::sync::LazyLock;

/// Texts, folded, a line each; every word has a space on both sides.
#[derive(Clone, Debug, Default)]
pub(crate) struct Words(String);

/// Phrases to look for, as their words and as the one word that names in markup often make of them.
pub(crate) struct Phrases(Vec<Phrase>);

struct Phrase {
    name: &'static str,
    spaced: String,
    joined: String,
}

/// With one of these before it, a thing is warned of and not asked for.
static WARNING_WORDS: LazyLock<HashSet<&str>> =
    LazyLock::new(|| ["never", "not", "don", "dont", "nobody", "beware"].into());

impl Phrases {
    pub(crate) fn new(names: &[&'static str]) -> Self {
        let phrase = |name: &&'static str| Phrase {
            name,
            spaced: format!(" {name} "),
            joined: format!(" {} ", name.replace(' ', "")),
        };
        Self(names.iter().map(phrase).collect())
    }
}

impl Words {
    /// Adds a text that people read.
    pub(crate) fn add(&mut self, text: &str) {
        let line_start = self.0.len();
        self.0.push(' ');
        for character in text.chars() {
            if character.is_alphanumeric() {
                self.0.extend(character.to_lowercase());
            } else if !self.0.ends_with(' ') {
                self.0.push(' ');
            }
        }
        if self.0.len() == line_start + 1 {
            return self.0.truncate(line_start);
        }
        if !self.0.ends_with(' ') {
            self.0.push(' ');
        }
        self.0.push('\n');
    }

    /// Adds a name from the markup, in which a capital may begin a word: `seedPhrase`.
    pub(crate) fn add_name(&mut self, name: &str) {
        let mut spaced = String::with_capacity(name.len() + 8);
        let mut after_small = false;
        for character in name.chars() {
            if character.is_uppercase() && after_small {
                spaced.push(' ');
            }
            after_small = character.is_lowercase();
            spaced.push(character);
        }
        self.add(&spaced);
    }

    /// The first of the phrases that stands here as whole words, in a text that does not warn of it.
    pub(crate) fn ask_for(&self, phrases: &Phrases) -> Option<&'static str> {
        phrases.0.iter().find(|phrase| self.asks(&phrase.spaced) || self.asks(&phrase.joined)).map(|p| p.name)
    }

    /// The phrases that stand here as whole words.
    pub(crate) fn all_of(&self, phrases: &Phrases) -> Vec<String> {
        let found = phrases.0.iter().filter(|phrase| self.0.contains(&phrase.spaced));
        found.map(|phrase| phrase.name.to_owned()).collect()
    }

    fn asks(&self, phrase: &str) -> bool {
        // What follows is often advice on how to enter it: "do not add spaces".
        let is_asked = |line: &str| line.find(phrase).is_some_and(|at| !is_warning(&line[..at]));
        self.0.lines().any(is_asked)
    }
}

fn is_warning(before: &str) -> bool {
    before.split(' ').any(|word| WARNING_WORDS.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, name: &'static str) -> bool {
        let mut words = Words::default();
        words.add_name(text);
        words.ask_for(&Phrases::new(&[name])).is_some()
    }

    #[test]
    fn phrases_are_found_as_whole_words_however_they_are_joined() {
        for text in
            ["Seed  phrase:", "seed-phrase", "seed_phrase", "seedPhrase", "SEEDPHRASE", "my\nseed\tphrase"]
        {
            assert!(found(text, "seed phrase"), "{text}");
        }
        for text in ["birdseed phrase", "seed phrases", "seed, then phrase", "pineapple"] {
            assert!(!found(text, "seed phrase"), "{text}");
        }
    }

    #[test]
    fn a_warning_is_not_a_question() {
        assert!(!found("Never enter your seed phrase", "seed phrase"));
        assert!(!found("Don't share the seed phrase", "seed phrase"));
        assert!(found("Seed phrase (do not add spaces)", "seed phrase"));
    }

    #[test]
    fn texts_stay_apart() {
        let mut words = Words::default();
        ["Your seed", "phrase", "…", "Do not worry"].iter().for_each(|text| words.add(text));
        assert!(words.ask_for(&Phrases::new(&["seed phrase"])).is_none());
        assert_eq!(words.ask_for(&Phrases::new(&["phrase"])), Some("phrase"));
    }
}
