//! Detects forms for card numbers with CVV. Many shops ask for a card number. A page that also asks for
//! the CVV processes cards itself.

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

/// The card that the code belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Card {
    Paying,
    Any,
}

/// Only payment cards have codes of these names or an expiry date. Any card may have a "security code".
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

/// Gift cards and library cards: their numbers have no value elsewhere, and their codes are not CVVs.
fn is_for_another_card(at: At<'_, '_>) -> bool {
    let beside = at.beside().next().filter(|block| !is_prose(block)).map(|block| block.text());
    at.own_texts().chain(beside).any(|text| text.has(Hint::OtherCard))
}

/// Whether the page is about such a card.
fn is_about_another_card(at: At<'_, '_>) -> bool {
    let headings = at.before().filter(|block| block.role == Role::Heading).map(|block| block.text());
    headings.chain(&at.stretch.titles).any(|text| text.has(Hint::OtherCard))
}
