//! Flat strings, access by character, and conversion of values to strings. Copies are taken from the budget.

use super::ids::TextId;
use super::state::Memory;
use super::texts::Usage;
use super::values::Value;

/// The number of bytes of a string that can be inspected in the time for copying one byte.
const INSPECTED_BYTES: usize = 32;

impl Memory<'_> {
    /// Flattens a string, if the allowance for copying is not used up.
    pub(crate) fn flat(&mut self, text: TextId) -> Option<String> {
        let len = self.texts.len(text);
        self.budget.may_copy(len).then(|| self.texts.flat(text, usize::MAX))
    }

    /// A new string made from another.
    pub(crate) fn derived(&mut self, from: TextId, text: &str) -> Value {
        if !self.budget.may_copy(text.len()) {
            return Value::Text(from);
        }
        self.texts.mark(from, Usage::Consumed);
        Value::Text(self.texts.add(text))
    }

    /// A copy of a string that comes from outside of the script.
    pub(crate) fn import(&mut self, text: &str) -> Option<Value> {
        if !self.budget.may_copy(text.len()) {
            return None;
        }
        let text = self.texts.add(text);
        self.texts.mark(text, Usage::Consumed);
        Some(Value::Text(text))
    }

    /// The text of a value within another text. An unknown value becomes a space.
    pub(crate) fn text_of(&mut self, value: Value, comma: &str) -> TextId {
        match value {
            Value::Text(text) => text,
            Value::Number(number) => self.texts.add(&number_text(number)),
            Value::Flag(_) => self.texts.add(""),
            Value::List(list) => {
                let items = self.copy_items(list);
                self.join(&items, comma)
            }
            _ => self.texts.add(" "),
        }
    }

    pub(crate) fn join(&mut self, items: &[Value], between: &str) -> TextId {
        let mut whole = self.texts.add("");
        for (at, &item) in items.iter().enumerate() {
            let part = match item {
                Value::Text(text) => text,
                Value::Number(number) => self.texts.add(&number_text(number)),
                _ => self.texts.add(" "),
            };
            if at > 0 && !between.is_empty() {
                let comma = self.texts.add(between);
                whole = self.texts.sum(whole, comma);
            }
            whole = self.texts.sum(whole, part);
        }
        whole
    }

    /// Adds two values. An unknown value added to a string becomes a space in it.
    pub(crate) fn add(&mut self, left: Value, right: Value) -> Value {
        match (left, right) {
            (Value::Number(left), Value::Number(right)) => Value::Number(left + right),
            (Value::Text(_) | Value::List(_), _) | (_, Value::Text(_) | Value::List(_)) => {
                let (left, right) = (self.text_of(left, ","), self.text_of(right, ","));
                Value::Text(self.texts.sum(left, right))
            }
            _ => Value::Unknown,
        }
    }

    pub(crate) fn char_text(&mut self, letter: char) -> Value {
        Value::Text(self.texts.add_with(|buffer| buffer.push(letter)))
    }

    pub(crate) fn split_chars(&mut self, text: TextId) -> Vec<Value> {
        if !self.budget.may_copy_items(self.texts.len(text)) {
            return Vec::new();
        }
        let flat = self.texts.flat(text, usize::MAX);
        flat.chars().map(|letter| self.char_text(letter)).collect()
    }

    pub(crate) fn char_count(&mut self, text: TextId) -> usize {
        let len = self.texts.len(text);
        if !self.may_inspect(text) || self.texts.plain(text).is_some() || !self.budget.may_copy(len) {
            return len;
        }
        self.texts.flat(text, usize::MAX).chars().count()
    }

    /// Some characters of a string. A plain string is not copied as a whole, because scripts decode character
    /// by character.
    pub(crate) fn substring(&mut self, text: TextId, start: usize, count: usize) -> Option<String> {
        let count = count.min(self.texts.len(text));
        if !self.may_inspect(text) || !self.budget.may_copy(count) {
            return None;
        }
        if let Some(plain) = self.texts.plain(text) {
            let start = start.min(plain.len());
            return plain.get(start..start.saturating_add(count).min(plain.len())).map(str::to_owned);
        }
        let flat = self.flat(text)?;
        Some(flat.chars().skip(start).take(count).collect())
    }

    pub(crate) fn char_at(&mut self, text: TextId, at: usize) -> Option<char> {
        self.substring(text, at, 1)?.chars().next()
    }

    /// Takes the small cost of checking whether a string is plain.
    fn may_inspect(&mut self, text: TextId) -> bool {
        self.budget.may_copy(self.texts.len(text) / INSPECTED_BYTES)
    }
}

pub(crate) fn number_text(number: f64) -> String {
    format!("{number}")
}
