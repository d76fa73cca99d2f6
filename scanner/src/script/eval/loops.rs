//! Loops over known values: their blocks are read once for each iteration, as long as the allowance lasts. A
//! single statement counts as a block.

use super::evaluator::Evaluator;
use super::frame::{CallPlan, Iteration, Level};
use super::params::{bind, param};
use crate::script::encodings;
use crate::script::memory::{ListId, Value};
use crate::script::syntax::TokenKind;

/// The number of tokens of a loop's head that are read.
const HEAD_TOKENS_MAX: usize = 24;

/// Prepares a loop after the head of a `for`, because the following block may be read several times.
pub(super) fn begin_loop(eval: &mut Evaluator, head: usize, list: Value) {
    let Some(plan) = plan(eval, head, list) else { return };
    let iteration = Box::new(Iteration { plan, start: 0, literals_before: 0 });
    match eval.tokens.kind(eval.at) {
        Some(TokenKind::BraceOpen) => eval.frame().iteration = Some(iteration),
        Some(TokenKind::Semicolon) | None => {}
        Some(_) if eval.is_too_deep() => {}
        Some(_) => {
            let head_end = eval.at.saturating_sub(1);
            eval.push_frame(Level::Block, head_end);
            eval.frame().is_single_statement = true;
            begin_iterations(eval, Some(iteration), head_end);
        }
    }
}

/// Begins the iterations at the opening of a loop's block.
pub(super) fn begin_iterations(eval: &mut Evaluator, iteration: Option<Box<Iteration>>, at: usize) {
    let Some(mut iteration) = iteration.filter(|_| eval.frame().opened_at == at) else { return };
    iteration.start = at + 1;
    iteration.literals_before = eval.memory.literals_read;
    eval.frame().iteration = Some(iteration);
}

/// Decides at the end of a loop's block whether it is read again.
pub(super) fn next_iteration(eval: &mut Evaluator) -> bool {
    let Some(mut iteration) = eval.frame().iteration.take() else { return false };
    if eval.memory.literals_read == iteration.literals_before || !eval.memory.budget.may_replay() {
        return false;
    }
    match &mut iteration.plan {
        CallPlan::Count { name, next, last, step } => {
            let is_past = if *step > 0.0 { *next > *last } else { *next < *last };
            if is_past || *step == 0.0 {
                return false;
            }
            let (name, value) = (*name, *next);
            *next += *step;
            eval.memory.scopes.assign(name, Value::Number(value));
        }
        CallPlan::Each { param, items, next } => {
            let Some(&item) = items.get(*next) else { return false };
            *next += 1;
            let param = param.clone();
            bind(&mut eval.memory, &param, item);
        }
    }
    eval.at = iteration.start;
    eval.frame().iteration = Some(iteration);
    true
}

/// Whether the single statement of a loop ended before this token.
pub(super) fn ends_single_statement(eval: &mut Evaluator, kind: TokenKind) -> bool {
    let frame = eval.frame();
    let (opened_at, is_done) = (frame.opened_at, frame.is_at_statement());
    if !frame.is_single_statement {
        return false;
    }
    match kind {
        TokenKind::Semicolon => true,
        kind if kind.closes_code() => eval.closes_before(opened_at),
        TokenKind::Name | TokenKind::Text | TokenKind::Number if eval.begins_statement() => true,
        _ => {
            let block =
                eval.at.checked_sub(1).filter(|&at| eval.tokens.kind(at) == Some(TokenKind::BraceClose));
            let begins = block.and_then(|block| eval.tokens.partner(block));
            is_done && begins.is_some_and(|begins| begins > opened_at) && !statement_continues(eval)
        }
    }
}

/// Whether a statement continues after its block, such as `else`.
fn statement_continues(eval: &Evaluator) -> bool {
    eval.tokens.is_word_at(eval.at, &["else", "catch", "finally", "while"])
}

