//! Loops over what is known: their blocks are gone through once for each round, as long as the allowance lasts. A lone
//! statement is a block of its own.

use super::evaluator::Evaluator;
use super::frame::Level;
use super::params::Param;
use crate::script::memory::values::{ListId, NameId, Value};
use crate::script::syntax::tokens::Kind;

/// Tokens of a loop's head that are looked at.
const HEAD_TOKENS_MAX: usize = 24;

/// What a loop goes over.
#[derive(Clone, Debug)]
enum Plan {
    Count { name: NameId, next: f64, last: f64, step: f64 },
    Each { param: Param, items: Vec<Value>, next: usize },
}

pub(crate) struct Iteration {
    plan: Plan,
    start: usize,
    literals_before: usize,
}

impl Evaluator<'_> {
    /// What a loop goes over, told by its head: `let i = 0; i < 12; …` or `const x of list`.
    fn plan(&mut self, head: usize, list: Value) -> Option<Plan> {
        let close = self.tokens.partner(head)?;
        let first = head + 1 + usize::from(self.is_declarator(head + 1));
        if let Value::List(list) = list {
            return self.plan_each(first, list);
        }
        if close - head > HEAD_TOKENS_MAX {
            return None;
        }
        let semicolon = (first..close).find(|&at| self.tokens.kind(at) == Some(Kind::Semicolon))?;
        // `for (; i < 12; i++)` goes on from where its variable is.
        let named_at = if semicolon == first { semicolon + 1 } else { first };
        let name = self.tokens.get(named_at).filter(|token| token.kind == Kind::Name)?;
        let name = self.name_id(name);
        let begins_with_one_token =
            matches!(self.tokens.kind(first + 3), Some(Kind::Semicolon | Kind::Comma));
        let start = match self.scopes.get(name) {
            // What the head came to, which a sign of steps leaves as it is.
            Some(Value::Number(start)) if !begins_with_one_token => start,
            _ => self.count_at(first + 2)?,
        };
        self.note_counter(name);
        if self.tokens.kind(semicolon + 2) == Some(Kind::Step) {
            // `i--` is asked before the round, and has been done by then.
            let step = self.step_at(semicolon + 2).filter(|step| *step < 0.0)?;
            self.scopes.declare(name, Value::Number(start + step));
            return Some(Plan::Count { name, next: start + 2.0 * step, last: 0.0, step });
        }
        let compare = self.tokens.get(semicolon + 2).filter(|token| token.kind == Kind::Compare)?;
        let end = self.count_at(semicolon + 3)?;
        let step = (semicolon + 3..close).find_map(|at| self.step_at(at));
        let last = match compare.text(self.source) {
            "<=" | ">=" => end,
            "<" => end - 1.0,
            ">" => end + 1.0,
            "!=" | "!==" => end - step.unwrap_or(1.0),
            _ => return None,
        };
        self.scopes.declare(name, Value::Number(start));
        step.map(|step| Plan::Count { name, next: start + step, last, step })
    }

    /// By how much a sign changes what the loop counts with: `i++`, `i -= 2`.
    fn step_at(&mut self, at: usize) -> Option<f64> {
        let token = self.tokens.get(at)?;
        let sign = if token.operator(self.source) == b'-' { -1.0 } else { 1.0 };
        match token.kind {
            Kind::Step => Some(sign),
            Kind::PlusAssign => self.count_at(at + 1),
            Kind::OtherAssign if sign < 0.0 => self.count_at(at + 1).map(|step| -step),
            _ => None,
        }
    }

    fn is_declarator(&self, at: usize) -> bool {
        let token = self.tokens.get(at).filter(|token| token.kind == Kind::Name);
        token.is_some_and(|token| matches!(token.text(self.source), "let" | "const" | "var"))
    }

    fn plan_each(&mut self, first: usize, list: ListId) -> Option<Plan> {
        let param = self.param(first);
        let items = self.copy_items(list);
        self.bind(&param, *items.first()?);
        Some(Plan::Each { param, items, next: 1 })
    }

    /// A number, a variable that holds one, or the length of a list.
    fn count_at(&mut self, at: usize) -> Option<f64> {
        let token = self.tokens.get(at)?;
        match token.kind {
            Kind::Number => crate::script::encodings::number(token.text(self.source)),
            Kind::Arithmetic if token.operator(self.source) == b'-' => {
                let number = self.tokens.get(at + 1).filter(|token| token.kind == Kind::Number)?;
                crate::script::encodings::number(number.text(self.source)).map(|number| -number)
            }
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

    /// After the head of a `for`: what follows may be gone through more than once.
    pub(crate) fn begin_loop(&mut self, head: usize, list: Value) {
        let Some(plan) = self.plan(head, list) else { return };
        let iteration = Box::new(Iteration { plan, start: 0, literals_before: 0 });
        match self.tokens.kind(self.at) {
            Some(Kind::BraceOpen) => self.frame().iteration = Some(iteration),
            Some(Kind::Semicolon) | None => {}
            Some(_) if self.is_too_deep() => {}
            Some(_) => {
                let head_end = self.at.saturating_sub(1);
                self.push_frame(Level::Block, head_end);
                self.frame().is_single_statement = true;
                self.begin_iterations(Some(iteration), head_end);
            }
        }
    }

    /// The block of a loop opened.
    pub(crate) fn begin_iterations(&mut self, iteration: Option<Box<Iteration>>, at: usize) {
        let Some(mut iteration) = iteration.filter(|_| self.frame().opened_at == at) else { return };
        iteration.start = at + 1;
        iteration.literals_before = self.literals_read;
        self.frame().iteration = Some(iteration);
    }

    /// Whether a lone statement of a loop ended before this token.
    pub(crate) fn ends_single_statement(&mut self, kind: Kind) -> bool {
        let frame = self.frame();
        let (opened_at, is_done) = (frame.opened_at, frame.is_at_statement());
        if !frame.is_single_statement {
            return false;
        }
        match kind {
            Kind::Semicolon => true,
            Kind::BraceClose | Kind::ParenClose | Kind::SquareClose | Kind::HoleClose => {
                self.tokens.partner(self.at).is_some_and(|partner| partner < opened_at)
            }
            Kind::Name | Kind::Text | Kind::Number if self.begins_statement() => true,
            _ => {
                let block =
                    self.at.checked_sub(1).filter(|&at| self.tokens.kind(at) == Some(Kind::BraceClose));
                let begins = block.and_then(|block| self.tokens.partner(block));
                is_done && begins.is_some_and(|begins| begins > opened_at) && !self.statement_continues()
            }
        }
    }

    /// Whether a statement goes on behind its block.
    fn statement_continues(&self) -> bool {
        let token = self.tokens.get(self.at).filter(|token| token.kind == Kind::Name);
        token.is_some_and(|token| matches!(token.text(self.source), "else" | "catch" | "finally" | "while"))
    }

    /// At the end of a loop's block: whether it is gone through once more.
    pub(crate) fn next_iteration(&mut self) -> bool {
        let Some(mut iteration) = self.frame().iteration.take() else { return false };
        if self.literals_read == iteration.literals_before || !self.may_replay() {
            return false;
        }
        match &mut iteration.plan {
            Plan::Count { name, next, last, step } => {
                let is_past = if *step > 0.0 { *next > *last } else { *next < *last };
                if is_past || *step == 0.0 {
                    return false;
                }
                let (name, value) = (*name, *next);
                *next += *step;
                self.scopes.assign(name, Value::Number(value));
            }
            Plan::Each { param, items, next } => {
                let Some(&item) = items.get(*next) else { return false };
                *next += 1;
                let param = param.clone();
                self.bind(&param, item);
            }
        }
        self.at = iteration.start;
        self.frame().iteration = Some(iteration);
        true
    }
}
