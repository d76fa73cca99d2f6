//! Loops over what is known: their blocks are gone through once for each round, as long as the allowance lasts.

use super::machine::Machine;
use super::params::Param;
use super::tokens::Kind;
use super::values::{ListId, NameId, Value};

/// Tokens of a loop's head that are looked at.
const HEAD_TOKENS_MAX: usize = 24;

/// What a loop goes over.
#[derive(Clone, Debug)]
pub(super) enum Plan {
    Count { name: NameId, next: f64, last: f64 },
    Each { param: Param, items: Vec<Value>, next: usize },
}

pub(super) struct Repeat {
    plan: Plan,
    start: usize,
    literals_before: usize,
}

impl Repeat {
    pub(super) fn new(plan: Plan) -> Self {
        Self { plan, start: 0, literals_before: 0 }
    }
}

impl Machine<'_> {
    /// What a loop goes over, told by its head: `let i = 0; i < 12; …` or `const x of list`.
    pub(super) fn plan(&mut self, head: usize, list: Value) -> Option<Plan> {
        let close = self.tokens.partner(head)?;
        if self.tokens.kind(self.at) != Some(Kind::BraceOpen) {
            return None;
        }
        let first = head + 1 + usize::from(self.is_declarator(head + 1));
        if let Value::List(list) = list {
            return self.plan_each(first, list);
        }
        if close - head > HEAD_TOKENS_MAX {
            return None;
        }
        let name = self.tokens.get(first).filter(|token| token.kind == Kind::Name)?;
        let name = self.name_id(name);
        let start = self.count_at(first + 2)?;
        let semicolon = (first..close).find(|&at| self.tokens.kind(at) == Some(Kind::Semicolon))?;
        let compare = self.tokens.get(semicolon + 2).filter(|token| token.kind == Kind::Compare)?;
        let end = self.count_at(semicolon + 3)?;
        let last = match compare.text(self.source) {
            "<=" => end,
            "<" | "!=" | "!==" => end - 1.0,
            _ => return None,
        };
        let steps = (semicolon..close).any(|at| self.tokens.kind(at) == Some(Kind::Step));
        self.scopes.declare(name, Value::Number(start));
        self.count_with(name);
        steps.then_some(Plan::Count { name, next: start + 1.0, last })
    }

    fn is_declarator(&self, at: usize) -> bool {
        let token = self.tokens.get(at).filter(|token| token.kind == Kind::Name);
        token.is_some_and(|token| matches!(token.text(self.source), "let" | "const" | "var"))
    }

    fn plan_each(&mut self, first: usize, list: ListId) -> Option<Plan> {
        let param = self.param(first);
        let items = self.copied(list);
        self.bind(&param, *items.first()?);
        Some(Plan::Each { param, items, next: 1 })
    }

    /// A number, a variable that holds one, or the length of a list.
    fn count_at(&mut self, at: usize) -> Option<f64> {
        let token = self.tokens.get(at)?;
        match token.kind {
            Kind::Number => super::encodings::number(token.text(self.source)),
            Kind::Name => {
                let name = self.name_id(token);
                match self.scopes.get(name)? {
                    Value::Number(number) => Some(number),
                    Value::List(list) => Some(self.heap.items(list).len() as f64),
                    Value::Text(text) => Some(self.texts.len(text) as f64),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The block of a loop opened.
    pub(super) fn begin_rounds(&mut self, repeat: Option<Box<Repeat>>, at: usize) {
        let Some(mut repeat) = repeat.filter(|_| self.frame().opened_at == at) else { return };
        repeat.start = at + 1;
        repeat.literals_before = self.literals_read;
        self.frame().repeat = Some(repeat);
    }

    /// At the end of a loop's block: whether it is gone through once more.
    pub(super) fn goes_round(&mut self) -> bool {
        let Some(mut repeat) = self.frame().repeat.take() else { return false };
        if self.literals_read == repeat.literals_before || !self.may_replay() {
            return false;
        }
        match &mut repeat.plan {
            Plan::Count { name, next, last } => {
                if *next > *last {
                    return false;
                }
                let (name, value) = (*name, *next);
                *next += 1.0;
                self.scopes.assign(name, Value::Number(value));
            }
            Plan::Each { param, items, next } => {
                let Some(&item) = items.get(*next) else { return false };
                *next += 1;
                let param = param.clone();
                self.bind(&param, item);
            }
        }
        self.at = repeat.start;
        self.frame().repeat = Some(repeat);
        true
    }
}
