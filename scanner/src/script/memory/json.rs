//! JSON texts as values.

use serde_json::Value as Json;

use super::ids::TextId;
use super::state::Memory;
use super::values::Value;

/// Longer data is not parsed, because values take many times the memory of their text.
const DATA_BYTES_MAX: usize = 1 << 20;
const DATA_FACTOR: usize = 4;

impl Memory<'_> {
    pub(crate) fn parse_json(&mut self, text: TextId) -> Value {
        let len = self.texts.len(text);
        if len > DATA_BYTES_MAX || !self.budget.may_copy(len.saturating_mul(DATA_FACTOR)) {
            return Value::Unknown;
        }
        let data = serde_json::from_str(&self.texts.flat(text, len)).unwrap_or_default();
        self.value_of_json(data)
    }

    /// Recursive, but the parser limits the depth.
    fn value_of_json(&mut self, data: Json) -> Value {
        match data {
            Json::Null => Value::Unknown,
            Json::Bool(flag) => Value::Flag(flag),
            Json::Number(number) => number.as_f64().map_or(Value::Unknown, Value::Number),
            Json::String(text) => Value::Text(self.texts.add(&text)),
            Json::Array(items) => {
                if !self.budget.may_copy_items(items.len()) {
                    return Value::Unknown;
                }
                let items = items.into_iter().map(|item| self.value_of_json(item)).collect();
                self.heap.list(items)
            }
            Json::Object(members) => {
                let object = self.heap.object();
                if self.budget.may_copy_items(members.len()) {
                    for (name, value) in members {
                        let value = self.value_of_json(value);
                        let name = self.names.id(name.into());
                        self.heap.set(object, name, value);
                    }
                }
                Value::Object(object)
            }
        }
    }
}
