//! Functions and methods: parses their heads and enters their bodies.

use super::evaluator::{Body, Evaluator};
use super::expressions::end_statement;
use super::frame::{Continuation, Expected, Frame, Level};
use super::params::{Param, bind, params};
use crate::script::memory::{Function, FunctionId, NameId, Operand, Value};
use crate::script::syntax::TokenKind;

/// Reads a variable, which may be a function that is declared further down.
pub(super) fn variable(eval: &mut Evaluator, name: NameId) -> Operand {
    let mut value = eval.memory.scopes.get(name);
    if value.is_none()
        && let Some(Some(at)) = eval.declared.get(&name).copied()
    {
        value = Some(Value::Function(add_function(eval, at)));
        eval.memory.scopes.assign(name, value.unwrap_or_default());
    }
    Operand { value: value.unwrap_or_default(), ..Operand::named(name) }
}

/// The function whose parameters are at this position. Reading it again returns the same one.
pub(super) fn add_function(eval: &mut Evaluator, params: usize) -> FunctionId {
    if let Some(known) = eval.memory.functions.at(params) {
        return known;
    }
    let is_list = eval.tokens.kind(params) == Some(TokenKind::ParenOpen);
    let close = if is_list { eval.tokens.partner(params) } else { Some(params) };
    let arrow = close.map_or(params, |close| close + 1);
    let is_arrow = eval.tokens.kind(arrow) == Some(TokenKind::Arrow);
    let first = arrow + usize::from(is_arrow);
    let is_block = eval.tokens.kind(first) == Some(TokenKind::BraceOpen);
    let tokens = eval.tokens.partner(first).filter(|_| is_block).map_or(0, |end| end - first);
    eval.memory.functions.add(Function {
        params,
        body: first + usize::from(is_block),
        is_block,
        tokens,
        has_literals: true,
        ..Function::default()
    })
}

/// `=>`: the preceding expression was a parameter list.
pub(super) fn arrow(eval: &mut Evaluator, at: usize) {
    eval.frame().operand = None;
    eval.frame().spreads = false;
    let Some(before) = at.checked_sub(1) else { return };
    let params = match eval.tokens.kind(before) {
        Some(TokenKind::ParenClose) => eval.tokens.partner(before),
        Some(TokenKind::Name) => Some(before),
        _ => None,
    };
    let Some(params) = params.filter(|_| !eval.is_too_deep()) else { return };
    let function = add_function(eval, params);
    if eval.tokens.kind(eval.at) == Some(TokenKind::BraceOpen) {
        eval.frame().expected = Expected::Body { function, name: None, is_declaration: false };
    } else {
        begin_body(eval, function, &[], None);
    }
}

/// A brace after what looked like a call begins a method body. Returns whether it is one.
pub(super) fn begins_method(eval: &mut Evaluator, at: usize) -> bool {
    let close = at.checked_sub(1).filter(|&close| eval.tokens.kind(close) == Some(TokenKind::ParenClose));
    let head = close.and_then(|close| eval.tokens.partner(close)).filter(|_| !eval.is_too_deep());
    let Some(head) = head else { return false };
    let Some(name) = head.checked_sub(1).and_then(|before| eval.tokens.name_at(before)) else { return false };
    eval.drop_operand();
    if eval.frame().is_block() {
        end_statement(eval);
    }
    let function = add_function(eval, head);
    let name = eval.name_id(name);
    eval.frame().expected = Expected::Method { name };
    open_body(eval, function, at);
    true
}

pub(super) fn open_body(eval: &mut Evaluator, function: FunctionId, at: usize) {
    if eval.is_too_deep() {
        eval.frame().expected = Expected::Nothing;
        return eval.push_frame(Level::Block, at);
    }
    begin_body(eval, function, &[], None);
}

/// Enters a body to read it, or with a continuation to call it.
pub(super) fn begin_body(
    eval: &mut Evaluator,
    function: FunctionId,
    arguments: &[Value],
    continuation: Option<Continuation>,
) {
    let Some(known) = eval.memory.functions.get(function).copied() else { return };
    let is_applied = continuation.is_some();
    if let Some(continuation) = continuation {
        eval.frames.push(Frame::new(Level::Apply(continuation), 0));
        eval.at = known.body;
    }
    eval.memory.scopes.enter();
    for (at, param) in params(&eval.tokens, &mut eval.memory.names, known.params).iter().enumerate() {
        let value = match param {
            Param::Rest(_) if is_applied => {
                eval.memory.heap.list(arguments.get(at..).unwrap_or(&[]).to_vec())
            }
            _ => arguments.get(at).copied().unwrap_or_default(),
        };
        bind(&mut eval.memory, param, value);
    }
    // While a function is only read, the calls in it are preliminary as well.
    let reader = if is_applied {
        eval.memory.texts.reader()
    } else {
        Some(eval.memory.functions.add_reading(function))
    };
    eval.bodies.push(Body {
        function,
        result: None,
        is_applied,
        reader_before: eval.memory.texts.read_by(reader),
        literals_before: eval.memory.literals_read,
        outer_choices: std::mem::take(&mut eval.memory.choices.count),
        scheduled: Vec::new(),
        undo: Vec::new(),
    });
    let kind = if known.is_block { Level::Body } else { Level::Arrow };
    let opened_at = if known.is_block { known.body.saturating_sub(1) } else { known.body };
    eval.frames.push(Frame::new(kind, opened_at));
}
