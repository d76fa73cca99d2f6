//! Splits a word from what is attached to it: a footnote or trade mark (`phrase¹`), a number (`PayPal2`),
//! letters of another script, or another word that begins with a capital (`PayPalLogin`). This applies only
//! to unknown words, and to superscript numbers, which are never part of a name.

use super::class::Class;
use super::lexicon::{Ids, LEXICON};

/// A shorter word next to a number belongs to it: `p2p`, `2nd`.
const CORE_BYTES_MIN: usize = 3;
/// Words with more capitals are generated.
const PARTS_MAX: usize = 8;
/// The capitals of a name in mixed case: `iCloud`, `HalkBank`.
const NAME_PARTS_MAX: usize = 3;
/// Substitutes for the trade mark sign where superscript is not available.
const TRADE_MARKS: [&str; 2] = ["tm", "sm"];

/// A word as it was written, with one bit for each of its first characters.
#[derive(Clone, Copy)]
pub(super) struct Written<'w> {
    pub(super) word: &'w str,
    pub(super) capitals: u64,
    pub(super) raised: u64,
}

/// A word without its attachments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Core<'w> {
    pub(super) before: &'w str,
    pub(super) core: &'w str,
    /// The text after it. Empty for a mark, which is ignored.
    pub(super) behind: &'w str,
}

/// Whether an unknown word may end in the letters of a trade mark.
pub(super) fn may_bear_a_sign(word: &str) -> bool {
    TRADE_MARKS.iter().any(|sign| word.ends_with(sign))
}

impl Core<'_> {
    fn is_known(&self) -> bool {
        self.core.len() >= CORE_BYTES_MIN && LEXICON.ids(self.core) != [0; 4]
    }
}

impl<'w> Written<'w> {
    /// The word without superscript or subscript digits at its ends: `phrase¹`, `CVV²`, `24¹`. `None` if
    /// there are none.
    pub(super) fn without_notes(self) -> Option<Core<'w>> {
        let is_note = |at: usize, one: char| self.is_raised(at) && one.is_ascii_digit();
        let core = self.cut(is_note).filter(|core| !core.core.is_empty())?;
        Some(Core { behind: "", ..core })
    }

    /// The word without numbers, superscripts and a trade mark in capitals at its ends, if the rest has a
    /// meaning.
    pub(super) fn without_mark(self) -> Option<Core<'w>> {
        let marked = self.cut(|at, _| self.is_raised(at)).map(|core| Core { behind: "", ..core });
        let numbered = || self.cut(|_, one| one.is_ascii_digit());
        let signed = || self.without_sign().filter(|core| self.is_capital(core.core.chars().count()));
        marked.filter(Core::is_known).or_else(|| numbered().filter(Core::is_known)).or_else(signed)
    }

    /// The word without any other attachment, if the rest has a meaning.
    pub(super) fn without_rest(self) -> Option<Core<'w>> {
        let foreign = || self.cut(|_, one| one.is_ascii_digit() || !one.is_ascii()).filter(Core::is_known);
        self.without_mark().or_else(|| self.without_sign()).or_else(foreign)
    }

    /// The word without the letters of a trade mark at its end: `PayPalTM`.
    fn without_sign(self) -> Option<Core<'w>> {
        let core = TRADE_MARKS.iter().find_map(|sign| self.word.strip_suffix(sign))?;
        Some(Core { before: "", core, behind: "" }).filter(Core::is_known)
    }

    /// The words that are separated by capitals or numbers, if any of them names a thing or a lure:
    /// `PayPalLogin`, `SecureBank`, `SeedPhraseInput`, but not `YouTube`.
    pub(super) fn parts(self) -> Option<Vec<(&'w str, bool)>> {
        let edges = self.edges()?;
        let mut parts = Vec::new();
        let mut at = 0;
        while at + 1 < edges.len() {
            let reach = (at + 1 + NAME_PARTS_MAX).min(edges.len());
            let known = |end: &usize| LEXICON.ids(&self.word[edges[at]..edges[*end]]) != [0; 4];
            let end = (at + 1..reach).rev().find(known).unwrap_or(at + 1);
            parts.push((&self.word[edges[at]..edges[end]], self.is_capital(edges[at])));
            at = end;
        }
        let ids: Vec<Ids> = parts.iter().map(|(part, _)| LEXICON.ids(part)).collect();
        (0..ids.len()).any(|at| names_something(&ids[at..])).then_some(parts)
    }

    /// The starts of its parts, and its end. `None` for a word in one piece.
    fn edges(self) -> Option<Vec<usize>> {
        let bytes = self.word.as_bytes();
        if !self.word.is_ascii() {
            return None;
        }
        let mut edges = vec![0];
        for at in 1..bytes.len() {
            let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
            let begins = self.is_capital(at) && !self.is_capital(at - 1);
            // The last of several capitals begins the next word: `PAYPALLogin`.
            let ends = self.is_capital(at)
                && self.is_capital(at - 1)
                && bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase)
                && !self.is_capital(at + 1);
            if begins || ends || is_digit(at) != is_digit(at - 1) {
                edges.push(at);
            }
        }
        edges.push(bytes.len());
        (3..=PARTS_MAX + 1).contains(&edges.len()).then_some(edges)
    }

    /// Removes attachments at its ends. `None` if there are none or nothing else is left.
    fn cut(self, is_glued: impl Fn(usize, char) -> bool) -> Option<Core<'w>> {
        let mut inner = self.word.char_indices().enumerate().filter(|(at, (_, one))| !is_glued(*at, *one));
        let (_, (from, first)) = inner.next()?;
        let (last, one) = inner.last().map_or((from, first), |(_, last)| last);
        let to = last + one.len_utf8();
        (from > 0 || to < self.word.len()).then(|| Core {
            before: &self.word[..from],
            core: &self.word[from..to],
            behind: &self.word[to..],
        })
    }

    fn is_raised(self, at: usize) -> bool {
        is_set(self.raised, at)
    }

    fn is_capital(self, at: usize) -> bool {
        is_set(self.capitals, at)
    }
}

