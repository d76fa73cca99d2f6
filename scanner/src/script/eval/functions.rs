//! Calls of functions that the script itself defines: they go through the same tokens again, with the values that
//! are known. It must stay within the allowance, however the script is nested.

use super::evaluator::Evaluator;
use super::frame::{Expected, Frame, Level};
use super::params::Param;
use crate::script::memory::texts::Usage;
use crate::script::memory::values::{FunctionId, NameId, Operand, ReadingId, Value};
use crate::script::syntax::tokens::Kind;

/// Functions longer than this are read, but not called.
const FUNCTION_TOKENS_MAX: usize = 4_000;
/// Calls within calls.
const CALL_DEPTH_MAX: usize = 16;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Function {
    params: usize,
    pub(crate) body: usize,
    pub(crate) tokens: usize,
    /// What it answers when nothing is known of its arguments.
    pub(crate) result: Option<Value>,
    pub(crate) is_read: bool,
    pub(crate) has_literals: bool,
    pub(crate) was_called: bool,
    /// How many it takes one of, so that its answer is one of as many.
    pub(crate) choices: usize,
    pub(crate) is_scheduled: bool,
    is_block: bool,
}

/// One time that a function was read, and not called.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    function: FunctionId,
    /// It took an item whose turn it was, so that calls with other items do not tell it better.
    is_kept: bool,
}

/// A body that is being gone through.
pub(crate) struct Body {
    pub(crate) function: FunctionId,
    pub(crate) result: Option<Value>,
    pub(crate) is_applied: bool,
    pub(crate) reader_before: Option<ReadingId>,
    pub(crate) literals_before: usize,
    /// How many it took one of.
    pub(crate) choices: usize,
    /// Functions in it that have turns to take.
    pub(crate) scheduled: Vec<FunctionId>,
    /// What variables outside of it were before it was read, if that changed them.
    pub(crate) undo: Vec<(NameId, Value)>,
}

/// Where a call goes on when the function has answered.
pub(crate) struct Continuation {
    resume: usize,
    calls: Option<CallSeries>,
}

/// One call for each item of a list.
pub(crate) struct CallSeries {
    function: FunctionId,
    items: Vec<Value>,
    next: usize,
    results: Vec<Value>,
    pub(crate) purpose: Purpose,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Map,
    ForEach,
    Reduce,
    /// The answers make one string.
    Join,
    /// Once for each item that it may take, whatever it is given.
    Choices,
}

