//! Functions that take one of many: `steps[i]` in a list that is known, with a place that is not. They are gone
//! through again, once for each item, so that every page of a wizard comes out and not only its first.

use std::collections::HashSet;

use super::evaluator::Evaluator;
use super::frame::Level;
use super::functions::Body;
use crate::script::memory::values::{Base, ListId, NameId, ObjectId, Operand, Value};
use crate::script::syntax::tokens::Kind;

/// Items that are taken in turn. Nobody clicks through more pages.
const CHOICES_MAX: usize = 16;

#[derive(Debug, Default)]
pub(crate) struct Choices {
    /// Variables that are set in more than one place: within functions their values are not known.
    reassigned: HashSet<NameId>,
    /// Variables that are somewhere given a list or an object.
    collections: HashSet<NameId>,
    /// Variables that a loop counts with, which therefore are known.
    counters: HashSet<NameId>,
    /// The item that is taken wherever one is, while a function is gone through for it.
    pub(crate) current: Option<usize>,
}

impl Evaluator<'_> {
    /// Notes what the variables are given, before anything is read.
    pub(crate) fn find_reassigned(&mut self) {
        let mut given = HashSet::new();
        for at in 0..self.tokens.len() {
            let Some(token) = self.tokens.get(at).filter(|token| token.kind == Kind::Name) else { continue };
            let before = at.checked_sub(1).and_then(|before| self.tokens.kind(before));
            let next = self.tokens.kind(at + 1);
            let is_set = matches!(next, Some(Kind::Assign | Kind::PlusAssign | Kind::OtherAssign));
            let is_stepped = next == Some(Kind::Step) || before == Some(Kind::Step);
            if !is_set && !is_stepped {
                continue;
            }
            let name = self.name_id(token);
            if next == Some(Kind::Assign)
                && matches!(self.tokens.kind(at + 2), Some(Kind::SquareOpen | Kind::BraceOpen))
            {
                self.choices.collections.insert(name);
            }
            if !given.insert(name) || next != Some(Kind::Assign) {
                self.choices.reassigned.insert(name);
            }
        }
    }

    pub(crate) fn note_counter(&mut self, name: NameId) {
        self.choices.counters.insert(name);
    }

    /// A key as a function knows it that may be called at any time.
    pub(crate) fn stable(&self, key: Operand) -> Value {
        let is_unstable = key.reference.is_some_and(|reference| {
            let is_own = reference.base == Base::None
                && (self.choices.counters.contains(&reference.name) || !self.scopes.is_outer(reference.name));
            !self.bodies.is_empty() && self.choices.reassigned.contains(&reference.name) && !is_own
        });
        if is_unstable { Value::Unknown } else { key.value }
    }

    /// An item of a list, but which is not known: in a turn it is the one whose turn it is.
    pub(crate) fn one_of_list(&mut self, list: ListId) -> Value {
        let items = self.heap.items(list);
        let item = self.choices.current.and_then(|current| items.get(current).copied());
        let count =
            if items.iter().take(CHOICES_MAX).any(|&item| may_hold_text(item)) { items.len() } else { 0 };
        self.note_choice(count);
        item.unwrap_or(Value::OneOfList(list))
    }

    /// The same for an object.
    pub(crate) fn one_of_object(&mut self, object: ObjectId) -> Value {
        let keys = self.heap.keys(object);
        let value = |&key: &NameId| self.heap.member(object, key).unwrap_or_default();
        let item = self.choices.current.and_then(|current| keys.get(current)).map(value);
        let holds_text = keys.iter().take(CHOICES_MAX).map(value).any(may_hold_text);
        let count = if holds_text { keys.len() } else { 0 };
        self.note_choice(count);
        item.unwrap_or(Value::OneOfObject(object))
    }

    /// Something is taken from a variable that may yet be given a list.
    pub(crate) fn note_lookup(&mut self, name: Option<NameId>) {
        if name.is_some_and(|name| self.choices.collections.contains(&name)) {
            self.literals_read += 1;
            self.note_choice(1);
        }
    }

    /// What is being read takes one of so many.
    pub(crate) fn note_choice(&mut self, count: usize) {
        if let Some(body) = self.bodies.last_mut() {
            body.choices = body.choices.max(count.min(CHOICES_MAX));
        }
    }

    /// A function was read; its turns come when what lies around it is known.
    pub(crate) fn schedule_choices(&mut self, body: &Body) {
        if self.choices.current.is_some() {
            return self.note_choice(body.choices);
        }
        let scheduled = self.bodies.last_mut().map_or(&mut self.scheduled, |around| &mut around.scheduled);
        scheduled.extend_from_slice(&body.scheduled);
        let known = self.functions.get_mut(body.function.0 as usize);
        if let Some(known) = known.filter(|known| body.choices > 0 && !known.is_scheduled) {
            known.is_scheduled = true;
            scheduled.push(body.function);
        }
    }

    /// At the end of a function, when all its variables are known: whether functions within it have turns to take.
    pub(crate) fn has_scheduled(&mut self, kind: Kind) -> bool {
        kind == Kind::BraceClose
            && self.choices.current.is_none()
            && self.bodies.last().is_some_and(|body| !body.scheduled.is_empty())
            && matches!(self.frame().kind, Level::Body)
            && self.tokens.partner(self.at) == Some(self.frame().opened_at)
    }

    /// Begins the turns of a function that is owed some; answers whether there was one.
    pub(crate) fn begin_scheduled(&mut self) -> bool {
        let body = self.bodies.last_mut();
        let Some(function) = body.map_or(&mut self.scheduled, |body| &mut body.scheduled).pop() else {
            return false;
        };
        let Some(known) = self.functions.get_mut(function.0 as usize) else { return true };
        let is_scheduled = std::mem::take(&mut known.is_scheduled);
        let choices = known.choices;
        if is_scheduled && self.may_replay_more() {
            self.call_for_choices(function, choices);
        }
        true
    }
}

fn may_hold_text(value: Value) -> bool {
    matches!(value, Value::Text(_) | Value::Object(_) | Value::List(_))
}
