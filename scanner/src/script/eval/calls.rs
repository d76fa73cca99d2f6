//! Calls of functions that the script itself defines: their tokens are read again, with the arguments that
//! are known, as long as the allowance lasts.

use super::evaluator::Evaluator;
use super::frame::{CallSeries, Continuation};
use super::functions::begin_body;
use crate::script::builtins::{Purpose, result_of_unknown};
use crate::script::memory::{FunctionId, Operand, Usage, Value};

/// Functions longer than this are read, but not called.
const FUNCTION_TOKENS_MAX: usize = 4_000;
/// Calls within calls.
const CALL_DEPTH_MAX: usize = 16;

/// Calls a function of the script. `None` if the call has begun and returns its result later.
pub(super) fn call_function(
    eval: &mut Evaluator,
    function: FunctionId,
    arguments: &[Value],
) -> Option<Operand> {
    let Some(known) = eval.memory.functions.get(function).copied() else {
        return Some(Operand::default());
    };
    let is_choosing = eval.memory.choices.current.is_some() && known.choices > 0;
    let is_given = arguments.iter().any(|&argument| argument != Value::Unknown);
    let adds_something = !known.is_read || is_given || is_choosing;
    if !adds_something || !may_call(eval, function) {
        for &argument in arguments {
            eval.memory.mark_use(argument, Usage::Unclear);
        }
        eval.memory.choices.note(known.choices);
        return Some(Operand::from(known.result.unwrap_or_default()));
    }
    if let Some(known) = eval.memory.functions.get_mut(function).filter(|_| is_choosing) {
        // The caller repeats it for each choice.
        known.is_scheduled = false;
    }
    eval.memory.functions.mark_called(function);
    eval.applied_depth += 1;
    let continuation = Continuation { resume: eval.at, calls: None };
    begin_body(eval, function, arguments, Some(continuation));
    None
}

/// Calls a function for each item. `None` if the calls have begun and return their result later.
pub(super) fn call_for_each(
    eval: &mut Evaluator,
    function: FunctionId,
    items: Vec<Value>,
    purpose: Purpose,
    first: Value,
) -> Option<Operand> {
    if items.is_empty() && eval.memory.choices.current.is_some() {
        undo_reading(eval, function);
        return Some(eval.memory.heap.list(items).into());
    }
    if items.is_empty() || !may_call(eval, function) {
        return Some(result_of_unknown(&mut eval.memory, function, purpose));
    }
    undo_reading(eval, function);
    begin_calls(eval, CallSeries { function, items, next: 0, results: vec![first], purpose });
    None
}

/// Undoes the changes to outer variables from reading a function, because its calls make the same changes.
fn undo_reading(eval: &mut Evaluator, function: FunctionId) {
    let last = eval.last_read.take().filter(|body| body.function == function);
    for (name, value) in last.into_iter().flat_map(|body| body.undo.into_iter().rev()) {
        eval.memory.scopes.assign(name, value);
    }
}

/// Repeats a function once for each item that it may pick.
pub(super) fn call_for_choices(eval: &mut Evaluator, function: FunctionId, choices: usize) {
    if !may_call(eval, function) {
        return;
    }
    let items = vec![Value::Unknown; choices];
    begin_calls(
        eval,
        CallSeries { function, items, next: 0, results: Vec::new(), purpose: Purpose::Choices },
    );
}

fn begin_calls(eval: &mut Evaluator, calls: CallSeries) {
    eval.memory.functions.mark_called(calls.function);
    eval.applied_depth += 1;
    let continuation = Continuation { resume: eval.at, calls: Some(calls) };
    next_call(eval, continuation);
}

fn next_call(eval: &mut Evaluator, mut continuation: Continuation) {
    let may_replay = eval.memory.budget.may_replay();
    let Some(calls) = &mut continuation.calls else { return };
    let item = calls.items.get(calls.next).copied().filter(|_| may_replay);
    let Some(item) = item else { return finish_calls(eval, continuation) };
    let position = Value::Number(calls.next as f64);
    calls.next += 1;
    let function = calls.function;
    let arguments = match calls.purpose {
        Purpose::Choices => {
            eval.memory.choices.current = Some(calls.next - 1);
            [Value::Unknown; 3]
        }
        Purpose::Reduce => [calls.results.last().copied().unwrap_or_default(), item, position],
        _ => [item, position, Value::Unknown],
    };
    begin_body(eval, function, &arguments, Some(continuation));
}

fn finish_calls(eval: &mut Evaluator, continuation: Continuation) {
    leave(eval, continuation.resume);
    let Some(mut calls) = continuation.calls else { return };
    let result = match calls.purpose {
        Purpose::Map => {
            calls.results.remove(0);
            eval.memory.heap.list(calls.results)
        }
        Purpose::ForEach => Value::Unknown,
        Purpose::Choices => return eval.memory.choices.current = None,
        Purpose::Reduce => calls.results.last().copied().unwrap_or_default(),
        Purpose::Join => {
            calls.results.remove(0);
            // Items beyond the allowance stay unchanged.
            let rest = calls.items.get(calls.results.len()..).unwrap_or_default();
            calls.results.extend_from_slice(rest);
            Value::Text(eval.memory.join(&calls.results, ""))
        }
    };
    eval.frame().operand = Some(result.into());
}

pub(super) fn resume(eval: &mut Evaluator, mut continuation: Continuation, result: Value, choices: usize) {
    let is_choice = continuation.calls.as_ref().is_some_and(|calls| calls.purpose == Purpose::Choices);
    if !is_choice {
        eval.memory.choices.note(choices);
    }
    match &mut continuation.calls {
        Some(calls) => {
            match calls.purpose {
                Purpose::Choices if calls.items.len() < choices => {
                    calls.items.resize(choices, Value::Unknown)
                }
                Purpose::Choices | Purpose::ForEach => {}
                Purpose::Map | Purpose::Reduce | Purpose::Join => calls.results.push(result),
            }
            next_call(eval, continuation);
        }
        None => {
            leave(eval, continuation.resume);
            eval.frame().operand = Some(result.into());
        }
    }
}

fn leave(eval: &mut Evaluator, resume: usize) {
    eval.at = resume;
    eval.applied_depth = eval.applied_depth.saturating_sub(1);
}

fn may_call(eval: &Evaluator, function: FunctionId) -> bool {
    eval.memory
        .functions
        .get(function)
        .is_some_and(|known| known.has_literals && known.tokens > 0 && known.tokens <= FUNCTION_TOKENS_MAX)
        && eval.applied_depth < CALL_DEPTH_MAX
        && !eval.is_too_deep()
        && eval.memory.budget.may_replay()
        && eval.bodies.iter().rev().take(CALL_DEPTH_MAX).all(|body| body.function != function)
}
