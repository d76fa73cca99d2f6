//! Closing brackets, and the values that they produce.

use super::calls::{call_for_each, call_function, resume};
use super::choices::schedule_choices;
use super::entries::{add_entry, add_item};
use super::evaluator::Evaluator;
use super::expressions::{consume, end_statement, expression, push_value, return_value};
use super::frame::{Expected, Frame, Level};
use super::literals::add_to_template;
use super::loops::{begin_loop, next_iteration};
use super::members::index;
use crate::script::builtins::{self, Call, Outcome};
use crate::script::effects::forms::record_form;
use crate::script::memory::{Operand, Usage, Value};

/// Closes the frame of a bracket, and all unclosed frames in it.
pub(super) fn close(eval: &mut Evaluator, at: usize) {
    let Some(partner) = eval.tokens.partner(at) else { return };
    while eval.frames.len() > 1
        && eval.frame().opened_at > partner
        && !matches!(eval.frame().kind, Level::Apply(_))
    {
        // An unclosed loop is not repeated.
        eval.frame().iteration = None;
        let kept = eval.at;
        close_frame(eval);
        eval.at = kept;
    }
    if eval.frames.len() > 1 && eval.frame().opened_at == partner {
        close_frame(eval);
    } else {
        // Its opening bracket exceeded the depth limit.
        push_value(eval, Operand::default());
    }
}

/// Ends the innermost level of nesting.
pub(super) fn close_frame(eval: &mut Evaluator) {
    let body_is_open = matches!(eval.frame().kind, Level::Block | Level::Body);
    let value = if body_is_open {
        end_statement(eval);
        None
    } else {
        expression(eval)
    };
    if matches!(eval.frame().kind, Level::Block) && next_iteration(eval) {
        return;
    }
    complete(eval, value);
    let Some(frame) = eval.frames.pop() else { return };
    deliver(eval, frame, value);
}

/// Adds the last value before the closing bracket.
fn complete(eval: &mut Evaluator, value: Option<Operand>) {
    match eval.frame().kind {
        Level::Call { .. } | Level::Array { .. } => add_item(eval, value),
        Level::Object { .. } => add_entry(eval, value),
        Level::Arrow => return_value(eval, value.unwrap_or_default()),
        _ => {}
    }
}

/// Passes the value of a closed frame to the frame around it.
fn deliver(eval: &mut Evaluator, frame: Frame, value: Option<Operand>) {
    let last = value.unwrap_or_default();
    let result = match frame.kind {
        Level::Block if eval.frame().is_block() => return,
        Level::Block => Operand::default(),
        Level::Body | Level::Arrow => return end_body(eval),
        Level::Group => last,
        Level::Head | Level::Params => return consume(eval, value),
        Level::Loop => return begin_loop(eval, frame.opened_at, last.value),
        Level::Call { callee, arguments, is_new } => match call(eval, callee, &arguments, is_new) {
            Some(result) => result,
            None => return,
        },
        Level::Index { object } => index(eval, object, last),
        Level::Array { items } => {
            record_form(&mut eval.memory, &items);
            eval.memory.heap.list(items).into()
        }
        Level::Object { object, .. } => Value::Object(object).into(),
        Level::Template { text, tag } => {
            eval.memory.mark_use(tag.unwrap_or_default(), Usage::Unclear);
            Value::Text(text.unwrap_or_else(|| eval.memory.texts.add(""))).into()
        }
        Level::Hole => return add_to_template(eval, last.value),
        Level::Apply(continuation) => return resume(eval, continuation, Value::Unknown, 0),
    };
    eval.frame().operand = Some(result);
}

/// Ends a body: the function is now known, or the call is complete.
fn end_body(eval: &mut Evaluator) {
    let Some(body) = eval.bodies.pop() else { return };
    let choices = std::mem::replace(&mut eval.memory.choices.count, body.outer_choices);
    eval.memory.scopes.leave();
    if !body.is_applied && choices > 0 && eval.memory.choices.current.is_some() {
        eval.memory.functions.keep_reading(eval.memory.texts.reader());
    }
    eval.memory.texts.read_by(body.reader_before);
    if body.is_applied {
        let result = body.result.unwrap_or_default();
        if let Some(Frame { kind: Level::Apply(continuation), .. }) = eval.frames.pop() {
            resume(eval, continuation, result, choices);
        }
        return;
    }
    schedule_choices(eval, &body, choices);
    let function = Value::Function(body.function);
    let literals = eval.memory.literals_read - body.literals_before;
    if let Some(known) = eval.memory.functions.get_mut(body.function) {
        known.result = body.result;
        known.is_read = true;
        known.has_literals = literals > 0;
        known.choices = choices;
        known.tokens = eval.at.saturating_sub(known.body);
    }
    eval.last_read = Some(body);
    name_function(eval, function);
}

/// Stores a function that was read under its name.
fn name_function(eval: &mut Evaluator, function: Value) {
    let operand = match std::mem::take(&mut eval.frame().expected) {
        Expected::Method { name } => {
            let this = eval.memory.names.id("this".into());
            eval.memory.scopes.set_member(this, name, function);
            Operand { value: function, ..Operand::named(name) }
        }
        Expected::Body { name, is_declaration, .. } => {
            if let Some(name) = name {
                eval.memory.scopes.assign(name, function);
            }
            if is_declaration {
                return;
            }
            function.into()
        }
        _ => function.into(),
    };
    eval.frame().operand = Some(operand);
}

/// Evaluates a call. `None` if a function of the script is called, which returns later.
fn call(eval: &mut Evaluator, callee: Operand, arguments: &[Value], is_new: bool) -> Option<Operand> {
    let names = &eval.memory.names;
    let name = callee.reference.map_or(String::new(), |reference| names.text(reference.name).to_owned());
    let base_name = callee.base_name();
    let base = base_name.map_or(String::new(), |base| names.text(base).to_owned());
    let call = Call { name: &name, base: &base, base_name, callee, arguments, is_new };
    match builtins::call(&mut eval.memory, &call) {
        Outcome::Value(value) => Some(value),
        Outcome::Call { function, arguments } => call_function(eval, function, &arguments),
        Outcome::CallEach { function, items, purpose, first } => {
            call_for_each(eval, function, items, purpose, first)
        }
    }
}
