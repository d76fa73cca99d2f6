//! Quotation marks: what somebody else is said to say. `Please enter your seed phrase` in an article is no request of its page.

/// Fewer words around a quotation make no sentence that reports it: `Step 1: "Enter your name"`.
const AROUND_WEIGHT_MIN: usize = 3;

/// Where in quotations a text is, and how much of it stands outside of them.
#[derive(Debug, Default)]
pub(super) struct Quotes {
    /// What closes the quotation that is open.
    closing: Option<char>,
    outside_weight: usize,
}

impl Quotes {
    pub(super) fn are_open(&self) -> bool {
        self.closing.is_some()
    }

    /// Takes a character that may open or close a quotation, and says whether it did.
    pub(super) fn take(&mut self, mark: char, is_behind_letter: bool, is_before_letter: bool) -> bool {
        match self.closing {
            Some(closing) if closes(mark, closing) && (mark != '\'' || !is_before_letter) => {
                self.closing = None;
                true
            }
            Some(_) => false,
            None => {
                self.closing = closing_of(mark, is_before_letter && !is_behind_letter);
                self.closing.is_some()
            }
        }
    }

    pub(super) fn count(&mut self, word: &str, is_unspaced: bool) {
        if self.closing.is_none() {
            // Scripts without spaces have about two letters a word.
            self.outside_weight += if is_unspaced { word.chars().count().div_ceil(2) } else { 1 };
        }
    }

    /// Whether the text is more than a quotation, and so reports what stands in it.
    pub(super) fn are_reported(&self) -> bool {
        self.closing.is_none() && self.outside_weight >= AROUND_WEIGHT_MIN
    }
}

fn closing_of(mark: char, is_at_word: bool) -> Option<char> {
    match mark {
        '“' | '„' | '‟' | '”' => Some('”'),
        '«' => Some('»'),
        '»' if is_at_word => Some('«'),
        '「' => Some('」'),
        '『' => Some('』'),
        '"' if is_at_word => Some('"'),
        '\'' | '‘' if is_at_word => Some('\''),
        _ => None,
    }
}

fn closes(mark: char, closing: char) -> bool {
    mark == closing
        || match closing {
            '”' => matches!(mark, '“' | '"'),
            '\'' => mark == '’',
            _ => false,
        }
}
