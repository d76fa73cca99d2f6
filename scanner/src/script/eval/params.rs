//! The names in the head of a function or a loop, and what they stand for.

use super::evaluator::Evaluator;
use crate::script::memory::values::{NameId, Value};
use crate::script::syntax::tokens::Kind;

/// Names that the head of a function may have.
const PARAM_TOKENS_MAX: usize = 256;

#[derive(Clone, Debug)]
pub(crate) enum Param {
    One(NameId),
    Fields(Vec<(NameId, NameId)>),
    Items(Vec<NameId>),
    /// `...names`: all that is left.
    Rest(NameId),
}

impl Evaluator<'_> {
    /// The names in the head of a function.
    pub(crate) fn params(&mut self, at: usize) -> Vec<Param> {
        if self.tokens.kind(at) != Some(Kind::ParenOpen) {
            let name = self.tokens.get(at).filter(|token| token.kind == Kind::Name);
            return name.map(|token| Param::One(self.name_id(token))).into_iter().collect();
        }
        let end = self.tokens.partner(at).unwrap_or(at).min(at + PARAM_TOKENS_MAX);
        let (mut params, mut next) = (Vec::new(), at + 1);
        while next < end {
            if let Some(Kind::Name | Kind::BraceOpen | Kind::SquareOpen) = self.tokens.kind(next) {
                params.push(self.param(next));
            }
            if self.tokens.kind(next) == Some(Kind::Spread)
                && let Some(token) = self.tokens.get(next + 1).filter(|token| token.kind == Kind::Name)
            {
                params.push(Param::Rest(self.name_id(token)));
            }
            next = self.after_comma(next, end);
        }
        params
    }

    /// The place after the next comma that is not within brackets.
    fn after_comma(&self, mut at: usize, end: usize) -> usize {
        while at < end {
            match self.tokens.kind(at) {
                Some(Kind::Comma) => return at + 1,
                Some(Kind::BraceOpen | Kind::SquareOpen | Kind::ParenOpen | Kind::TemplateOpen) => {
                    at = self.tokens.partner(at).unwrap_or(end);
                }
                _ => {}
            }
            at += 1;
        }
        end
    }

    pub(crate) fn param(&mut self, at: usize) -> Param {
        let Some(token) = self.tokens.get(at) else { return Param::Items(Vec::new()) };
        if token.kind == Kind::Name {
            return Param::One(self.name_id(token));
        }
        let end = self.tokens.partner(at).unwrap_or(at).min(at + PARAM_TOKENS_MAX);
        let (mut names, mut next) = (Vec::new(), at + 1);
        while next < end {
            if let Some(token) = self.tokens.get(next).filter(|token| token.kind == Kind::Name) {
                let key = self.name_id(token);
                let is_renamed = self.tokens.kind(next + 1) == Some(Kind::Colon);
                let inner = self.tokens.get(next + 2).filter(|token| is_renamed && token.kind == Kind::Name);
                let name = inner.map_or(key, |token| self.name_id(token));
                names.push((key, name));
            }
            next = self.after_comma(next, end);
        }
        if token.kind == Kind::BraceOpen {
            Param::Fields(names)
        } else {
            Param::Items(names.into_iter().map(|(_, name)| name).collect())
        }
    }

    pub(crate) fn bind(&mut self, param: &Param, value: Value) {
        match (param, value) {
            (&(Param::One(name) | Param::Rest(name)), _) => self.scopes.declare(name, value),
            (Param::Fields(fields), _) => {
                for &(key, name) in fields {
                    let member = match value {
                        Value::Object(object) => self.heap.member(object, key).unwrap_or_default(),
                        one @ (Value::OneOfList(_) | Value::OneOfObject(_)) => one,
                        _ => Value::Unknown,
                    };
                    self.scopes.declare(name, member);
                }
            }
            (Param::Items(names), _) => {
                for (at, &name) in names.iter().enumerate() {
                    let item = match value {
                        Value::List(list) => self.heap.items(list).get(at).copied().unwrap_or_default(),
                        _ => Value::Unknown,
                    };
                    self.scopes.declare(name, item);
                }
            }
        }
    }
}
