//! Schedules functions that pick one of several items, which are repeated for each item.

use super::calls::call_for_choices;
use super::evaluator::{Body, Evaluator};
use super::frame::Level;
use crate::script::syntax::TokenKind;

/// Schedules a function that was just read, until the code around it is known.
pub(super) fn schedule_choices(eval: &mut Evaluator, body: &Body, choices: usize) {
    if eval.memory.choices.current.is_some() {
        return eval.memory.choices.note(choices);
    }
    let scheduled = eval.bodies.last_mut().map_or(&mut eval.scheduled, |around| &mut around.scheduled);
    scheduled.extend_from_slice(&body.scheduled);
    let known = eval.memory.functions.get_mut(body.function);
    if let Some(known) = known.filter(|known| choices > 0 && !known.is_scheduled) {
        known.is_scheduled = true;
        scheduled.push(body.function);
    }
}

/// Whether the function that ends here contains scheduled functions. At this point all its variables are
/// known.
pub(super) fn has_scheduled(eval: &mut Evaluator, kind: TokenKind) -> bool {
    kind == TokenKind::BraceClose
        && eval.memory.choices.current.is_none()
        && eval.bodies.last().is_some_and(|body| !body.scheduled.is_empty())
        && matches!(eval.frame().kind, Level::Body)
        && eval.tokens.partner(eval.at) == Some(eval.frame().opened_at)
}

/// Begins to repeat a scheduled function. Returns whether there was one.
pub(super) fn begin_scheduled(eval: &mut Evaluator) -> bool {
    let body = eval.bodies.last_mut();
    let Some(function) = body.map_or(&mut eval.scheduled, |body| &mut body.scheduled).pop() else {
        return false;
    };
    let Some(known) = eval.memory.functions.get_mut(function) else { return true };
    let is_scheduled = std::mem::take(&mut known.is_scheduled);
    let choices = known.choices;
    if is_scheduled && eval.memory.budget.may_replay_more() {
        call_for_choices(eval, function, choices);
    }
    true
}
