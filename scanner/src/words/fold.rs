//! Characters as people tell them apart: one form for what looks the same, and nothing for what cannot be seen.

use std::collections::VecDeque;
use std::iter;

use unicode_normalization::char::{decompose_compatible, is_combining_mark};

/// A character folded, and whether it was a capital before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Folded {
    pub(super) character: char,
    pub(super) was_capital: bool,
}

/// Folds a text: compatibility forms become plain, marks and invisible characters go, capitals become small.
pub(super) fn folded(raw: &str) -> impl Iterator<Item = Folded> {
    let mut characters = raw.chars();
    let mut waiting: VecDeque<Folded> = VecDeque::new();
    let mut is_in_indicators = false;
    iter::from_fn(move || {
        while waiting.is_empty() {
            let character = characters.next()?;
            if character.is_ascii() {
                let was_capital = character.is_ascii_uppercase();
                return Some(Folded { character: character.to_ascii_lowercase(), was_capital });
            }
            if is_plain(character) {
                return Some(Folded { character, was_capital: false });
            }
            if let Some(letter) = indicator_letter(character) {
                let others = characters.clone().take(2).take_while(|next| indicator_letter(*next).is_some());
                match others.count() {
                    // Two of them are a flag, of which nothing is read.
                    1 if !is_in_indicators => characters.next(),
                    more => {
                        is_in_indicators = more > 0;
                        return Some(Folded { character: letter, was_capital: true });
                    }
                };
                return Some(Folded { character: ' ', was_capital: false });
            }
            fold_wide(character, |folded| waiting.push_back(folded));
        }
        waiting.pop_front()
    })
}

/// Small Cyrillic letters and the commonest ideographs and kana, which are their own folded form.
fn is_plain(character: char) -> bool {
    matches!(character, 'а'..='и' | 'к'..='я' | '\u{4e00}'..='\u{9fff}' | 'あ'..='お' | 'な'..='の' | 'ま'..='ん' | 'ー')
}

/// The letter of a regional indicator. Two make a flag; one or many show as letters in boxes.
fn indicator_letter(character: char) -> Option<char> {
    letter_from('\u{1f1e6}', character)
}

/// The letter of an alphabet of symbols that begins here.
fn letter_from(first: char, character: char) -> Option<char> {
    let at = u32::from(character).checked_sub(u32::from(first))?;
    ('a'..='z').nth(at as usize)
}

/// Letters in black circles and squares, which Unicode takes for no letters.
fn boxed_letter(character: char) -> Option<char> {
    letter_from('\u{1f150}', character).or_else(|| letter_from('\u{1f170}', character))
}

/// One character may stand for several: `㎏`, `ﬁ`. Their order does not matter once marks are gone, so that each can be taken alone.
fn fold_wide(character: char, mut fold: impl FnMut(Folded)) {
    if is_unseen(character) || is_combining_mark(character) {
        return;
    }
    if let Some(letter) = boxed_letter(character) {
        return fold(Folded { character: letter, was_capital: true });
    }
    // Its compatible form is a sigma, which nobody would take for the c that this looks like.
    if matches!(character, 'ϲ' | 'Ϲ') {
        return fold_one(character).for_each(&mut fold);
    }
    decompose_compatible(character, |part| {
        if !is_combining_mark(part) {
            fold_one(part).for_each(&mut fold);
        }
    });
}

/// Folds a phrase of the tables in the same way.
pub(super) fn fold_phrase(phrase: &str) -> String {
    folded(phrase).map(|folded| folded.character).collect()
}

fn fold_one(character: char) -> impl Iterator<Item = Folded> {
    let was_capital = character.is_uppercase();
    let (first, second) = match character {
        'ß' | 'ẞ' => ('s', Some('s')),
        'æ' | 'Æ' => ('a', Some('e')),
        'œ' | 'Œ' => ('o', Some('e')),
        'ł' | 'Ł' => ('l', None),
        'ø' | 'Ø' => ('o', None),
        'đ' | 'Đ' => ('d', None),
        'ı' | 'İ' => ('i', None),
        'ς' => ('σ', None),
        other => (other.to_lowercase().next().unwrap_or(other), None),
    };
    iter::once(first).chain(second).map(move |character| Folded { character, was_capital })
}

/// Characters that take no place: what may be put between letters without anyone seeing it.
fn is_unseen(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        // Ligatures for whole sentences of Arabic, which would make a text six times as long.
        | '\u{fdf0}'..='\u{fdfd}' | '\u{fff0}'..='\u{fff8}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Characters of scripts that write no spaces.
pub(super) fn is_unspaced(character: char) -> bool {
    matches!(character, '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
        && character != '\u{30fb}'
}
