//! Finds the meaning of a word at its end. The most likely reading comes first. A word is split only if it
//! has no meaning as a whole.

use super::super::seams::{Core, Written, may_bear_a_sign};
use super::Reading;
use crate::words::alike;
use crate::words::lexicon::LEXICON;

impl Reading {
    pub(super) fn end_letters(&mut self) {
        if self.word.is_empty() {
            return;
        }
        // The buffer is reused, because growing a new one for every word is slower than copying the word.
        let word = self.word.as_str().to_owned();
        self.word.clear();
        self.word_chars = 0;
        let (capitals, raised) = (std::mem::take(&mut self.capitals), std::mem::take(&mut self.raised));
        let has_symbol = std::mem::take(&mut self.has_symbol);
        self.is_capital = capitals & 1 == 1;
        let written = Written { word: &word, capitals, raised };
        let noted = if raised == 0 { None } else { written.without_notes() };
        if let Some(noted) = noted.filter(|noted| LEXICON.ids(noted.core) != [0; 4]) {
            return self.push_core(noted, capitals);
        }
        let ids = LEXICON.ids(&word);
        let is_by_stem = ids != [0; 4] && ids[0] == 0;
        // The ending of a stem cannot be a number or a footnote: `phrase1`.
        if is_by_stem && let Some(core) = written.without_mark() {
            return self.push_core(core, capitals);
        }
        if ids != [0; 4]
            || !(raised != 0 || may_bear_a_sign(&word) || alike::may_be_disguised(&word, capitals))
        {
            return self.push(word, ids);
        }
        let capital_at = |at: usize| at < 64 && capitals >> at & 1 == 1;
        for reading in alike::readings(&word, capital_at) {
            let ids = LEXICON.ids(&reading);
            if ids != [0; 4] {
                return self.push(reading, ids);
            }
        }
        if has_symbol {
            return word.split(['@', '$', '!']).filter(|part| !part.is_empty()).for_each(|part| {
                self.push(part.to_owned(), LEXICON.ids(part));
            });
        }
        if let Some(core) = written.without_rest().or(noted) {
            return self.push_core(core, capitals);
        }
        if let Some(parts) = written.parts() {
            for (part, is_capital) in parts {
                self.is_capital = is_capital;
                self.push(part.to_owned(), LEXICON.ids(part));
            }
            return;
        }
        self.push(word, ids);
    }

    /// Adds a word without its attachments. A number stays a number.
    fn push_core(&mut self, core: Core<'_>, capitals: u64) {
        if !core.before.is_empty() {
            self.push(core.before.to_owned(), LEXICON.ids(core.before));
            self.is_capital = capitals >> core.before.chars().count() & 1 == 1;
        }
        self.push(core.core.to_owned(), LEXICON.ids(core.core));
        if !core.behind.is_empty() {
            self.is_capital = false;
            self.push(core.behind.to_owned(), LEXICON.ids(core.behind));
        }
    }

    pub(super) fn end_unspaced(&mut self) {
        if self.unspaced.is_empty() {
            return;
        }
        self.is_capital = false;
        let run = std::mem::take(&mut self.unspaced);
        let mut unknown = String::new();
        let mut at = 0;
        while at < run.len() {
            let Some(length) = LEXICON.unspaced_word(&run[at..]) else {
                unknown.push(run[at]);
                at += 1;
                continue;
            };
            if !unknown.is_empty() {
                self.push(std::mem::take(&mut unknown), [0; 4]);
            }
            let word: String = run[at..at + length].iter().collect();
            let ids = LEXICON.ids(&word);
            self.push(word, ids);
            at += length;
        }
        if !unknown.is_empty() {
            self.push(unknown, [0; 4]);
        }
    }
}
