//! Splits a text into sentences of words, and searches each sentence with the lexicon. It stores only one
//! sentence at a time.

mod ending;

use std::borrow::Cow;
use std::iter::Peekable;

use super::classifier::{PhraseClassifier, PhraseMatch};
use super::fold::{Folded, folded, is_unspaced};
use super::found::Whole;
use super::letters::join_letters;
use super::lexicon::{Ids, LEXICON};
use super::lures::Lures;
use super::quotes::Quotes;
use super::{Hint, Sense, Text};

/// Longer sentences are cut, because classifying one takes time quadratic in its length.
const SENTENCE_WORDS_MAX: usize = 160;
/// The rest of a longer word is dropped.
const WORD_CHARS_MAX: usize = 64;
/// Longer texts are not labels.
const LABEL_WORDS_MAX: usize = 28;
/// "Your answer" counts, a sentence that contains an answer does not.
const PLAIN_WORDS_MAX: usize = 3;
/// "Seed word 3" counts, a sentence that contains a number does not.
const NUMBERED_WORDS_MAX: usize = 3;

/// Words that begin a contrasting clause.
const TURNS: [&str; 9] = ["but", "aber", "sondern", "pero", "maar", "ale", "но", "ama", "mais"];

/// Words after which two dashes begin an option of a command.
const BEFORE_OPTION: [&str; 8] = ["with", "using", "via", "mit", "avec", "con", "com", "met"];

/// How to read a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    Prose,
    Name,
}

/// The separator between a word and the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gap {
    None,
    Comma,
    /// Between alternatives, and in dates.
    Slash,
    Colon,
    Open,
    Close,
}

#[derive(Clone, Debug)]
pub(super) struct TextWord {
    pub(super) folded: String,
    pub(super) ids: Ids,
    pub(super) gap: Gap,
    pub(super) is_capital: bool,
    pub(super) is_quoted: bool,
}

pub(super) struct Reading {
    manner: Manner,
    text: Text,
    words: Vec<TextWord>,
    gap: Gap,
    word: String,
    word_chars: usize,
    /// Bit n is set if the n-th character of the word was a capital.
    capitals: u64,
    /// The same for superscript and subscript characters.
    raised: u64,
    has_symbol: bool,
    is_capital: bool,
    unspaced: Vec<char>,
    classifier: PhraseClassifier,
    lures: Lures,
    quotes: Quotes,
    /// The number of words at the start of the text by use, for hints that must fill the whole text.
    plain_words: usize,
    numbered_words: usize,
    /// The meaning of the last sentence if it is the only one, and its length.
    whole: (Whole, usize),
}

impl Reading {
    pub(super) fn of(raw: &str, manner: Manner) -> Text {
        let mut reading = Reading {
            manner,
            text: Text::default(),
            words: Vec::new(),
            gap: Gap::None,
            word: String::new(),
            word_chars: 0,
            capitals: 0,
            raised: 0,
            has_symbol: false,
            is_capital: false,
            unspaced: Vec::new(),
            classifier: PhraseClassifier::default(),
            lures: Lures::default(),
            quotes: Quotes::default(),
            plain_words: 0,
            numbered_words: 0,
            whole: Default::default(),
        };
        let turned = turned(raw);
        let mut characters = folded(&turned).peekable();
        while let Some(folded) = characters.next() {
            reading.take(folded, &mut characters);
        }
        reading.end_word();
        reading.end_sentence(false);
        reading.finish()
    }

