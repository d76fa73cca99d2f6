//! Names in the head of a function or a loop, and their values.

use crate::script::memory::{Memory, NameId, Names, Value};
use crate::script::syntax::{TokenKind, Tokens};

/// Tokens that are read of the head of a function.
const PARAM_TOKENS_MAX: usize = 256;

#[derive(Clone, Debug)]
pub(crate) enum Param {
    One(NameId),
    Fields(Vec<(NameId, NameId)>),
    Items(Vec<NameId>),
    /// `...names`: all other arguments.
    Rest(NameId),
}

/// The names in the head of a function.
pub(super) fn params<'s>(tokens: &Tokens<'s>, names: &mut Names<'s>, at: usize) -> Vec<Param> {
    if tokens.kind(at) != Some(TokenKind::ParenOpen) {
        let name = tokens.name_at(at);
        return name.map(|token| Param::One(names.written(tokens.text(token)))).into_iter().collect();
    }
    let end = tokens.partner(at).unwrap_or(at).min(at + PARAM_TOKENS_MAX);
    let (mut params, mut next) = (Vec::new(), at + 1);
    while next < end {
        if let Some(TokenKind::Name | TokenKind::BraceOpen | TokenKind::SquareOpen) = tokens.kind(next) {
            params.push(param(tokens, names, next));
        }
        if tokens.kind(next) == Some(TokenKind::Spread)
            && let Some(token) = tokens.name_at(next + 1)
        {
            params.push(Param::Rest(names.written(tokens.text(token))));
        }
        next = after_comma(tokens, next, end);
    }
    params
}

/// The position after the next comma that is not within brackets.
fn after_comma(tokens: &Tokens, mut at: usize, end: usize) -> usize {
    while at < end {
        match tokens.kind(at) {
            Some(TokenKind::Comma) => return at + 1,
            Some(
                TokenKind::BraceOpen | TokenKind::SquareOpen | TokenKind::ParenOpen | TokenKind::TemplateOpen,
            ) => {
                at = tokens.partner(at).unwrap_or(end);
            }
            _ => {}
        }
        at += 1;
    }
    end
}

pub(super) fn param<'s>(tokens: &Tokens<'s>, names: &mut Names<'s>, at: usize) -> Param {
    let Some(token) = tokens.get(at) else { return Param::Items(Vec::new()) };
    if token.kind == TokenKind::Name {
        return Param::One(names.written(tokens.text(token)));
    }
    let end = tokens.partner(at).unwrap_or(at).min(at + PARAM_TOKENS_MAX);
    let (mut fields, mut next) = (Vec::new(), at + 1);
    while next < end {
        if let Some(token) = tokens.name_at(next) {
            let key = names.written(tokens.text(token));
            let is_renamed = tokens.kind(next + 1) == Some(TokenKind::Colon);
            let inner = tokens.name_at(next + 2).filter(|_| is_renamed);
            let name = inner.map_or(key, |token| names.written(tokens.text(token)));
            fields.push((key, name));
        }
        next = after_comma(tokens, next, end);
    }
    if token.kind == TokenKind::BraceOpen {
        Param::Fields(fields)
    } else {
        Param::Items(fields.into_iter().map(|(_, name)| name).collect())
    }
}

pub(super) fn bind(memory: &mut Memory, param: &Param, value: Value) {
    match (param, value) {
        (&(Param::One(name) | Param::Rest(name)), _) => memory.scopes.declare(name, value),
        (Param::Fields(fields), _) => {
            for &(key, name) in fields {
                let member = match value {
                    Value::Object(object) => memory.heap.member(object, key).unwrap_or_default(),
                    one @ (Value::OneOfList(_) | Value::OneOfObject(_)) => one,
                    _ => Value::Unknown,
                };
                memory.scopes.declare(name, member);
            }
        }
        (Param::Items(names), _) => {
            for (at, &name) in names.iter().enumerate() {
                let item = match value {
                    Value::List(list) => memory.heap.items(list).get(at).copied().unwrap_or_default(),
                    _ => Value::Unknown,
                };
                memory.scopes.declare(name, item);
            }
        }
    }
}
