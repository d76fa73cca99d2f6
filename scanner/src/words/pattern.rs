//! A pattern of the language files, which stands for many phrases. Its syntax is described in
//! `languages/README.md`.

use super::fold::{fold_phrase, is_unspaced};

/// The shortest stem, in bytes. A shorter one would match too many words.
pub(super) const STEM_BYTES_MIN: usize = 3;

#[derive(Debug)]
pub(super) struct Pattern {
    pub(super) slots: Vec<Slot>,
}

/// One word of a pattern, with the choices for it.
#[derive(Debug)]
pub(super) struct Slot {
    /// Each choice is one word, or several if it mixes scripts with and without spaces.
    pub(super) choices: Vec<Vec<String>>,
    pub(super) is_optional: bool,
}

impl Pattern {
    pub(super) fn parse(text: &str) -> Result<Pattern, String> {
        let slots = text.split(' ').map(Slot::parse).collect::<Result<Vec<Slot>, String>>()?;
        if slots.iter().all(|slot| slot.is_optional) {
            return Err(format!("all words of `{text}` are optional"));
        }
        Ok(Pattern { slots })
    }
}

impl Slot {
    fn parse(text: &str) -> Result<Slot, String> {
        let (choices, is_optional) = text.strip_suffix('?').map_or((text, false), |choices| (choices, true));
        let mut words = Vec::new();
        for choice in choices.split('|') {
            let count = words.len();
            for spelling in spellings(choice) {
                validate(choice, &spelling)?;
                let spelling = by_script(&spelling);
                if !words.contains(&spelling) {
                    words.push(spelling);
                }
            }
            if words.len() == count {
                return Err(format!("the choice `{choice}` repeats another"));
            }
        }
        Ok(Slot { choices: words, is_optional })
    }
}

/// Rejects words that the reader never produces, because a pattern with one could never match.
fn validate(choice: &str, folded: &str) -> Result<(), String> {
    let stem = folded.strip_suffix('*');
    let word = stem.unwrap_or(folded);
    if choice.is_empty() {
        Err("empty choice".to_owned())
    } else if !matches!(word, "#" | "--") && (word.is_empty() || !word.chars().all(char::is_alphanumeric)) {
        Err(format!("`{choice}` is no word"))
    } else if stem.is_some_and(|stem| stem.len() < STEM_BYTES_MIN) {
        Err(format!("the stem `{choice}` is too short"))
    } else {
        Ok(())
    }
}

/// German is also written without umlauts: `schlüssel` and `schluessel`.
fn spellings(word: &str) -> Vec<String> {
    let folded = fold_phrase(word);
    if !word.contains(['ä', 'ö', 'ü', 'Ä', 'Ö', 'Ü']) {
        return vec![folded];
    }
    let spelled_out = word.to_lowercase().replace('ä', "ae").replace('ö', "oe").replace('ü', "ue");
    vec![folded, fold_phrase(&spelled_out)]
}

/// Splits a word between scripts with and without spaces.
fn by_script(word: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for character in word.chars() {
        match words.last_mut() {
            Some(last) if last.ends_with(is_unspaced) == is_unspaced(character) => last.push(character),
            _ => words.push(character.to_string()),
        }
    }
    words
}
