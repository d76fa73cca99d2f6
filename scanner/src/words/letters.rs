//! Joins letters that are written apart: `s e e d`.

use super::lexicon::LEXICON;
use super::reader::{Gap, TextWord};

/// The number of adjacent single letters that may be a word: `s e e d`.
const SPACED_LETTERS_MIN: usize = 4;
const SPACED_LETTERS_MAX: usize = 60;

/// Replaces `s e e d` by the words that the letters form, if they form any.
pub(super) fn join_letters(words: &mut Vec<TextWord>) {
    let is_letter =
        |word: &TextWord| word.folded.len() == 1 && word.folded.bytes().all(|byte| byte.is_ascii_lowercase());
    let mut at = 0;
    while at < words.len() {
        let run = words[at..].iter().take(SPACED_LETTERS_MAX).take_while(|word| is_letter(word)).count();
        if run >= SPACED_LETTERS_MIN {
            let joined: String = words[at..at + run].iter().map(|word| word.folded.as_str()).collect();
            if let Some(parts) = LEXICON.letters_taken_apart(&joined) {
                let TextWord { is_capital, is_quoted, .. } = words[at];
                let whole = |part: &str| TextWord {
                    folded: part.to_owned(),
                    ids: LEXICON.ids(part),
                    gap: Gap::None,
                    is_capital,
                    is_quoted,
                };
                let parts: Vec<TextWord> = parts.into_iter().map(whole).collect();
                let count = parts.len();
                words.splice(at..at + run, parts);
                at += count;
                continue;
            }
        }
        at += run.max(1);
    }
}
