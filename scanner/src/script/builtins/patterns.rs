//! Strings that are searched, replaced and split, by strings and by those regular expressions that stand for one
//! text or for a number of letters. No other expression is ever matched, so that none can take long.

use super::calls::Call;
use crate::script::encodings;
use crate::script::eval::evaluator::Evaluator;
use crate::script::memory::texts::{TextId, Usage};
use crate::script::memory::values::Value;
use crate::script::syntax::tokens::Token;

/// What is looked for in a string.
struct Needle {
    text: String,
    is_global: bool,
    is_caseless: bool,
}

impl Needle {
    /// A string cut where it stands.
    fn cut<'t>(&self, text: &'t str, cuts_max: usize) -> Vec<&'t str> {
        let fold = |text: &str| text.to_ascii_lowercase();
        let folded = if self.is_caseless { Some((fold(text), fold(&self.text))) } else { None };
        let (within, what) = folded.as_ref().map_or((text, &*self.text), |(text, what)| (text, what));
        let (mut parts, mut from) = (Vec::new(), 0);
        for (at, _) in within.match_indices(what).take(cuts_max) {
            parts.push(text.get(from..at).unwrap_or(""));
            from = at + what.len();
        }
        parts.push(text.get(from..).unwrap_or(""));
        parts
    }
}

impl Evaluator<'_> {
    /// A regular expression: only those that stand for one text are followed.
    pub(crate) fn pattern(&mut self, token: Token) {
        let written = token.text(self.source);
        let is_affordable = self.may_copy(written.len());
        let value = match encodings::plain_pattern(written).filter(|_| is_affordable) {
            Some((text, flags)) => {
                let text = self.texts.add(&text);
                self.texts.mark(text, Usage::Consumed);
                Value::Pattern { text, is_global: flags.contains('g'), is_caseless: flags.contains('i') }
            }
            None => encodings::any_chars_pattern(written).map_or(Value::Unknown, Value::AnyChars),
        };
        self.push_value(value.into());
    }

    /// `match(/../g)`: a string cut into pieces of so many letters.
    pub(crate) fn pieces(&mut self, text: TextId, size: usize) -> Option<Vec<Value>> {
        let flat = self.flat(text)?;
        let letters: Vec<char> = flat.chars().collect();
        if !self.may_copy_items(letters.len() / size.max(1)) {
            return None;
        }
        let pieces = letters.chunks(size.max(1)).map(|piece| piece.iter().collect::<String>());
        Some(pieces.map(|piece| Value::Text(self.texts.add(&piece))).collect())
    }

    fn needle(&mut self, value: Value) -> Option<Needle> {
        let (text, is_global, is_caseless) = match value {
            Value::Text(text) => (text, false, false),
            Value::Pattern { text, is_global, is_caseless } => (text, is_global, is_caseless),
            _ => return None,
        };
        Some(Needle { text: self.flat(text)?, is_global, is_caseless })
    }

    pub(crate) fn split(&mut self, text: TextId, by: Value) -> Option<Value> {
        let by = self.needle(by)?;
        if by.text.is_empty() {
            let letters = self.split_chars(text);
            return Some(self.heap.list(letters));
        }
        let flat = self.flat(text)?;
        let parts = by.cut(&flat, usize::MAX);
        if !self.may_copy_items(parts.len()) {
            return None;
        }
        let parts = parts.into_iter().map(|part| Value::Text(self.texts.add(part))).collect();
        self.texts.mark(text, Usage::Consumed);
        Some(self.heap.list(parts))
    }

    pub(crate) fn replaced(&mut self, text: TextId, call: &Call) -> Option<Value> {
        self.consume_all(call.arguments);
        let Some(what) = self.needle(call.argument(0)).filter(|what| !what.text.is_empty()) else {
            return Some(Value::Text(text));
        };
        let by = match call.argument(1) {
            Value::Text(by) => self.flat(by)?,
            Value::Function(by) => match self.result_of(by) {
                Some(Value::Text(by)) => self.flat(by)?,
                _ => " ".to_owned(),
            },
            _ => " ".to_owned(),
        };
        let flat = self.flat(text)?;
        let is_every = what.is_global || call.name == "replaceAll";
        let parts = what.cut(&flat, if is_every { usize::MAX } else { 1 });
        let may_grow = flat.len().saturating_add(parts.len().saturating_mul(by.len()));
        if !self.may_copy(may_grow) {
            return Some(Value::Text(text));
        }
        Some(self.derived(text, &parts.join(&by)))
    }
}