    fn take(&mut self, folded: Folded, rest: &mut Peekable<impl Iterator<Item = Folded>>) {
        let character = folded.character;
        let next = rest.peek().map(|next| next.character);
        if is_unspaced(character) {
            self.end_letters();
            return self.take_unspaced(character);
        }
        if character.is_alphanumeric() {
            self.end_unspaced();
            return self.take_letter(folded);
        }
        let before_letter = next.is_some_and(char::is_alphanumeric);
        let behind_letter = !self.word.is_empty() || !self.unspaced.is_empty();
        if matches!(
            character,
            '"' | '\'' | '‘' | '’' | '“' | '”' | '„' | '‟' | '«' | '»' | '「' | '」' | '『' | '』'
        ) && !(behind_letter && before_letter && matches!(character, '\'' | '’' | '‘'))
        {
            return self.take_quote(character, behind_letter, before_letter);
        }
        match character {
            '@' | '$' | '!' if before_letter && (!self.word.is_empty() || character == '$') => {
                self.has_symbol = true;
                self.take_letter(folded);
            }
            '\'' | '’' | 'ʼ' | '`' | '‘' | '＇' if before_letter && !self.word.is_empty() => {
                self.take_apostrophe(rest)
            }
            '.' => self.take_dot(rest.peek().copied()),
            '!' | ';' | '\u{37e}' | '。' | '！' | '；' | '…' | '\u{2029}' | '।' => {
                self.end_sentence_at(false)
            }
            '?' | '？' | '؟' => self.end_sentence_at(true),
            '-' if next == Some('-') && self.word.is_empty() => self.take_dashes(rest),
            '#' if !self.words.is_empty() || behind_letter => self.take_number_sign(next),
            '-' | '‐' | '‑' | '–' | '—' | '―' => self.take_dash(character, next),
            ',' | '،' | '、' | '，' | '•' | '·' | '|' => self.take_gap(Gap::Comma),
            '/' | '\\' => self.take_slash(next),
            ':' | '：' | '→' | '›' | '>' | '<' | '=' => self.take_gap(Gap::Colon),
            '(' | '[' | '{' | '（' | '【' => self.take_gap(Gap::Open),
            ')' | ']' | '}' | '）' | '】' => self.take_gap(Gap::Close),
            _ => self.end_word(),
        }
    }

    fn take_quote(&mut self, mark: char, behind_letter: bool, before_letter: bool) {
        self.end_word();
        let is_quote = self.quotes.take(mark, behind_letter, before_letter);
        match mark {
            '「' | '『' => self.gap = Gap::Open,
            '」' | '』' => self.gap = Gap::Close,
            '»' | '«' if !is_quote => self.gap = Gap::Colon,
            _ => {}
        }
    }

    fn take_letter(&mut self, folded: Folded) {
        if self.word_chars < WORD_CHARS_MAX {
            self.capitals |= u64::from(folded.was_capital) << self.word_chars;
            self.raised |= u64::from(folded.was_raised) << self.word_chars;
            self.word.push(folded.character);
            self.word_chars += 1;
        }
    }

    fn take_unspaced(&mut self, character: char) {
        self.unspaced.push(character);
        if self.unspaced.len() >= SENTENCE_WORDS_MAX {
            self.end_unspaced();
        }
    }

    /// `don't` is one word. `l'accès`, `bank's` and `PayPal'a` are a noun with an article or an ending.
    fn take_apostrophe(&mut self, rest: &mut Peekable<impl Iterator<Item = Folded>>) {
        let short = self.word_chars <= 2;
        let next = rest.peek().map(|next| next.character);
        match next {
            Some('t') if !short => {}
            Some('s') if !short => {
                self.end_word();
                // The s belongs to the noun, unless a longer word begins here.
                if let Some(folded) = rest.next()
                    && rest.peek().is_some_and(|after| after.character.is_alphanumeric())
                {
                    self.take_letter(folded);
                }
            }
            _ => self.end_word(),
        }
    }

    fn take_dot(&mut self, next: Option<Folded>) {
        let joins = next.is_some_and(|next| {
            next.character.is_alphanumeric() && (!next.was_capital || self.word_chars <= 1)
        });
        if joins { self.end_word() } else { self.end_sentence_at(false) }
    }

    fn take_dash(&mut self, dash: char, next: Option<char>) {
        let is_hyphen = !self.word.is_empty() && next.is_some_and(char::is_alphanumeric);
        if is_hyphen && !matches!(dash, '—' | '―') { self.end_word() } else { self.take_gap(Gap::Colon) }
    }

    /// `--key` is an option of a command. The dashes count as a word.
    fn take_dashes(&mut self, rest: &mut Peekable<impl Iterator<Item = Folded>>) {
        self.end_word();
        rest.next();
        let is_option = rest.peek().is_some_and(|next| next.character.is_ascii_lowercase())
            && self.words.last().is_some_and(|word| BEFORE_OPTION.contains(&word.folded.as_str()));
        if is_option {
            self.push("--".to_owned(), LEXICON.ids("--"));
        } else {
            self.gap = Gap::Colon;
        }
    }

    /// In `Card #` the sign stands for the word "number".
    fn take_number_sign(&mut self, next: Option<char>) {
        self.end_word();
        if self.gap == Gap::None && !next.is_some_and(|next| next.is_alphanumeric() || next == '#') {
            self.push("#".to_owned(), LEXICON.ids("#"));
        }
    }