/// The values of a loop, by its head: `let i = 0; i < 12; …` or `const x of list`.
fn plan(eval: &mut Evaluator, head: usize, list: Value) -> Option<CallPlan> {
    let close = eval.tokens.partner(head)?;
    let first = head + 1 + usize::from(eval.tokens.is_word_at(head + 1, &["let", "const", "var"]));
    if let Value::List(list) = list {
        return plan_each(eval, first, list);
    }
    if close - head > HEAD_TOKENS_MAX {
        return None;
    }
    let semicolon = (first..close).find(|&at| eval.tokens.kind(at) == Some(TokenKind::Semicolon))?;
    // `for (; i < 12; i++)` begins with the current value of its variable.
    let named_at = if semicolon == first { semicolon + 1 } else { first };
    let name = eval.tokens.name_at(named_at)?;
    let name = eval.name_id(name);
    let begins_with_one_token =
        matches!(eval.tokens.kind(first + 3), Some(TokenKind::Semicolon | TokenKind::Comma));
    let start = match eval.memory.scopes.get(name) {
        // The value of the initial expression, which `++` does not change.
        Some(Value::Number(start)) if !begins_with_one_token => start,
        _ => count_at(eval, first + 2)?,
    };
    eval.memory.choices.counters.insert(name);
    if eval.tokens.kind(semicolon + 2) == Some(TokenKind::Step) {
        // `i--` is evaluated before the iteration, which sees its result.
        let step = step_at(eval, semicolon + 2).filter(|step| *step < 0.0)?;
        eval.memory.scopes.declare(name, Value::Number(start + step));
        return Some(CallPlan::Count { name, next: start + 2.0 * step, last: 0.0, step });
    }
    let compare = eval.tokens.get(semicolon + 2).filter(|token| token.kind == TokenKind::Compare)?;
    let end = count_at(eval, semicolon + 3)?;
    let step = (semicolon + 3..close).find_map(|at| step_at(eval, at));
    let last = match eval.tokens.text(compare) {
        "<=" | ">=" => end,
        "<" => end - 1.0,
        ">" => end + 1.0,
        "!=" | "!==" => end - step.unwrap_or(1.0),
        _ => return None,
    };
    eval.memory.scopes.declare(name, Value::Number(start));
    step.map(|step| CallPlan::Count { name, next: start + step, last, step })
}

fn plan_each(eval: &mut Evaluator, first: usize, list: ListId) -> Option<CallPlan> {
    let param = param(&eval.tokens, &mut eval.memory.names, first);
    let items = eval.memory.copy_items(list);
    bind(&mut eval.memory, &param, *items.first()?);
    Some(CallPlan::Each { param, items, next: 1 })
}

/// The step of a loop counter: `i++`, `i -= 2`.
fn step_at(eval: &mut Evaluator, at: usize) -> Option<f64> {
    let token = eval.tokens.get(at)?;
    let sign = if eval.tokens.operator(token) == b'-' { -1.0 } else { 1.0 };
    match token.kind {
        TokenKind::Step => Some(sign),
        TokenKind::PlusAssign => count_at(eval, at + 1),
        TokenKind::OtherAssign if sign < 0.0 => count_at(eval, at + 1).map(|step| -step),
        _ => None,
    }
}

/// A number, a variable that holds one, or the length of a list.
fn count_at(eval: &mut Evaluator, at: usize) -> Option<f64> {
    let token = eval.tokens.get(at)?;
    match token.kind {
        TokenKind::Number => encodings::number(eval.tokens.text(token)),
        TokenKind::Arithmetic if eval.tokens.operator(token) == b'-' => {
            let number = eval.tokens.get(at + 1).filter(|token| token.kind == TokenKind::Number)?;
            encodings::number(eval.tokens.text(number)).map(|number| -number)
        }
        TokenKind::Name => {
            let name = eval.name_id(token);
            match eval.memory.scopes.get(name)? {
                Value::Number(number) => Some(number),
                Value::List(list) => Some(eval.memory.heap.items(list).len() as f64),
                Value::Text(text) => Some(eval.memory.texts.len(text) as f64),
                _ => None,
            }
        }
        _ => None,
    }
}
