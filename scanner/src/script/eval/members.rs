//! Members of lists, objects, strings and of what is not known; and strings made of any value.

use super::evaluator::Evaluator;
use crate::script::memory::texts::{TextId, Usage};
use crate::script::memory::values::{Base, ListId, NameId, ObjectId, Operand, Reference, Value};
use crate::script::syntax::tokens::Kind;

/// Bytes of a string that are looked at in the time in which one is copied.
const INSPECTED_BYTES: usize = 32;

impl Evaluator<'_> {
    /// `object.name`.
    pub(crate) fn member(&mut self, object: Operand, name: NameId) -> Operand {
        let base = match object.reference {
            Some(reference) => Base::Named(reference.name),
            None => Base::Unnamed,
        };
        let is_length = self.names.text(name) == "length";
        let value = match object.value {
            Value::Text(text) if is_length => Value::Number(self.char_count(text) as f64),
            Value::List(list) if is_length => Value::Number(self.heap.items(list).len() as f64),
            Value::Object(object) => self.heap.member(object, name).unwrap_or_default(),
            one @ (Value::OneOfList(_) | Value::OneOfObject(_)) => self.one_of_members(one, name),
            _ => match base {
                Base::Named(base) => {
                    self.scopes.member(base, name).unwrap_or_else(|| self.member_of_page(base, name))
                }
                _ => Value::Unknown,
            },
        };
        Operand { value, reference: Some(Reference { name, base }), owner: object.value }
    }

    /// What the page tells of an element: `element.dataset.form`, `document.querySelector('#data').textContent`.
    fn member_of_page(&mut self, base: NameId, name: NameId) -> Value {
        let (base, name) = (self.names.text(base), self.names.text(name));
        let held = match name {
            _ if base == "dataset" => name,
            "textContent" | "innerHTML" | "text" if base.starts_with('#') => base,
            _ => return Value::Unknown,
        };
        let held = held.to_owned();
        self.held(&held)
    }

    /// What elements of the page hold under a name.
    pub(crate) fn held(&mut self, name: &str) -> Value {
        let bound = self.bound;
        let held = bound.held(name).filter(|held| self.may_copy(held.len()));
        held.map_or(Value::Unknown, |held| {
            let text = self.texts.add(held);
            self.texts.mark(text, Usage::Consumed);
            Value::Text(text)
        })
    }

    /// A member of one of many: one of their members of that name.
    fn one_of_members(&mut self, one: Value, name: NameId) -> Value {
        let items = match one {
            Value::OneOfList(list) => self.copy_items(list),
            Value::OneOfObject(object) => self.copy_values(object),
            _ => return one,
        };
        let member = |item: &Value| match item {
            Value::Object(object) => self.heap.member(*object, name),
            _ => None,
        };
        let members: Vec<Value> = items.iter().filter_map(member).collect();
        match self.heap.list(members.clone()) {
            Value::List(list) if !members.is_empty() => Value::OneOfList(list),
            _ => one,
        }
    }

    pub(crate) fn char_count(&mut self, text: TextId) -> usize {
        let len = self.texts.len(text);
        if !self.may_inspect(text) || self.texts.plain(text).is_some() || !self.may_copy(len) {
            return len;
        }
        self.texts.flat(text, usize::MAX).chars().count()
    }

    /// Some letters of a string. They are taken from where it lies, since codes are read letter by letter.
    pub(crate) fn substring(&mut self, text: TextId, start: usize, count: usize) -> Option<String> {
        let count = count.min(self.texts.len(text));
        if !self.may_inspect(text) || !self.may_copy(count) {
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

    /// To see whether a string is plain takes little, but not nothing.
    fn may_inspect(&mut self, text: TextId) -> bool {
        self.may_copy(self.texts.len(text) / INSPECTED_BYTES)
    }

    /// `object[key]`.
    pub(crate) fn index(&mut self, object: Operand, key: Operand) -> Operand {
        // A function that looks something up tells more when it is called.
        let is_told = matches!(object.value, Value::List(_) | Value::Object(_) | Value::Text(_));
        self.literals_read += usize::from(is_told);
        match (object.value, self.stable(key)) {
            (Value::List(list), Value::Number(at)) if at >= 0.0 && self.is_given_next() => {
                let name = self.names.id(number_text(at).into());
                let reference = Reference { name, base: Base::Unnamed };
                Operand { value: Value::Unknown, reference: Some(reference), owner: Value::List(list) }
            }
            (Value::List(list), Value::Number(at)) if at >= 0.0 => {
                Operand::from(self.heap.items(list).get(at as usize).copied().unwrap_or_default())
            }
            (_, Value::Text(text)) => {
                self.texts.mark(text, Usage::Consumed);
                let name = self.flat(text).unwrap_or_default();
                let name = self.names.id(name.into());
                self.member(object, name)
            }
            (Value::Text(text), Value::Number(at)) if at >= 0.0 => {
                let letter = self.char_at(text, at as usize);
                let text = letter.map(|letter| self.texts.add_with(|buffer| buffer.push(letter)));
                text.map_or(Value::Unknown, Value::Text).into()
            }
            (Value::List(list), _) => self.one_of_list(list).into(),
            (Value::Object(object), Value::Number(at)) => {
                let name = self.names.id(number_text(at).into());
                let known = self.heap.member(object, name);
                known.unwrap_or_else(|| self.one_of_object(object)).into()
            }
            (Value::Object(object), _) => self.one_of_object(object).into(),
            (one @ (Value::OneOfList(_) | Value::OneOfObject(_)), _) => one.into(),
            _ => {
                self.note_lookup(object.reference.map(|reference| reference.name));
                Operand::default()
            }
        }
    }

    /// Whether what was just named is given a value.
    fn is_given_next(&self) -> bool {
        self.tokens.kind(self.at) == Some(Kind::Assign)
    }

    /// The text of a value within another text; of what is not known, a space.
    pub(crate) fn text_of(&mut self, value: Value, comma: &str) -> Option<TextId> {
        match value {
            Value::Text(text) => Some(text),
            Value::Number(number) => Some(self.texts.add(&number_text(number))),
            Value::Flag(_) => Some(self.texts.add("")),
            Value::List(list) => {
                let items = self.copy_items(list);
                Some(self.join(&items, comma))
            }
            _ => Some(self.texts.add(" ")),
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

    /// A string in one piece, if the allowance for copying is not used up.
    pub(crate) fn flat(&mut self, text: TextId) -> Option<String> {
        let len = self.texts.len(text);
        self.may_copy(len).then(|| self.texts.flat(text, usize::MAX))
    }

    /// A new string made from another.
    pub(crate) fn derived(&mut self, from: TextId, text: &str) -> Value {
        if !self.may_copy(text.len()) {
            return Value::Text(from);
        }
        self.texts.mark(from, Usage::Consumed);
        Value::Text(self.texts.add(text))
    }

    /// Notes what becomes of a value, and of what it holds.
    pub(crate) fn mark_use(&mut self, operand: Operand, usage: Usage) {
        if let (Value::Unknown, Some(reference)) = (operand.value, operand.reference) {
            let name = match reference.base {
                Base::Named(base) => base,
                _ => reference.name,
            };
            let uses = self.early_uses.entry(name).or_default();
            match usage {
                Usage::Shown | Usage::Consumed => uses.0 = true,
                Usage::Written | Usage::Unclear => uses.1 = true,
            }
            return;
        }
        match operand.value {
            Value::Text(text) => self.texts.mark(text, usage),
            Value::List(list) | Value::OneOfList(list) if usage != Usage::Consumed => {
                let items = self.copy_items(list);
                self.mark_members(items, usage);
            }
            Value::Object(object) | Value::OneOfObject(object) if usage != Usage::Consumed => {
                let items = self.copy_values(object);
                self.mark_members(items, usage);
            }
            _ => {}
        }
    }

    /// The items of a list, if the allowance for copying is not used up.
    pub(crate) fn copy_items(&mut self, list: ListId) -> Vec<Value> {
        let len = self.heap.items(list).len();
        if self.may_copy_items(len) { self.heap.items(list).to_vec() } else { Vec::new() }
    }

    pub(crate) fn copy_values(&mut self, object: ObjectId) -> Vec<Value> {
        let keys = self.heap.keys(object).len();
        if !self.may_copy(keys) {
            return Vec::new();
        }
        self.heap.entries(object).into_iter().map(|(_, value)| value).collect()
    }

    /// Members and their members; what is deeper stands for itself.
    fn mark_members(&mut self, items: Vec<Value>, usage: Usage) {
        if !self.may_copy(items.len()) {
            return;
        }
        for item in items {
            match item {
                Value::Text(text) => self.texts.mark(text, usage),
                Value::Object(object) => {
                    for value in self.copy_values(object) {
                        if let Value::Text(text) = value {
                            self.texts.mark(text, usage);
                        }
                    }
                }
                _ => {}
            }
        }
    }
}

pub(crate) fn number_text(number: f64) -> String {
    format!("{number}")
}
