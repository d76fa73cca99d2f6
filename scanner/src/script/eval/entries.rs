//! Arguments of calls, items of lists and entries of objects.

use super::evaluator::Evaluator;
use super::frame::Level;
use crate::script::effects::properties::put_in_object;
use crate::script::memory::{Operand, Usage, Value, number_text};

pub(super) fn add_item(eval: &mut Evaluator, value: Option<Operand>) {
    let spreads = std::mem::take(&mut eval.frame().spreads);
    let Some(operand) = value else { return };
    let spread = match operand.value {
        Value::List(list) if spreads => Some(eval.memory.copy_items(list)),
        Value::Text(text) if spreads => Some(eval.memory.split_chars(text)),
        _ => None,
    };
    if operand.value == Value::Unknown {
        eval.memory.mark_use(operand, Usage::Unclear);
    }
    if let Level::Call { arguments: items, .. } | Level::Array { items } = &mut eval.frame().kind {
        match spread {
            Some(values) => items.extend(values),
            None => items.push(operand.value),
        }
    }
}

/// Begins an object's member after its key was read.
pub(super) fn begin_entry(eval: &mut Evaluator, name: Operand) {
    let id = match (name.value, name.reference) {
        (Value::Text(text), None) => {
            eval.memory.texts.mark(text, Usage::Consumed);
            let text = eval.memory.flat(text).unwrap_or_default();
            Some(eval.memory.names.id(text.into()))
        }
        (Value::Number(number), None) => Some(eval.memory.names.id(number_text(number).into())),
        (_, Some(reference)) => Some(reference.name),
        _ => None,
    };
    if let Level::Object { key, .. } = &mut eval.frame().kind {
        *key = id;
    }
}

pub(super) fn add_entry(eval: &mut Evaluator, value: Option<Operand>) {
    let spreads = std::mem::take(&mut eval.frame().spreads);
    let Level::Object { object, key } = &mut eval.frame().kind else { return };
    let (object, key) = (*object, key.take());
    let Some(operand) = value else { return };
    if spreads {
        if let Value::Object(other) = operand.value {
            eval.memory.copy_members(other, object);
        }
        return;
    }
    if let Some(name) = key.or(operand.variable()) {
        put_in_object(&mut eval.memory, object, name, operand.value);
    }
    if operand.value == Value::Unknown {
        eval.memory.mark_use(operand, Usage::Unclear);
    }
}
