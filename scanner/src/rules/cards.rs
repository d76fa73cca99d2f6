//! A card number is asked for by every shop; together with its CVV by whoever handles cards itself.

use crate::Rule;
use crate::page::Role;
use crate::words::{Hint, Thing};

use super::RuleMatch;
use super::asking::Wanted;
use super::nearby::{At, View, is_prose};

const NUMBER: Wanted = Wanted { thing: Thing::CardNumber, maybe: None, is_digits: true };
const CODE: Wanted = Wanted { thing: Thing::CardCode, maybe: None, is_digits: true };

const EXPIRY: Wanted = Wanted { thing: Thing::CardExpiry, maybe: None, is_digits: true };

pub(super) fn findings<'v>(view: &'v View<'_>) -> impl Iterator<Item = RuleMatch> + 'v {
    let code = view.fields().find_map(|at| at.asks_for(CODE));
    code.into_iter().flat_map(move |code| {
        let card = card_of(view, &code);
        view.fields().filter_map(move |at| {
            Some(RuleMatch {
                rule: Rule::CardWithCvv,
                file: at.stretch.part.file,
                field: at.field.description.clone(),
                words: vec![number_asked(at, card)?, code.clone()],
            })
        })
    })
}

/// Whose code is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Card {
    Paying,
    Any,
}

/// Only cards that pay have a code of such a name, or a date on which they end. A "security code" may be any card's.
fn card_of(view: &View<'_>, code: &str) -> Card {
    let is_named = ["cv", "csc", "cid"].iter().any(|name| code.contains(name));
    let pays = is_named || view.fields().any(|at| at.asks_for(EXPIRY).is_some());
    if pays { Card::Paying } else { Card::Any }
}

fn number_asked(at: At<'_, '_>, card: Card) -> Option<String> {
    if is_for_another_card(at) || (card == Card::Any && is_about_another_card(at)) {
        return None;
    }
    let by_example = || at.field.shape.shows_card_number.then(|| "0000 0000 0000 0000".to_owned());
    at.asks_for(NUMBER).or_else(by_example)
}

/// Gift cards, library cards: their numbers buy nothing elsewhere, and their codes are no CVV.
fn is_for_another_card(at: At<'_, '_>) -> bool {
    let beside = at.beside().next().filter(|block| !is_prose(block)).map(|block| block.text());
    at.own_texts().chain(beside).any(|text| text.has(Hint::OtherCard))
}

/// Whether the page is about such a card.
fn is_about_another_card(at: At<'_, '_>) -> bool {
    let headings = at.before().filter(|block| block.role == Role::Heading).map(|block| block.text());
    headings.chain(&at.stretch.titles).any(|text| text.has(Hint::OtherCard))
}
