//! Quotation marks, which mark reported speech. `Please enter your seed phrase` quoted in an article is not a
//! request of its page.

/// Fewer words around a quotation do not form a sentence that reports it: `Step 1: "Enter your name"`.
const AROUND_WEIGHT_MIN: usize = 3;

/// The quotations of a text, and the amount of text outside of them.
#[derive(Debug, Default)]
pub(super) struct Quotes {
    /// The closing mark of the open quotation.
    closing: Option<char>,
    outside_weight: usize,
}

impl Quotes {
    pub(super) fn are_open(&self) -> bool {
        self.closing.is_some()
    }

    /// Processes a character that may open or close a quotation. Returns whether it does.
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

    /// Whether the text is more than a quotation, and so reports it.
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
