//! Records how values are used, with the values inside of them.

use super::state::Memory;
use super::texts::Usage;
use super::values::{Operand, Value};

impl Memory<'_> {
    pub(crate) fn mark_use(&mut self, operand: impl Into<Operand>, usage: Usage) {
        let operand = operand.into();
        if let (Value::Unknown, Some(reference)) = (operand.value, operand.reference) {
            let name = operand.base_name().unwrap_or(reference.name);
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

    pub(crate) fn consume_all(&mut self, values: &[Value]) {
        for &value in values {
            self.mark_use(value, Usage::Consumed);
        }
    }

    /// Marks members and their members, but none deeper.
    fn mark_members(&mut self, items: Vec<Value>, usage: Usage) {
        if !self.budget.may_copy(items.len()) {
            return;
        }
        for item in items {
            let texts = match item {
                Value::Object(object) => self.copy_values(object),
                item => vec![item],
            };
            for text in texts.into_iter().filter_map(Value::as_text) {
                self.texts.mark(text, usage);
            }
        }
    }
}