impl Evaluator<'_> {
    /// The function whose parameters stand at a place. It is the same however often it is come by.
    pub(crate) fn add_function(&mut self, params: usize, near: usize) -> FunctionId {
        if let Some(&known) = self.function_at.get(&params) {
            return known;
        }
        let close = if self.tokens.kind(near) == Some(Kind::ParenOpen) {
            self.tokens.partner(near)
        } else {
            Some(near)
        };
        let arrow = close.map_or(near, |close| close + 1);
        let is_arrow = self.tokens.kind(arrow) == Some(Kind::Arrow);
        let first = arrow + usize::from(is_arrow);
        let is_block = self.tokens.kind(first) == Some(Kind::BraceOpen);
        let tokens = self.tokens.partner(first).filter(|_| is_block).map_or(0, |end| end - first);
        let id = FunctionId(u32::try_from(self.functions.len()).unwrap_or(u32::MAX));
        self.functions.push(Function {
            params,
            body: first + usize::from(is_block),
            tokens,
            result: None,
            is_read: false,
            has_literals: true,
            was_called: false,
            choices: 0,
            is_scheduled: false,
            is_block,
        });
        self.function_at.insert(params, id);
        id
    }

    /// `=>`: what stands before it were parameters.
    pub(crate) fn arrow(&mut self, at: usize) {
        self.frame().operand = None;
        self.frame().spreads = false;
        let Some(before) = at.checked_sub(1) else { return };
        let params = match self.tokens.kind(before) {
            Some(Kind::ParenClose) => self.tokens.partner(before),
            Some(Kind::Name) => Some(before),
            _ => None,
        };
        let Some(params) = params.filter(|_| !self.is_too_deep()) else { return };
        let function = self.add_function(params, params);
        if self.tokens.kind(self.at) == Some(Kind::BraceOpen) {
            self.frame().expected = Expected::Body { function, name: None, is_declaration: false };
        } else {
            self.begin_body(function, &[], None);
        }
    }

    pub(crate) fn open_body(&mut self, function: FunctionId, at: usize) {
        if self.is_too_deep() {
            self.frame().expected = Expected::Nothing;
            return self.push_frame(Level::Block, at);
        }
        self.begin_body(function, &[], None);
    }

    /// Goes into a body, either to read it or, with what is pending, to call it.
    fn begin_body(&mut self, function: FunctionId, arguments: &[Value], continuation: Option<Continuation>) {
        let Some(known) = self.functions.get(function.0 as usize).copied() else { return };
        let is_applied = continuation.is_some();
        if let Some(continuation) = continuation {
            self.frames.push(Frame::new(Level::Apply(continuation), 0));
            self.at = known.body;
        }
        self.scopes.enter();
        for (at, param) in self.params(known.params).iter().enumerate() {
            let value = match param {
                Param::Rest(_) if is_applied => self.heap.list(arguments.get(at..).unwrap_or(&[]).to_vec()),
                _ => arguments.get(at).copied().unwrap_or_default(),
            };
            self.bind(param, value);
        }
        // Inside of a reading everything is preliminary, also what is called there.
        let reader = if is_applied { self.texts.reader() } else { Some(self.add_reading(function)) };
        self.bodies.push(Body {
            function,
            result: None,
            is_applied,
            reader_before: self.texts.read_by(reader),
            literals_before: self.literals_read,
            choices: 0,
            scheduled: Vec::new(),
            undo: Vec::new(),
        });
        let kind = if known.is_block { Level::Body } else { Level::Arrow };
        let opened_at = if known.is_block { known.body.saturating_sub(1) } else { known.body };
        self.frames.push(Frame::new(kind, opened_at));
    }

    /// `return`: the first answer that is known counts, the others stand for themselves.
    pub(crate) fn return_value(&mut self, operand: Operand) {
        let Some(body) = self.bodies.last_mut() else { return };
        let is_better = body.result.is_none_or(|result| result == Value::Unknown);
        if is_better {
            body.result = Some(operand.value);
        } else {
            self.mark_use(operand, Usage::Unclear);
        }
    }

    fn may_call(&self, function: FunctionId) -> bool {
        self.functions.get(function.0 as usize).is_some_and(|known| {
            known.has_literals && known.tokens > 0 && known.tokens <= FUNCTION_TOKENS_MAX
        }) && self.applied_depth < CALL_DEPTH_MAX
            && !self.is_too_deep()
            && self.may_replay()
            && self.bodies.iter().rev().take(CALL_DEPTH_MAX).all(|body| body.function != function)
    }

    /// What a function answers when nothing is known of its arguments.
    pub(crate) fn result_of(&self, function: FunctionId) -> Option<Value> {
        self.functions.get(function.0 as usize)?.result
    }

    /// Whether a call of a function may come to an element: it does, or it was not read yet.
    pub(crate) fn may_make_element(&self, function: FunctionId) -> bool {
        self.functions.get(function.0 as usize).is_some_and(|known| match known.result {
            Some(result) => matches!(result, Value::Element(_)),
            None => !known.is_read,
        })
    }

    /// Calls a function of the script; the answer is there at once, or comes later when there is none yet.
    pub(crate) fn call_function(&mut self, function: FunctionId, arguments: &[Value]) -> Option<Operand> {
        let Some(known) = self.functions.get(function.0 as usize).copied() else {
            return Some(Operand::default());
        };
        let is_choosing = self.choices.current.is_some() && known.choices > 0;
        let is_given = arguments.iter().any(|&argument| argument != Value::Unknown);
        let tells_more = !known.is_read || is_given || is_choosing;
        if !tells_more || !self.may_call(function) {
            for &argument in arguments {
                self.mark_use(argument.into(), Usage::Unclear);
            }
            self.note_choice(known.choices);
            return Some(Operand::from(known.result.unwrap_or_default()));
        }
        if let Some(known) = self.functions.get_mut(function.0 as usize).filter(|_| is_choosing) {
            // Its turns come about within those of who calls it.
            known.is_scheduled = false;
        }
        self.mark_called(function);
        let continuation = Continuation { resume: self.at, calls: None };
        self.applied_depth += 1;
        self.begin_body(function, arguments, Some(continuation));
        None
    }

    /// Whether what was read in a function is told better by its calls. If those ran out of allowance, it is not.
    pub(crate) fn is_superseded(&self, reader: Option<ReadingId>) -> bool {
        let reading = reader.and_then(|reader| self.readings.get(reader.0 as usize));
        let reading = reading.filter(|reading| !reading.is_kept && self.may_replay());
        let function = reading.and_then(|reading| self.functions.get(reading.function.0 as usize));
        function.is_some_and(|function| function.was_called)
    }

    /// Whether what is being read was told better by a call before. It takes nothing from what that wrote.
    pub(crate) fn is_reading_superseded(&self) -> bool {
        self.is_superseded(self.texts.reader())
    }

    fn add_reading(&mut self, function: FunctionId) -> ReadingId {
        self.readings.push(Reading { function, is_kept: false });
        ReadingId(u32::try_from(self.readings.len() - 1).unwrap_or(u32::MAX))
    }

    /// What was just read took an item whose turn it was.
    pub(crate) fn keep_reading(&mut self) {
        let reader = self.texts.reader().and_then(|reader| self.readings.get_mut(reader.0 as usize));
        if let Some(reading) = reader {
            reading.is_kept = true;
        }
    }

    fn mark_called(&mut self, function: FunctionId) {
        if let Some(known) = self.functions.get_mut(function.0 as usize) {
            known.was_called = true;
        }
    }

    /// Calls a function for each item. None when the answer comes later.
    pub(crate) fn call_for_each(
        &mut self,
        function: FunctionId,
        items: Vec<Value>,
        purpose: Purpose,
        first: Value,
    ) -> Option<Operand> {
        if items.is_empty() && self.choices.current.is_some() {
            self.undo_reading(function);
            return Some(self.heap.list(items).into());
        }
        if items.is_empty() || !self.may_call(function) {
            return Some(self.result_of_unknown(function, purpose));
        }
        self.undo_reading(function);
        self.mark_called(function);
        let calls = CallSeries { function, items, next: 0, results: vec![first], purpose };
        let continuation = Continuation { resume: self.at, calls: Some(calls) };
        self.applied_depth += 1;
        self.next_call(continuation);
        None
    }

    /// Takes back what the reading of a function did to variables around it, which its calls are about to do.
    fn undo_reading(&mut self, function: FunctionId) {
        let last = self.last_read.take().filter(|body| body.function == function);
        for (name, value) in last.into_iter().flat_map(|body| body.undo.into_iter().rev()) {
            self.scopes.assign(name, value);
        }
    }

    /// Goes through a function once for each item that it may take.
    pub(crate) fn call_for_choices(&mut self, function: FunctionId, choices: usize) {
        if !self.may_call(function) {
            return;
        }
        self.mark_called(function);
        let items = vec![Value::Unknown; choices];
        let calls = CallSeries { function, items, next: 0, results: Vec::new(), purpose: Purpose::Choices };
        self.applied_depth += 1;
        self.next_call(Continuation { resume: self.at, calls: Some(calls) });
    }

    /// The same for items that are not known: as if there were one.
    pub(crate) fn result_of_unknown(&mut self, function: FunctionId, purpose: Purpose) -> Operand {
        let result = self.result_of(function).unwrap_or_default();
        match purpose {
            Purpose::Map => self.heap.list(vec![result]).into(),
            Purpose::ForEach | Purpose::Choices => Operand::default(),
            Purpose::Reduce | Purpose::Join => result.into(),
        }
    }

    fn next_call(&mut self, mut continuation: Continuation) {
        let may_replay = self.may_replay();
        let Some(calls) = &mut continuation.calls else { return };
        let item = calls.items.get(calls.next).copied().filter(|_| may_replay);
        let Some(item) = item else { return self.finish_calls(continuation) };
        let position = Value::Number(calls.next as f64);
        calls.next += 1;
        let function = calls.function;
        let arguments = match calls.purpose {
            Purpose::Choices => {
                self.choices.current = Some(calls.next - 1);
                [Value::Unknown; 3]
            }
            Purpose::Reduce => [calls.results.last().copied().unwrap_or_default(), item, position],
            _ => [item, position, Value::Unknown],
        };
        self.begin_body(function, &arguments, Some(continuation));
    }

    fn finish_calls(&mut self, continuation: Continuation) {
        self.at = continuation.resume;
        self.applied_depth = self.applied_depth.saturating_sub(1);
        let Some(mut calls) = continuation.calls else { return };
        let result = match calls.purpose {
            Purpose::Map => {
                calls.results.remove(0);
                self.heap.list(calls.results)
            }
            Purpose::ForEach => Value::Unknown,
            Purpose::Choices => return self.choices.current = None,
            Purpose::Reduce => calls.results.last().copied().unwrap_or_default(),
            Purpose::Join => {
                calls.results.remove(0);
                // What could not be afforded stays as it was.
                let left = calls.items.get(calls.results.len()..).unwrap_or_default();
                calls.results.extend_from_slice(left);
                Value::Text(self.join(&calls.results, ""))
            }
        };
        self.frame().operand = Some(result.into());
    }

    /// A call has come to its end.
    pub(crate) fn resume(&mut self, mut continuation: Continuation, result: Value, choices: usize) {
        let is_choice = continuation.calls.as_ref().is_some_and(|calls| calls.purpose == Purpose::Choices);
        if !is_choice {
            self.note_choice(choices);
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
                self.next_call(continuation);
            }
            None => {
                self.at = continuation.resume;
                self.applied_depth = self.applied_depth.saturating_sub(1);
                self.frame().operand = Some(result.into());
            }
        }
    }
}
