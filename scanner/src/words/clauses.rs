//! The clauses of a sentence: their boundaries, and the scope of a verb or a negation.

use super::classifier::{PhraseMatch, PhrasePosition};
use super::fold::is_unspaced;
use super::found::is_plain;
use super::labels::UNKNOWN_BEFORE_MAX;
use super::reader::Gap;
use super::roles::{Role::*, Roles};

/// The maximum distance from an object to the verb after it.
const VERB_LAST_WORDS_MAX: usize = 5;
/// The same for scripts without spaces, in which a word is cut into several pieces.
const VERB_LAST_PIECES_MAX: usize = 12;
const EVIDENCE_CHARS_MAX: usize = 80;

impl PhraseMatch<'_> {
    pub(super) fn clause_start(&self, at: usize) -> usize {
        let edge = |at: &usize| self.words.get(*at).is_some_and(|word| word.gap != Gap::None);
        (1..=at).rev().find(edge).unwrap_or_default()
    }

    pub(super) fn clause_end(&self, at: usize) -> usize {
        let edge = |at: &usize| self.words[*at].gap != Gap::None;
        (at..self.words.len()).find(edge).unwrap_or(self.words.len())
    }

    /// The end of the range in which a verb may follow its object. In scripts without spaces it may contain
    /// one comma.
    pub(super) fn verb_last_end(&self, at: usize) -> usize {
        let end = self.clause_end(at);
        let goes_on = self.words.get(end).is_some_and(|word| {
            word.gap == Gap::Comma && word.folded.starts_with(is_unspaced) && !self.roles[end].has_any(No)
        });
        let end = if goes_on { self.clause_end(end + 1) } else { end };
        let is_unspaced = self.words.get(at).is_some_and(|word| word.folded.starts_with(is_unspaced));
        end.min(at + if is_unspaced { VERB_LAST_PIECES_MAX } else { VERB_LAST_WORDS_MAX })
    }

    /// The end of a request: in `Enter it so that you never lose it` it ends before `so`.
    pub(super) fn demand_end(&self, at: usize) -> usize {
        let end = self.clause_end(at);
        (at..end).find(|at| self.roles[*at].has_any(So)).unwrap_or(end)
    }

    /// The start of the clauses whose verb or negation applies here. The clauses of a list share the first
    /// verb.
    pub(super) fn scope_start(&self, at: usize) -> usize {
        let mut start = self.clause_start(at);
        let mut end = at;
        while start > 0 && self.words[start].gap != Gap::Close && !self.has_verb(start..end) {
            end = start;
            start = self.clause_start(start - 1);
        }
        start
    }

    /// Whether the clause has a verb or a negation of its own, or is too long to be an item of a list.
    fn has_verb(&self, clause: std::ops::Range<usize>) -> bool {
        let is_word = |at: &usize| !is_plain(self.roles[*at]) && !self.is_in_thing(*at);
        let is_joined = self.roles.get(clause.start).is_some_and(|roles| roles.has_any(And));
        (self.any(clause.clone(), Give) && !is_joined)
            || self.any(clause.clone(), Keep | Subject | Question | No | Please)
            || clause.filter(is_word).count() > UNKNOWN_BEFORE_MAX
    }

    pub(super) fn word_count(&self) -> usize {
        self.words.len()
    }

    pub(super) fn any(&self, mut range: std::ops::Range<usize>, roles: impl Into<Roles>) -> bool {
        let roles = roles.into();
        range.any(|at| self.roles.get(at).is_some_and(|known| known.has_any(roles)))
    }

    pub(super) fn evidence(&self, place: &PhrasePosition) -> String {
        let words: Vec<&str> =
            self.words[place.from..place.to].iter().map(|word| word.folded.as_str()).collect();
        let mut evidence = words.join(" ");
        if let Some((end, _)) = evidence.char_indices().nth(EVIDENCE_CHARS_MAX) {
            evidence.truncate(end);
        }
        evidence
    }
}
