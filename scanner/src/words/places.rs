//! Decides where a thing is to be entered: on the page, or elsewhere in the reader's own app, device or
//! terminal.

use super::classifier::{PhraseMatch, PhrasePosition};
use super::found::is_plain;
use super::roles::Role::*;

/// `in the official wallet app`: the maximum distance from the preposition to its noun.
const NOUN_WORDS_MAX: usize = 5;
/// `it only here`: the maximum distance from the pronoun to the place.
const NEARBY_WORDS_MAX: usize = 5;

impl PhraseMatch<'_> {
    /// `Enter your seed phrase in the wallet app`, but not `in this app` nor `in the field below`.
    pub(super) fn is_for_elsewhere(&self, place: &PhrasePosition) -> bool {
        let scope = self.scope_start(place.from);
        let end = self.clause_end(place.to);
        let is_given = self.any(scope..place.from, Give) || self.any(place.to..end, Give | GiveLast);
        is_given && self.is_placed_elsewhere(scope, place.to)
    }

    /// Whether the words after `behind` name a place elsewhere, and none after `scope` a place on the page.
    pub(super) fn is_placed_elsewhere(&self, scope: usize, behind: usize) -> bool {
        let end = self.clause_end(behind);
        if self.any(scope..self.words.len(), Nearby) {
            return false;
        }
        if self.any(scope..end, There) {
            return true;
        }
        let is_small = |at: usize| is_plain(self.roles[at]) && !self.roles[at].has_any(Give);
        let is_open = |at: &usize| is_small(*at) || self.is_in_thing(*at);
        let into = (behind..end).find(|at| self.roles[*at].has_any(Inside) || !is_open(at));
        into.filter(|at| self.roles[*at].has_any(Inside))
            .is_some_and(|into| self.has_noun_elsewhere(into, end))
    }

    fn has_noun_elsewhere(&self, into: usize, end: usize) -> bool {
        let reach = end.min(into + 1 + NOUN_WORDS_MAX);
        let noun = (into + 1..reach).find(|at| self.roles[*at].has_any(Elsewhere));
        noun.is_some_and(|noun| !self.any(into + 1..noun, Give | No | Question | Other | So))
    }

    /// The pronoun that is the object of a verb of giving and is followed by a place on the page: `Enter it
    /// only here`.
    pub(super) fn it_here_at(&self) -> Option<usize> {
        let is_pronoun = |at: &usize| self.roles[*at].has_any(It) && !self.roles[*at].has_any(Nearby);
        (0..self.words.len()).filter(is_pronoun).find(|at| {
            let scope = self.clause_start(*at);
            let near = self.clause_end(at + 1).min(at + 1 + NEARBY_WORDS_MAX);
            self.any(at.saturating_sub(2).max(scope)..*at, Give)
                && self.any(at + 1..near, Nearby)
                && !self.any(scope..*at, No | Other | Talk | Subject | Keep)
                && !self.any(at + 1..near, No | Other)
        })
    }
}
