//! The three rules of spec 3.3 over a page's fields and words.

use std::sync::LazyLock;

use crate::page::{Field, Form, Page};
use crate::words::Phrases;
use crate::{FINDINGS_MAX, Rule};

static SEED_PHRASE: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::new(&[
        "seed phrase",
        "seed phrases",
        "seed words",
        "wallet seed",
        "recovery phrase",
        "recovery words",
        "recovery seed",
        "mnemonic",
        "mnemonic phrase",
        "mnemonic words",
        "mnemonic seed",
        "secret phrase",
        "backup phrase",
    ])
});

static PRIVATE_KEY: LazyLock<Phrases> =
    LazyLock::new(|| Phrases::new(&["private key", "private keys", "priv key"]));

static CARD_NUMBER: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::new(&[
        "card number",
        "card no",
        "card num",
        "cc number",
        "cc num",
        "cc no",
        "credit card",
        "debit card",
    ])
});

static CVV: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::new(&["cvv", "cvv2", "cvc", "cvc2", "csc", "security code", "card verification"])
});

static LURES: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::new(&["paypal", "google", "apple", "microsoft", "bank", "wallet", "coinbase", "verify your"])
});

/// The rule, the field that it found, and the words that told it.
pub(crate) type Found = (Rule, String, Vec<String>);

pub(crate) fn findings(page: &Page) -> impl Iterator<Item = Found> {
    let asking = page.fields.iter().filter_map(asks_for_a_secret);
    asking.chain(cards_with_cvv(page)).chain(passwords_near_lures(page))
}

fn asks_for_a_secret(field: &Field) -> Option<Found> {
    let seed = || Some((Rule::SeedPhrase, field.secret_asked(&SEED_PHRASE)?));
    let key = || Some((Rule::PrivateKey, field.secret_asked(&PRIVATE_KEY)?));
    let (rule, words) = seed().or_else(key)?;
    Some((rule, field.description.clone(), vec![words.to_owned()]))
}

/// A card's number is asked for by every shop; together with its CVV in one form by whoever handles cards itself.
fn cards_with_cvv(page: &Page) -> impl Iterator<Item = Found> {
    let mut codes: Vec<(Form, &'static str)> = Vec::new();
    let mut numbers: Vec<(&Field, &'static str)> = Vec::new();
    for field in &page.fields {
        if let Some(words) = field.asked(&CVV) {
            codes.push((field.form, words));
        } else if let Some(words) = field.asked(&CARD_NUMBER) {
            numbers.push((field, words));
        }
    }
    codes.sort_unstable();
    codes.dedup_by_key(|(form, _)| *form);
    numbers.into_iter().filter_map(move |(field, number)| {
        let code = codes.binary_search_by_key(&field.form, |(form, _)| *form).ok()?;
        let words = vec![number.to_owned(), codes[code].1.to_owned()];
        Some((Rule::CardWithCvv, field.description.clone(), words))
    })
}

fn passwords_near_lures(page: &Page) -> Vec<Found> {
    let passwords: Vec<&Field> = page.fields.iter().filter(|field| field.is_password()).collect();
    if passwords.is_empty() {
        return Vec::new();
    }
    let lures = page.visible.all_of(&LURES);
    if lures.is_empty() {
        return Vec::new();
    }
    let near = |field: &Field| (Rule::PasswordNearLure, field.description.clone(), lures.clone());
    passwords.into_iter().take(FINDINGS_MAX).map(near).collect()
}
