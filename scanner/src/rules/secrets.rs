//! Detects fields for seed phrases and private keys. No page has a reason to ask for one.

use crate::Rule;
use crate::words::Thing;

use super::RuleMatch;
use super::asking::Wanted;
use super::nearby::{At, View};

pub(super) const SEED_PHRASE: Wanted =
    Wanted { thing: Thing::SeedPhrase, maybe: Some(Thing::MaybeSeedPhrase), is_digits: false };
const PRIVATE_KEY: Wanted =
    Wanted { thing: Thing::PrivateKey, maybe: Some(Thing::MaybePrivateKey), is_digits: false };

pub(super) fn findings<'v>(view: &'v View<'_>) -> impl Iterator<Item = RuleMatch> + 'v {
    view.fields().filter_map(asked)
}

fn asked(at: At<'_, '_>) -> Option<RuleMatch> {
    let seed = || Some((Rule::SeedPhrase, at.asks_for(SEED_PHRASE)?));
    let key = || Some((Rule::PrivateKey, at.asks_for(PRIVATE_KEY)?));
    let (rule, words) = seed().or_else(key)?;
    let field = at.field.description.clone();
    Some(RuleMatch { rule, file: at.stretch.part.file, field, words: vec![words] })
}
