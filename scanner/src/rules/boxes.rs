//! Twelve boxes for twelve words: a seed phrase that is asked for word by word, where no field says so itself.

use crate::Rule;
use crate::page::Kind;
use crate::words::{Hint, Sense, Text, Thing};

use super::Found;
use super::nearby::{At, View, is_prose};
use super::secrets::SEED_PHRASE;

/// How many words a seed phrase has, by the standard; 13 and 25 with a checksum or a passphrase.
const LENGTHS: [usize; 7] = [12, 13, 15, 18, 21, 24, 25];

pub(super) fn findings<'v>(view: &'v View<'_>) -> impl Iterator<Item = Found> + 'v {
    let mut rows: Vec<Vec<At<'v, '_>>> = vec![Vec::new()];
    for at in view.fields() {
        let goes_on = rows.last().and_then(|row| row.last()).is_some_and(|last| last.is_in_row_with(at));
        if is_box(at) && goes_on {
            rows.last_mut().into_iter().for_each(|row| row.push(at));
        } else {
            rows.push(if is_box(at) { vec![at] } else { Vec::new() });
        }
    }
    rows.into_iter().filter(|row| LENGTHS.contains(&row.len())).filter_map(asked)
}

/// A field for one word that does not say which.
fn is_box(at: At<'_, '_>) -> bool {
    matches!(at.field.kind, Kind::Line | Kind::Password) && !at.field.shape.is_tiny && at.is_unnamed()
}

fn asked(row: Vec<At<'_, '_>>) -> Option<Found> {
    let (first, last) = (row.first()?, row.last()?);
    let is_numbered = row.iter().filter(|at| at.own_texts().any(|text| text.has(Hint::NumberedWord))).count();
    let around = || first.around().chain(last.around());
    let texts =
        || around().filter(|block| !is_prose(block) || !first.stretch.is_article).map(|block| block.text());
    let all = || texts().chain(&first.stretch.titles);
    if all().any(|text| text.has(Hint::Quiz)) {
        return None;
    }
    let said = all().find_map(|text| SEED_PHRASE.at_least(Sense::Mentioned, text, *first));
    let numbered =
        || (is_numbered * 2 > row.len() || is_numbered_around(&row)).then(|| "words by number".to_owned());
    let is_wallet = first.view.is_about_wallets() || all().any(|text: &Text| text.has(Hint::Wallet));
    // A seed alone may be a plant's, or a player's.
    let means_words =
        |text: &Text| text.sense(Thing::MaybeSeedPhrase).is_some_and(|sensed| sensed.words.contains(' '));
    let may_mean = || !first.view.is_elsewhere() && all().any(means_words);
    let words = said.or_else(|| numbered().filter(|_| is_wallet || may_mean()))?;
    Some(Found {
        rule: Rule::SeedPhrase,
        file: first.stretch.part.file,
        field: format!("{} and {} more", first.field.description, row.len() - 1),
        words: vec![words],
    })
}

/// Numbers may stand beside the boxes.
fn is_numbered_around(row: &[At<'_, '_>]) -> bool {
    let numbered = row.iter().filter(|at| {
        at.beside().next().is_some_and(|block| block.text().has(Hint::NumberedWord))
            || at.behind().is_some_and(|block| block.text().has(Hint::NumberedWord))
    });
    numbered.count() * 2 > row.len()
}