fn is_set(bits: u64, at: usize) -> bool {
    at < 64 && bits >> at & 1 == 1
}

/// Whether the words begin with a phrase that is a thing or a lure, or looks like one.
fn names_something(words: &[Ids]) -> bool {
    let mut is_name = false;
    LEXICON.phrases_at(words, |_, classes| {
        is_name |= classes.iter().any(|class| {
            matches!(
                class,
                Class::Thing(_) | Class::NotThing | Class::Lure(_) | Class::PossibleLure(_) | Class::NotLure
            )
        });
    });
    is_name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> (String, u64) {
        let capitals = text.chars().enumerate().filter(|(_, one)| one.is_uppercase());
        let bits = capitals.fold(0, |bits, (at, _)| bits | 1 << at);
        (text.to_lowercase(), bits)
    }

    #[test]
    fn trailing_number_is_split_from_its_word() {
        for (text, core) in
            [("phrase1", "phrase"), ("paypal24", "paypal"), ("1seed", "seed"), ("paypaltm", "paypal")]
        {
            let cut = Written { word: text, capitals: 0, raised: 0 }.without_rest();
            assert_eq!(cut.map(|cut| cut.core), Some(core), "{text}");
        }
        for text in ["xyzzy1", "garden", "2nd", "12"] {
            assert_eq!(Written { word: text, capitals: 0, raised: 0 }.without_rest(), None, "{text}");
        }
    }

    #[test]
    fn capitalized_words_are_split_if_one_of_them_is_a_known_term() {
        for (text, parts) in [
            ("PayPalLogin", "paypal login"),
            ("PAYPALLogin", "paypal login"),
            ("SecureBank", "secure bank"),
            ("MyWallet", "my wallet"),
            ("iCloudSecurity", "icloud security"),
            ("SeedPhraseInput", "seedphrase input"),
            ("Bank24Login", "bank 24 login"),
        ] {
            let (word, capitals) = written(text);
            let found = Written { word: &word, capitals, raised: 0 }.parts().unwrap_or_default();
            let found: Vec<&str> = found.into_iter().map(|(part, _)| part).collect();
            assert_eq!(found.join(" "), parts, "{text}");
        }
        for text in ["YouTube", "JavaScript", "Riverbank", "Pineapple", "McDonald"] {
            let (word, capitals) = written(text);
            assert_eq!(Written { word: &word, capitals, raised: 0 }.parts(), None, "{text}");
        }
    }
}
