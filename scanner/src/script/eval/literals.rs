//! Literal strings, templates and regular expressions.

use super::evaluator::Evaluator;
use super::expressions::push_value;
use super::frame::{Level, Statement};
use crate::script::encodings;
use crate::script::memory::{TextId, Usage, Value};
use crate::script::syntax::{Token, TokenKind, jsx_markup};

pub(super) fn string(eval: &mut Evaluator, token: Token) {
    eval.memory.literals_read += 1;
    let id = unescaped(eval, token);
    if eval.frame().statement == Statement::Import {
        let address = eval.memory.texts.flat(id, usize::MAX);
        eval.memory.texts.mark(id, Usage::Consumed);
        eval.memory.page.fetched.push((id.order(), address));
        eval.frame().operand = None;
        return eval.frame().end_statement();
    }
    push_value(eval, Value::Text(id).into());
}

pub(super) fn unescaped(eval: &mut Evaluator, token: Token) -> TextId {
    let raw = eval.tokens.text(token);
    let is_replayed = eval.memory.budget.is_replayed(eval.at);
    if is_replayed && !eval.memory.budget.may_copy(raw.len()) {
        eval.memory.budget.stop_replaying();
        return eval.memory.texts.add("");
    }
    eval.memory.texts.add_with(|buffer| match token.kind {
        TokenKind::Jsx => buffer.push_str(&jsx_markup(raw)),
        _ => encodings::unescape(raw, buffer),
    })
}

pub(super) fn add_to_template(eval: &mut Evaluator, value: Value) {
    let is_tagged = matches!(eval.frame().kind, Level::Template { tag: Some(_), .. });
    let part = eval.memory.text_of(value, if is_tagged { "" } else { "," });
    let Level::Template { text, .. } = eval.frame().kind else { return };
    let whole = match text {
        Some(text) => eval.memory.texts.sum(text, part),
        None => part,
    };
    if let Level::Template { text, .. } = &mut eval.frame().kind {
        *text = Some(whole);
    }
}

/// Reads a regular expression. Only one that matches a single text or a number of any characters is
/// supported.
pub(super) fn regex(eval: &mut Evaluator, token: Token) {
    let written = eval.tokens.text(token);
    let is_affordable = eval.memory.budget.may_copy(written.len());
    let value = match encodings::plain_pattern(written).filter(|_| is_affordable) {
        Some((text, flags)) => {
            let text = eval.memory.texts.add(&text);
            eval.memory.texts.mark(text, Usage::Consumed);
            Value::Pattern { text, is_global: flags.contains('g'), is_caseless: flags.contains('i') }
        }
        None => encodings::any_chars_pattern(written).map_or(Value::Unknown, Value::AnyChars),
    };
    push_value(eval, value.into());
}