    /// `12/24 words` is one phrase.
    fn take_slash(&mut self, next: Option<char>) {
        let is_behind_digit = self.word.ends_with(|character: char| character.is_ascii_digit());
        let is_in_number = is_behind_digit && next.is_some_and(|next| next.is_ascii_digit());
        if is_in_number { self.end_word() } else { self.take_gap(Gap::Slash) }
    }

    fn take_gap(&mut self, gap: Gap) {
        self.end_word();
        self.gap = gap;
    }

    fn end_word(&mut self) {
        self.end_letters();
        self.end_unspaced();
    }

    fn push(&mut self, folded: String, ids: Ids) {
        let is_turn = TURNS.contains(&folded.as_str());
        let gap = std::mem::replace(&mut self.gap, Gap::None);
        let gap = if is_turn && gap == Gap::None { Gap::Comma } else { gap };
        let (is_capital, is_quoted) = (self.is_capital, self.quotes.are_open());
        self.quotes.count(&folded, folded.chars().next().is_some_and(is_unspaced));
        if self.manner == Manner::Name
            && ids == [0; 4]
            && let Some(parts) = LEXICON.name_taken_apart(&folded)
        {
            for part in parts {
                let (folded, ids) = (part.to_owned(), LEXICON.ids(part));
                self.words.push(TextWord { folded, ids, gap: Gap::None, is_capital, is_quoted });
            }
        } else {
            self.words.push(TextWord { folded, ids, gap, is_capital, is_quoted });
        }
        if self.words.len() >= SENTENCE_WORDS_MAX {
            self.end_sentence(false);
        }
    }

    fn end_sentence_at(&mut self, is_question: bool) {
        self.end_word();
        self.end_sentence(is_question);
    }

    fn end_sentence(&mut self, is_question: bool) {
        self.gap = Gap::None;
        if self.words.is_empty() {
            return;
        }
        let mut words = std::mem::take(&mut self.words);
        join_letters(&mut words);
        self.text.word_count = self.text.word_count.saturating_add(words.len() as u32);
        let sentence = PhraseMatch::in_words(&words, is_question, self.manner, &mut self.text);
        self.lures.take(&sentence);
        self.plain_words += sentence.plain_words;
        self.whole = (sentence.whole, words.len());
        self.numbered_words += words.iter().filter(|word| is_number_up_to_24(&word.folded)).count();
        self.classifier.classifier(&sentence, &mut self.text);
        words.clear();
        self.words = words;
    }

    fn finish(mut self) -> Text {
        let count = self.text.word_count();
        self.classifier.settle(self.quotes.are_reported(), self.manner, &mut self.text);
        if count > LABEL_WORDS_MAX {
            let named = self.text.senses.iter_mut().filter(|(_, sensed)| sensed.sense == Sense::Named);
            named.for_each(|(_, sensed)| sensed.sense = Sense::Mentioned);
        }
        if self.whole.1 == count {
            self.text.hints |= self.whole.0.hints;
            self.lures.take_whole(self.whole.0.lure);
        }
        let is_said_plainly = self.text.has(Hint::PlainAsk) && count <= PLAIN_WORDS_MAX;
        self.text.hints &= !(1 << Hint::PlainAsk as u32);
        if is_said_plainly || (self.plain_words == count && !self.text.has(Hint::OtherValue)) {
            self.text.put_hint(Hint::PlainAsk);
        }
        let word_before = count <= NUMBERED_WORDS_MAX && self.text.has(Hint::NumberedWord);
        self.text.hints &= !(1 << Hint::NumberedWord as u32);
        if self.numbered_words == 1 && (count == 1 || word_before) {
            self.text.put_hint(Hint::NumberedWord);
        }
        self.lures.settle(&mut self.text);
        self.text.shrink();
        self.text
    }
}

fn is_number_up_to_24(word: &str) -> bool {
    word.parse::<u8>().is_ok_and(|number| (1..=24).contains(&number))
}

/// A text in visual order: text after a right-to-left override is reversed, up to the end of the override.
fn turned(raw: &str) -> Cow<'_, str> {
    let Some((before, behind)) = raw.split_once('\u{202e}') else { return Cow::Borrowed(raw) };
    let mut seen = before.to_owned();
    for run in behind.split('\u{202e}') {
        let (turned, rest) = run.split_once('\u{202c}').unwrap_or((run, ""));
        seen.extend(turned.chars().rev());
        seen.push_str(rest);
    }
    Cow::Owned(seen)
}
