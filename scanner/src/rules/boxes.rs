//! Detects seed phrases that are requested one word per field, where no field says so itself.

use crate::Rule;
use crate::page::Kind;
use crate::words::{Hint, Sense, Text, Thing};

use super::RuleMatch;
use super::nearby::{At, View, is_prose};
use super::secrets::SEED_PHRASE;

/// The number of words in a seed phrase by the standard. 13 and 25 include a checksum or a passphrase.
const LENGTHS: [usize; 7] = [12, 13, 15, 18, 21, 24, 25];
/// On a page about wallets, this many numbered boxes are part of a row of any length.
const MANY: usize = 8;
/// Up to this many numbered boxes are not a row, but may be the start of a loop of unknown length.
const STUB_MAX: usize = 3;

pub(super) fn findings<'v>(view: &'v View<'_>) -> impl Iterator<Item = RuleMatch> + 'v {
    let mut rows: Vec<Row<'v, '_>> = Vec::new();
    let mut goes_on = false;
    for at in view.fields() {
        let follows = goes_on && rows.last().and_then(Row::last).is_some_and(|last| last.is_in_row_with(at));
        goes_on = is_box(at);
        match rows.last_mut() {
            Some(row) if goes_on && follows => row.0.push(at),
            _ if goes_on => rows.push(Row(vec![at])),
            _ => {}
        }
    }
    rows.into_iter().filter_map(|row| row.asks())
}

/// A field for one word that does not say which.
fn is_box(at: At<'_, '_>) -> bool {
    matches!(at.field.kind, Kind::Line | Kind::Password) && !at.field.shape.is_tiny && at.is_unnamed()
}

/// Consecutive boxes.
struct Row<'v, 'p>(Vec<At<'v, 'p>>);

impl<'v, 'p> Row<'v, 'p> {
    fn last(&self) -> Option<&At<'v, 'p>> {
        self.0.last()
    }

    fn asks(&self) -> Option<RuleMatch> {
        let first = *self.0.first()?;
        let is_numbered = self.is_numbered();
        let is_many = self.0.len() >= MANY && is_numbered && first.view.is_about_wallets();
        let words = if LENGTHS.contains(&self.0.len()) || is_many {
            self.said(Sense::Mentioned).or_else(|| self.meant().filter(|_| is_numbered))
        } else if self.0.len() <= STUB_MAX && is_numbered {
            self.said(Sense::Named).or_else(|| self.meant_words(Sense::Named))
        } else {
            None
        };
        Some(RuleMatch {
            rule: Rule::SeedPhrase,
            file: first.stretch.part.file,
            field: format!("{} and {} more", first.field.description, self.0.len() - 1),
            words: vec![words.filter(|_| !self.is_lesson())?],
        })
    }

    /// The words by which a text near the boxes names a seed phrase.
    fn said(&self, least: Sense) -> Option<String> {
        let first = *self.0.first()?;
        let here = self.texts().find_map(|text| SEED_PHRASE.at_least(least, text, first));
        here.or_else(|| first.request_in_other_part(SEED_PHRASE))
    }

    /// The words that numbered boxes stand for on a page about wallets or about recovery.
    fn meant(&self) -> Option<String> {
        let view = self.0.first()?.view;
        let is_wallet = view.is_about_wallets() || self.texts().any(|text| text.has(Hint::Wallet));
        let by_number = is_wallet.then(|| "words by number".to_owned());
        by_number.or_else(|| self.meant_words(Sense::Mentioned))
    }

    /// A name of several words for a seed phrase. "Seed" alone may mean a plant or a seeded player.
    fn meant_words(&self, least: Sense) -> Option<String> {
        let first = *self.0.first()?;
        let mut senses =
            self.texts().chain(self.elsewhere()).filter_map(|text| text.sense(Thing::MaybeSeedPhrase));
        let meant = senses.find(|sensed| sensed.sense >= least && sensed.words.contains(' '));
        meant.filter(|_| !first.view.is_elsewhere()).map(|sensed| sensed.words)
    }

    /// Whether the boxes are part of a lesson or a quiz.
    fn is_lesson(&self) -> bool {
        let is_wallet = self.texts().any(|text| text.has(Hint::Wallet));
        !is_wallet && self.texts().chain(self.elsewhere()).any(|text| text.has(Hint::Quiz))
    }

    /// The texts of the page's other parts that describe the whole page.
    fn elsewhere(&self) -> impl Iterator<Item = &'v Text> {
        let stretches = self.0.first().into_iter().flat_map(|first| first.elsewhere());
        stretches.flat_map(|other| other.titles.iter().chain(other.speaking().map(|(_, block)| block.text())))
    }

    /// The title, and the texts before the first box and after the last.
    fn texts(&self) -> impl Iterator<Item = &'v Text> {
        let ends = self.0.first().into_iter().chain(self.0.last()).copied();
        let blocks =
            ends.flat_map(|at| at.around().filter(move |block| !at.stretch.is_article || !is_prose(block)));
        let titles = self.0.first().into_iter().flat_map(|first| &first.stretch.titles);
        blocks.map(|block| block.text()).chain(titles)
    }

    /// Whether most boxes have a number in them or next to them.
    fn is_numbered(&self) -> bool {
        let bears_number = |at: &&At<'_, '_>| {
            let own = at.own_texts().any(|text| text.has(Hint::NumberedWord));
            own || at
                .beside()
                .next()
                .into_iter()
                .chain(at.behind())
                .any(|block| block.text().has(Hint::NumberedWord))
        };
        self.0.iter().filter(bears_number).count() * 2 > self.0.len()
    }
}
