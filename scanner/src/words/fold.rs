//! Normalizes characters: one form for characters that look the same, and none for invisible ones.

use std::collections::VecDeque;
use std::iter;

use unicode_normalization::char::{decompose_compatible, is_combining_mark};

/// A normalized character, and what it was before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Folded {
    pub(super) character: char,
    pub(super) was_capital: bool,
    /// It was superscript, subscript, circled or in brackets of its own, as footnote marks are.
    pub(super) was_raised: bool,
}

impl Folded {
    fn plain(character: char) -> Folded {
        Folded { character, was_capital: false, was_raised: false }
    }

    fn capital(character: char) -> Folded {
        Folded { character, was_capital: true, was_raised: false }
    }
}

/// Normalizes a text: compatibility forms become plain, marks and invisible characters are removed, capitals
/// become lower case.
pub(super) fn folded(raw: &str) -> impl Iterator<Item = Folded> {
    let mut characters = raw.chars();
    let mut waiting: VecDeque<Folded> = VecDeque::new();
    let mut is_in_indicators = false;
    iter::from_fn(move || {
        while waiting.is_empty() {
            let character = characters.next()?;
            if character.is_ascii() {
                let was_capital = character.is_ascii_uppercase();
                return Some(Folded { was_capital, ..Folded::plain(character.to_ascii_lowercase()) });
            }
            if is_plain(character) {
                return Some(Folded::plain(character));
            }
            if let Some(letter) = indicator_letter(character) {
                let others = characters.clone().take(2).take_while(|next| indicator_letter(*next).is_some());
                match others.count() {
                    // Two of them form a flag, which is not text.
                    1 if !is_in_indicators => characters.next(),
                    more => {
                        is_in_indicators = more > 0;
                        return Some(Folded::capital(letter));
                    }
                };
                return Some(Folded::plain(' '));
            }
            fold_wide(character, |folded| waiting.push_back(folded));
        }
        waiting.pop_front()
    })
}

/// Lower-case Cyrillic letters and the most common ideographs and kana, which do not change.
fn is_plain(character: char) -> bool {
    matches!(character, 'а'..='и' | 'к'..='я' | '\u{4e00}'..='\u{9fff}' | 'あ'..='お' | 'な'..='の' | 'ま'..='ん' | 'ー')
}

/// The letter of a regional indicator. Two form a flag. One alone or several are shown as boxed letters.
fn indicator_letter(character: char) -> Option<char> {
    letter_from('\u{1f1e6}', character)
}

/// The letter in an alphabet of symbols that begins at `first`.
fn letter_from(first: char, character: char) -> Option<char> {
    let at = u32::from(character).checked_sub(u32::from(first))?;
    ('a'..='z').nth(at as usize)
}

/// Letters in black circles and squares, which Unicode does not classify as letters.
fn boxed_letter(character: char) -> Option<char> {
    letter_from('\u{1f150}', character).or_else(|| letter_from('\u{1f170}', character))
}

/// Normalizes a character that may become several: `㎏`, `ﬁ`. Without marks their order does not matter, so
/// that each can be processed alone.
fn fold_wide(character: char, mut fold: impl FnMut(Folded)) {
    if is_unseen(character) || is_combining_mark(character) {
        return;
    }
    if let Some(letter) = boxed_letter(character) {
        return fold(Folded::capital(letter));
    }
    if is_trade_mark(character) {
        return fold(Folded::plain(' '));
    }
    if let Some(number) = ringed_number(character) {
        return number.to_string().chars().for_each(|digit| fold(raised(Folded::plain(digit))));
    }
    // Its compatibility form is a sigma, but it looks like a c.
    if matches!(character, 'ϲ' | 'Ϲ') {
        return fold_one(character).for_each(&mut fold);
    }
    let was_raised = is_raised(character);
    decompose_compatible(character, |part| match part {
        // The brackets of `⑴` and the dot of `⒈` are part of the mark.
        '(' | ')' | '.' | ',' if was_raised => {}
        part if is_combining_mark(part) => {}
        part => fold_one(part).for_each(|folded| fold(Folded { was_raised, ..folded })),
    });
}

fn raised(folded: Folded) -> Folded {
    Folded { was_raised: true, ..folded }
}

/// Trade mark signs. Their compatibility forms are letters, which are not part of the name.
fn is_trade_mark(character: char) -> bool {
    matches!(character, '™' | '℠' | '\u{1f16a}'..='\u{1f16c}')
}

/// Superscript and subscript digits and letters, and those in circles and brackets.
fn is_raised(character: char) -> bool {
    matches!(character,
        'ª' | 'º' | '¹' | '²' | '³' | '\u{2b0}'..='\u{2ff}' | '\u{1d2c}'..='\u{1d6a}' | '\u{1d78}'
        | '\u{1d9b}'..='\u{1dbf}' | '\u{2070}'..='\u{209c}' | '\u{2460}'..='\u{24ea}' | '\u{2c7c}' | '\u{2c7d}'
        | '\u{1f100}'..='\u{1f10a}')
}

/// Circled numbers without a compatibility form in Unicode.
fn ringed_number(character: char) -> Option<u32> {
    let first = match character {
        '\u{24eb}'..='\u{24f4}' => 0x24eb - 11,
        '\u{24f5}'..='\u{24fe}' => 0x24f5 - 1,
        '\u{24ff}' => 0x24ff,
        '\u{2776}'..='\u{277f}' => 0x2776 - 1,
        '\u{2780}'..='\u{2789}' => 0x2780 - 1,
        '\u{278a}'..='\u{2793}' => 0x278a - 1,
        '\u{1f10b}' | '\u{1f10c}' => u32::from(character),
        _ => return None,
    };
    Some(u32::from(character) - first)
}

/// Normalizes a phrase of the tables in the same way.
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
    iter::once(first).chain(second).map(move |character| Folded { was_capital, ..Folded::plain(character) })
}

/// Invisible characters, which may be inserted between letters unnoticed.
fn is_unseen(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        // Ligatures for whole Arabic sentences, which would make a text six times as long.
        | '\u{fdf0}'..='\u{fdfd}' | '\u{fff0}'..='\u{fff8}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Characters of scripts without spaces.
pub(super) fn is_unspaced(character: char) -> bool {
    matches!(character, '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
        && character != '\u{30fb}'
}
