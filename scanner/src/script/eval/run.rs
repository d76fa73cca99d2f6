//! Reads the tokens in order. Nesting is kept on an explicit stack.

use super::choices::{begin_scheduled, has_scheduled};
use super::closing::{close, close_frame};
use super::evaluator::Evaluator;
use super::expressions::{end_statement, push_value};
use super::frame::Level;
use super::functions::arrow;
use super::keywords::name;
use super::literals::{add_to_template, regex, string, unescaped};
use super::loops::ends_single_statement;
use super::opening::{open_brace, open_paren, open_square};
use super::operators::{comma, operator};
use super::prescan::{find_declarations, find_reassigned};
use crate::script::encodings;
use crate::script::memory::Value;
use crate::script::syntax::{Token, TokenKind};

/// Reads all tokens, and repeats the functions and loops that are worth it.
pub(super) fn run(eval: &mut Evaluator) {
    find_declarations(eval);
    find_reassigned(eval);
    loop {
        while let Some(token) = eval.tokens.get(eval.at) {
            let bytes = if has_text(token.kind) { eval.tokens.text(token).len() } else { 0 };
            if !eval.memory.budget.count_step(eval.at, bytes) {
                return;
            }
            if eval.memory.is_too_large() {
                return eval.memory.budget.scan().exhaust();
            }
            step(eval, token);
        }
        if eval.frames.len() > 1 {
            close_frame(eval);
        } else {
            end_statement(eval);
            if !begin_scheduled(eval) {
                break;
            }
        }
    }
}

fn step(eval: &mut Evaluator, token: Token) {
    if ends_arrow(eval, token.kind) || ends_single_statement(eval, token.kind) {
        // The token is read again, in the outer frame.
        return close_frame(eval);
    }
    if has_scheduled(eval, token.kind) && begin_scheduled(eval) {
        return;
    }
    let at = eval.at;
    eval.at += 1;
    match token.kind {
        TokenKind::Name => name(eval, token, at),
        TokenKind::Number => {
            let number = encodings::number(eval.tokens.text(token));
            push_value(eval, number.map_or(Value::Unknown, Value::Number).into());
        }
        TokenKind::Text => string(eval, token),
        TokenKind::Regex => regex(eval, token),
        TokenKind::Jsx => {
            let id = unescaped(eval, token);
            eval.memory.literals_read += 1;
            push_value(eval, Value::Text(id).into());
        }
        TokenKind::Chunk => {
            let id = unescaped(eval, token);
            add_to_template(eval, Value::Text(id));
        }
        TokenKind::TemplateOpen => {
            eval.memory.literals_read += 1;
            let tag = eval.frame().operand.take();
            eval.push_frame(Level::Template { text: None, tag }, at);
        }
        TokenKind::HoleOpen => eval.push_frame(Level::Hole, at),
        TokenKind::ParenOpen => open_paren(eval, at),
        TokenKind::SquareOpen => open_square(eval, at),
        TokenKind::BraceOpen => open_brace(eval, at),
        kind if kind.closes() => close(eval, at),
        TokenKind::Semicolon => end_statement(eval),
        TokenKind::Comma => comma(eval),
        TokenKind::Arrow => arrow(eval, at),
        _ => operator(eval, token),
    }
}

fn ends_arrow(eval: &mut Evaluator, kind: TokenKind) -> bool {
    let frame = eval.frame();
    if !matches!(frame.kind, Level::Arrow) {
        return false;
    }
    match kind {
        TokenKind::Comma | TokenKind::Semicolon => true,
        TokenKind::Colon => frame.questions == 0,
        kind if kind.closes_code() => {
            let opened_at = frame.opened_at;
            eval.closes_before(opened_at)
        }
        TokenKind::Name | TokenKind::Text | TokenKind::Number => eval.begins_statement(),
        _ => false,
    }
}

/// Whether a token costs by the length of its text.
fn has_text(kind: TokenKind) -> bool {
    use TokenKind::{Chunk, Jsx, Name, Number, Regex, Text};
    matches!(kind, Name | Number | Text | Chunk | Regex | Jsx)
}
