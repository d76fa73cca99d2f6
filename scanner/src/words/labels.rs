//! Decides whether a sentence is a label with a thing as its head: `Your 12-word recovery phrase`, `Private
//! key of the account`.

use super::classifier::{PhraseMatch, PhrasePosition};
use super::found::is_plain;
use super::roles::Role::*;

/// Longer sentences are not labels.
const LABEL_WORDS_MAX: usize = 16;
/// The number of unknown words before and after the head of a label.
pub(super) const UNKNOWN_BEFORE_MAX: usize = 4;
const UNKNOWN_AFTER_MAX: usize = 4;
/// `of the last legal owner`.
const OWNER_WORDS_MAX: usize = 5;
/// Words between a thing and its owner.
const GENITIVES: [&str; 16] = [
    "of", "der", "des", "du", "de", "del", "della", "dello", "dell", "do", "da", "dos", "das", "van", "von",
    "vom",
];

impl PhraseMatch<'_> {
    pub(super) fn is_label(&self, place: &PhrasePosition) -> bool {
        let whole = 0..self.words.len();
        if whole.len() > LABEL_WORDS_MAX || self.any(whole.clone(), Talk | Other | Question) {
            return false;
        }
        if self.any(whole.clone(), Write) && self.any(whole, Paper) {
            return false;
        }
        let before = self.clause_start(place.from)..place.from;
        let after = place.to..self.clause_end(place.to);
        self.may_stand_before(before) && self.may_stand_after(after)
    }

    fn may_stand_before(&self, before: std::ops::Range<usize>) -> bool {
        if self.any(before.clone(), Keep | Subject) {
            return false;
        }
        let mut unknown = 0;
        for at in before {
            let roles = self.roles[at];
            if roles.has_any(Link) && unknown > 0 {
                return false;
            }
            if roles.has_any(And) {
                unknown = 0;
            }
            if !is_plain(roles) && !self.is_in_thing(at) {
                unknown += 1;
                if is_gerund(&self.words[at].folded) {
                    return false;
                }
            }
        }
        unknown <= UNKNOWN_BEFORE_MAX
    }

    /// `of the holder`: the words after the thing only name its owner, whatever their roles are.
    fn is_owner(&self, after: std::ops::Range<usize>) -> bool {
        let is_genitive = |at: usize| GENITIVES.contains(&self.words[at].folded.as_str());
        (2..=OWNER_WORDS_MAX).contains(&after.len())
            && is_genitive(after.start)
            && !self.any(after, Give | No | If | So)
    }

    fn may_stand_after(&self, after: std::ops::Range<usize>) -> bool {
        if self.is_owner(after.clone()) {
            return true;
        }
        if self.any(after.clone(), Keep | Subject | Tail) {
            return false;
        }
        let is_known = |at: usize| is_plain(self.roles[at]) || self.is_in_thing(at);
        let is_first_known = after.is_empty() || is_known(after.start);
        is_first_known && after.filter(|at| !is_known(*at)).count() <= UNKNOWN_AFTER_MAX
    }
}

/// `Protecting your private key` is a heading.
fn is_gerund(word: &str) -> bool {
    word.len() > 5 && word.ends_with("ing")
}
