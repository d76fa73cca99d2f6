//! Expressions: combines values, operators and assignments.

use super::evaluator::Evaluator;
use super::frame::{Level, Statement, Target};
use crate::script::effects::properties::{is_text_property, set_property};
use crate::script::memory::{Base, Memory, NameId, Operand, Usage, Value};

/// The number of variable changes that are undone for one function.
const UNDONE_MAX: usize = 16;

/// Adds a value. If there is one already, a statement ended without a semicolon.
pub(super) fn push_value(eval: &mut Evaluator, operand: Operand) {
    if eval.frame().operand.is_some() {
        if eval.frame().is_block() {
            end_statement(eval);
        } else {
            eval.drop_operand();
        }
    }
    eval.frame().operand = Some(operand);
}

pub(super) fn end_statement(eval: &mut Evaluator) {
    let value = expression(eval);
    let statement = eval.frame().statement;
    eval.frame().end_statement();
    let Some(operand) = value else { return };
    match statement {
        Statement::Return => return_value(eval, operand),
        _ if operand.reference.is_none() => eval.memory.mark_use(operand, Usage::Unclear),
        // A bare name, or a completed assignment.
        _ => {}
    }
    if matches!(eval.frame().kind, Level::Object { .. } | Level::Array { .. } | Level::Call { .. }) {
        eval.memory.mark_use(operand, Usage::Unclear);
    }
}

/// Ends an expression, performs its assignments and returns its value.
pub(super) fn expression(eval: &mut Evaluator) -> Option<Operand> {
    let value = finish_assignments(eval, 0);
    for other in std::mem::take(&mut eval.frame().others) {
        eval.memory.mark_use(other, Usage::Unclear);
    }
    eval.frame().questions = 0;
    value
}

pub(super) fn finish_assignments(eval: &mut Evaluator, within_questions: u32) -> Option<Operand> {
    let mut value = alternative(eval);
    let mut is_assigned = false;
    while let Some(target) = eval.frame().next_target(within_questions) {
        value = Some(assign(eval, target, value.unwrap_or_default()));
        is_assigned = true;
    }
    if eval.frame().declares
        && !is_assigned
        && let Some(name) = value.and_then(|operand| operand.variable())
    {
        eval.memory.scopes.declare(name, Value::Unknown);
    }
    value
}

fn assign(eval: &mut Evaluator, target: Target, given: Operand) -> Operand {
    let Some(reference) = target.reference else {
        destructure(&mut eval.memory, target.owner, given.value, target.declares);
        return given;
    };
    for other in std::mem::take(&mut eval.frame().others) {
        set_property(&mut eval.memory, reference, target.owner, Value::Unknown, other);
    }
    let is_member = reference.base != Base::None;
    let value = if target.adds {
        eval.memory.add(target.current, given.value)
    } else {
        assigned_value(&eval.memory, given)
    };
    let current = if target.adds { target.current } else { Value::Unknown };
    let assigned = Operand { value, reference: Some(reference), owner: Value::Unknown };
    if given.value == Value::Unknown {
        let is_text = is_member && is_text_property(eval.memory.names.text(reference.name));
        eval.memory.mark_use(given, if is_text { Usage::Shown } else { Usage::Unclear });
    }
    if is_member || !matches!(target.owner, Value::Unknown) {
        set_property(&mut eval.memory, reference, target.owner, current, value);
        return assigned;
    }
    if let Value::Text(text) = value {
        eval.memory.texts.hold(text, reference.name);
    }
    if !target.declares {
        note_undo(eval, reference.name);
    }
    eval.memory.scopes.set(reference.name, value, target.declares);
    assigned
}

fn assigned_value(memory: &Memory, given: Operand) -> Value {
    let is_member = given.reference.filter(|reference| reference.base != Base::None);
    match is_member.map(|reference| memory.names.text(reference.name)) {
        Some("createElement") if given.value == Value::Unknown => Value::ElementFactory,
        _ => given.value,
    }
}

