//! Operators and separators between values.

use super::entries::{add_entry, add_item, begin_entry};
use super::evaluator::Evaluator;
use super::expressions::{addend, alternative, consume, expression, finish_assignments, term};
use super::frame::Level;
use crate::script::memory::{Usage, Value};
use crate::script::syntax::{Token, TokenKind};

pub(super) fn operator(eval: &mut Evaluator, token: Token) {
    match token.kind {
        TokenKind::Plus => plus(eval, b'+'),
        TokenKind::Arithmetic => {
            let sign = eval.tokens.operator(token);
            arithmetic(eval, sign);
        }
        TokenKind::Not if eval.frame().operand.is_none() => eval.frame().unary = b'!',
        TokenKind::Assign => eval.frame().begin_assignment(false),
        TokenKind::PlusAssign => eval.frame().begin_assignment(true),
        TokenKind::OtherAssign => other_assign(eval),
        TokenKind::Compare => compare(eval),
        TokenKind::Or => {
            let value = alternative(eval);
            eval.frame().choice = value;
        }
        TokenKind::And => {
            let left = addend(eval);
            consume(eval, left);
            eval.frame().is_compared = false;
        }
        TokenKind::Question => {
            let condition = alternative(eval);
            consume(eval, condition);
            let frame = eval.frame();
            frame.choice = None;
            frame.questions = frame.questions.saturating_add(1);
        }
        TokenKind::Colon => colon(eval),
        TokenKind::Spread => eval.frame().spreads = true,
        _ => {}
    }
}

fn plus(eval: &mut Evaluator, sign: u8) {
    if let Some(value) = addend(eval) {
        eval.frame().sum = Some((value.value, sign));
    }
}

fn arithmetic(eval: &mut Evaluator, sign: u8) {
    if eval.frame().operand.is_none() {
        if sign == b'-' {
            eval.frame().unary = b'-';
        }
    } else if sign == b'-' {
        plus(eval, b'-');
    } else if let Some(value) = term(eval) {
        // XOR with a key often decodes a text.
        eval.memory.literals_read += usize::from(sign == b'^');
        eval.frame().product = Some((value.value, sign));
    }
}

pub(super) fn compare(eval: &mut Evaluator) {
    let left = addend(eval);
    consume(eval, left);
    eval.frame().is_compared = true;
}

/// `i -= 1` and the like: the value of the variable is no longer known.
fn other_assign(eval: &mut Evaluator) {
    let Some(operand) = eval.frame().operand.take() else { return };
    if let Some(name) = operand.variable() {
        eval.memory.scopes.assign(name, Value::Unknown);
    }
}

fn colon(eval: &mut Evaluator) {
    let questions = eval.frame().questions;
    if questions > 0 {
        let value = finish_assignments(eval, questions);
        let frame = eval.frame();
        frame.choice = value;
        frame.questions = questions - 1;
        return;
    }
    if matches!(eval.frame().kind, Level::Object { .. }) {
        let left = expression(eval).unwrap_or_default();
        return begin_entry(eval, left);
    }
    let label = expression(eval);
    consume(eval, label);
    eval.frame().end_statement();
}

pub(super) fn comma(eval: &mut Evaluator) {
    let value = expression(eval);
    match &mut eval.frame().kind {
        Level::Call { .. } | Level::Array { .. } => add_item(eval, value),
        Level::Object { .. } => add_entry(eval, value),
        _ => eval.memory.mark_use(value.unwrap_or_default(), Usage::Unclear),
    }
}
