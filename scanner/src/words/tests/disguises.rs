//! Tests every brand with each letter replaced by all lookalikes of the Unicode standard.

use std::collections::HashMap;

use unicode_normalization::char::decompose_compatible;
use unicode_security::confusable_detection::skeleton;

use super::super::fold::{fold_phrase, is_unspaced};
use super::super::lures;
use super::*;

const BRANDS: [&str; 21] = [
    "paypal",
    "google",
    "gmail",
    "icloud",
    "itunes",
    "microsoft",
    "onedrive",
    "hotmail",
    "sharepoint",
    "metamask",
    "walletconnect",
    "trezor",
    "coinbase",
    "binance",
    "kraken",
    "hsbc",
    "barclays",
    "sparkasse",
    "revolut",
    "santander",
    "commerzbank",
];

/// The lookalikes of each letter in the standard, as a capital or in lower case.
struct Confusables(HashMap<String, Vec<char>>);

impl Confusables {
    fn of_the_standard() -> Confusables {
        let mut alike: HashMap<String, Vec<char>> = HashMap::new();
        let letters =
            ('\u{80}'..='\u{1ffff}').filter(|letter| letter.is_alphabetic() && !is_unspaced(*letter));
        for letter in letters.filter(|letter| !is_another_letter(*letter)) {
            alike.entry(skeleton(&letter.to_string()).collect()).or_default().push(letter);
        }
        Confusables(alike)
    }

    fn of(&self, letter: char) -> impl Iterator<Item = char> {
        let both = [letter, letter.to_ascii_uppercase()];
        let alike = both.map(|letter| self.0.get(&skeleton(&letter.to_string()).collect::<String>()));
        alike.into_iter().flatten().flatten().copied()
    }
}

/// `ſ` looks like an f but is read as an s. A letter that normalizes to nothing is invisible.
fn is_another_letter(letter: char) -> bool {
    let mut plain = Vec::new();
    decompose_compatible(letter, |part| plain.push(part));
    plain.first().is_some_and(char::is_ascii) || fold_phrase(&letter.to_string()).is_ascii()
}

fn is_no_lure(text: &str) -> bool {
    lures(&Text::of(text)).is_empty()
}

#[test]
fn a_brand_with_one_letter_disguised_is_a_lure() {
    let confusables = Confusables::of_the_standard();
    let mut wrong = Vec::new();
    let mut count = 0;
    for brand in BRANDS {
        for (at, letter) in brand.char_indices() {
            for alike in confusables.of(letter) {
                let text = format!("{}{alike}{}", &brand[..at], &brand[at + 1..]);
                count += 1;
                if is_no_lure(&text) {
                    wrong.push(format!("{text} ({letter} {alike} {:x})", alike as u32));
                }
            }
        }
    }
    assert!(count > 1000, "{count}");
    assert!(wrong.is_empty(), "{} of {count}: {wrong:#?}", wrong.len());
}

#[test]
fn a_brand_with_all_letters_disguised_is_a_lure() {
    let confusables = Confusables::of_the_standard();
    let mut wrong = Vec::new();
    for brand in BRANDS {
        for round in 0..40 {
            let disguised = |letter: char| {
                let alike: Vec<char> = confusables.of(letter).collect();
                if alike.is_empty() { letter } else { alike[round % alike.len()] }
            };
            let text: String = brand.chars().map(disguised).collect();
            if is_no_lure(&text) {
                wrong.push(text);
            }
        }
    }
    assert!(wrong.is_empty(), "{}: {wrong:#?}", wrong.len());
}

#[test]
fn greek_and_cyrillic_capitals_are_read_by_appearance() {
    for text in
        ["Μιcrοsοft", "ΜΙСRΟЅΟFΤ", "РАҮРАL", "ΡаyΡаl", "МetaМask", "GΜАІL", "ВINANСЕ", "ΚRАΚΕΝ", "ΗSΒC"]
    {
        assert!(!is_no_lure(text), "{text}");
    }
}