fn note_undo(eval: &mut Evaluator, name: NameId) {
    let is_outer = eval.memory.scopes.is_outer(name);
    let held = eval.memory.scopes.get(name).unwrap_or_default();
    let body = eval.bodies.last_mut().filter(|body| !body.is_applied && body.undo.len() < UNDONE_MAX);
    if let Some(body) = body.filter(|_| is_outer) {
        body.undo.push((name, held));
    }
}

/// `{a, b} = object`, for variables that have the names of the members.
fn destructure(memory: &mut Memory, pattern: Value, value: Value, declares: bool) {
    let Value::Object(pattern) = pattern else { return };
    for &name in memory.heap.keys(pattern) {
        let member = value.as_object().and_then(|object| memory.heap.member(object, name));
        memory.scopes.set(name, member.unwrap_or_default(), declares);
    }
}

/// Returns the first known value of a conditional expression. The others are kept beside it.
pub(super) fn alternative(eval: &mut Evaluator) -> Option<Operand> {
    let mut value = addend(eval);
    if std::mem::take(&mut eval.frame().is_compared) {
        consume(eval, value);
        value = value.map(|_| Operand::default());
    }
    let earlier = eval.frame().choice.take();
    let (Some(earlier), Some(value)) = (earlier, value) else { return earlier.or(value) };
    let (chosen, other) = if is_known(earlier.value) { (earlier, value) } else { (value, earlier) };
    if !eval.frame().add_other(other.value) {
        eval.memory.mark_use(other, Usage::Unclear);
    }
    Some(chosen)
}

/// Returns a value with all of its summands.
pub(super) fn addend(eval: &mut Evaluator) -> Option<Operand> {
    let term = term(eval);
    let Some((left, sign)) = eval.frame().sum.take() else { return term };
    let right = term.unwrap_or_default();
    if sign == b'-' {
        return Some(calculate(left, sign, right.value).into());
    }
    Some(eval.memory.add(left, right.value).into())
}

/// Returns a value with its sign and its factors.
pub(super) fn term(eval: &mut Evaluator) -> Option<Operand> {
    let frame = eval.frame();
    let mut operand = frame.operand.take();
    let unary = std::mem::take(&mut frame.unary);
    let product = frame.product.take();
    if unary != 0
        && let Some(given) = operand
    {
        let value = match (unary, given.value) {
            (b'-', Value::Number(number)) => Value::Number(-number),
            (b'!', Value::Number(number)) => Value::Flag(number == 0.0),
            (b'!', Value::Flag(flag)) => Value::Flag(!flag),
            _ => Value::Unknown,
        };
        eval.memory.mark_use(given, Usage::Consumed);
        operand = Some(value.into());
    }
    let Some((left, sign)) = product else { return operand };
    let right = operand.unwrap_or_default();
    Some(calculate(left, sign, right.value).into())
}

pub(super) fn consume(eval: &mut Evaluator, operand: Option<Operand>) {
    eval.memory.mark_use(operand.unwrap_or_default(), Usage::Consumed);
}

/// `return`: the first known value counts, and the use of the others is unclear.
pub(super) fn return_value(eval: &mut Evaluator, operand: Operand) {
    let Some(body) = eval.bodies.last_mut() else { return };
    let is_better = body.result.is_none_or(|result| result == Value::Unknown);
    if is_better {
        body.result = Some(operand.value);
    } else {
        eval.memory.mark_use(operand, Usage::Unclear);
    }
}

fn is_known(value: Value) -> bool {
    !matches!(value, Value::Unknown | Value::Flag(_))
}

fn calculate(left: Value, sign: u8, right: Value) -> Value {
    let (Value::Number(left), Value::Number(right)) = (left, right) else { return Value::Unknown };
    let whole = |bits: fn(i32, i32) -> i32| f64::from(bits(left as i64 as i32, right as i64 as i32));
    Value::Number(match sign {
        b'-' => left - right,
        b'*' => left * right,
        b'/' => left / right,
        b'%' => left % right,
        b'^' => whole(|left, right| left ^ right),
        b'&' => whole(|left, right| left & right),
        b'|' => whole(|left, right| left | right),
        _ => return Value::Unknown,
    })
}
