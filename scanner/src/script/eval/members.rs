//! Members of lists, objects, strings and unknown values.

use super::evaluator::Evaluator;
use crate::script::memory::{Base, Memory, NameId, Operand, Reference, Usage, Value, number_text};
use crate::script::syntax::TokenKind;

/// `object.name`.
pub(super) fn member(eval: &mut Evaluator, object: Operand, name: NameId) -> Operand {
    let base = match object.reference {
        Some(reference) => Base::Named(reference.name),
        None => Base::Unnamed,
    };
    let is_length = eval.memory.names.text(name) == "length";
    let value = match object.value {
        Value::Text(text) if is_length => Value::Number(eval.memory.char_count(text) as f64),
        Value::List(list) if is_length => Value::Number(eval.memory.heap.items(list).len() as f64),
        Value::Object(object) => eval.memory.heap.member(object, name).unwrap_or_default(),
        one @ (Value::OneOfList(_) | Value::OneOfObject(_)) => one_of_members(&mut eval.memory, one, name),
        _ => match base {
            Base::Named(base) => eval
                .memory
                .scopes
                .member(base, name)
                .unwrap_or_else(|| member_of_page(&mut eval.memory, base, name)),
            _ => Value::Unknown,
        },
    };
    Operand { value, reference: Some(Reference { name, base }), owner: object.value }
}

/// Data that the page holds for scripts: `element.dataset.form`,
/// `document.querySelector('#data').textContent`.
fn member_of_page(memory: &mut Memory, base: NameId, name: NameId) -> Value {
    let (base, name) = (memory.names.text(base), memory.names.text(name));
    let held = match name {
        _ if base == "dataset" => name,
        "textContent" | "innerHTML" | "text" if base.starts_with('#') => base,
        _ => return Value::Unknown,
    };
    let held = memory.bound.held(held);
    held.and_then(|held| memory.import(held)).unwrap_or_default()
}

/// A member of an unknown item: one of the items' members of that name.
fn one_of_members(memory: &mut Memory, one: Value, name: NameId) -> Value {
    let items = memory.alternatives(one);
    let member = |item: &Value| memory.heap.member(item.as_object()?, name);
    let members: Vec<Value> = items.iter().filter_map(member).collect();
    match memory.heap.list(members.clone()) {
        Value::List(list) if !members.is_empty() => Value::OneOfList(list),
        _ => one,
    }
}

/// `object[key]`.
pub(super) fn index(eval: &mut Evaluator, object: Operand, key: Operand) -> Operand {
    // A function that looks something up is worth calling.
    let is_lookup = matches!(object.value, Value::List(_) | Value::Object(_) | Value::Text(_));
    eval.memory.literals_read += usize::from(is_lookup);
    match (object.value, stable(eval, key)) {
        (Value::List(list), Value::Number(at)) if at >= 0.0 && is_assigned_next(eval) => {
            let name = eval.memory.names.id(number_text(at).into());
            let reference = Reference { name, base: Base::Unnamed };
            Operand { value: Value::Unknown, reference: Some(reference), owner: Value::List(list) }
        }
        (Value::List(list), Value::Number(at)) if at >= 0.0 => {
            Operand::from(eval.memory.heap.items(list).get(at as usize).copied().unwrap_or_default())
        }
        (_, Value::Text(text)) => {
            eval.memory.texts.mark(text, Usage::Consumed);
            let name = eval.memory.flat(text).unwrap_or_default();
            let name = eval.memory.names.id(name.into());
            member(eval, object, name)
        }
        (Value::Text(text), Value::Number(at)) if at >= 0.0 => {
            let letter = eval.memory.char_at(text, at as usize);
            letter.map_or(Value::Unknown, |letter| eval.memory.char_text(letter)).into()
        }
        (Value::List(list), _) => eval.memory.one_of_list(list).into(),
        (Value::Object(object), Value::Number(at)) => {
            let name = eval.memory.names.id(number_text(at).into());
            let known = eval.memory.heap.member(object, name);
            known.unwrap_or_else(|| eval.memory.one_of_object(object)).into()
        }
        (Value::Object(object), _) => eval.memory.one_of_object(object).into(),
        (one @ (Value::OneOfList(_) | Value::OneOfObject(_)), _) => one.into(),
        _ => {
            eval.memory.note_lookup(object.reference.map(|reference| reference.name));
            Operand::default()
        }
    }
}

/// A key as seen by a function that may be called at any time.
fn stable(eval: &Evaluator, key: Operand) -> Value {
    let is_unstable = key.reference.is_some_and(|reference| {
        let is_own = reference.base == Base::None
            && (eval.memory.choices.counters.contains(&reference.name)
                || !eval.memory.scopes.is_outer(reference.name));
        !eval.bodies.is_empty() && eval.memory.choices.reassigned.contains(&reference.name) && !is_own
    });
    if is_unstable { Value::Unknown } else { key.value }
}

/// Whether a value is assigned next.
fn is_assigned_next(eval: &Evaluator) -> bool {
    eval.tokens.kind(eval.at) == Some(TokenKind::Assign)
}
