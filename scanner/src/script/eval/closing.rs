//! What a bracket comes to when it closes.

use super::evaluator::Evaluator;
use super::frame::{Expected, Frame, Level};
use crate::script::memory::texts::Usage;
use crate::script::memory::values::{Base, Operand, Value};

impl Evaluator<'_> {
    /// Ends the innermost level of nesting.
    pub(crate) fn close_frame(&mut self) {
        let body_is_open = matches!(self.frame().kind, Level::Block | Level::Body);
        let value = if body_is_open {
            self.end_statement();
            None
        } else {
            self.expression()
        };
        if matches!(self.frame().kind, Level::Block) && self.next_iteration() {
            return;
        }
        self.complete(value);
        let Some(frame) = self.frames.pop() else { return };
        self.deliver(frame, value);
    }

    /// Takes in what stands before the closing bracket.
    fn complete(&mut self, value: Option<Operand>) {
        match self.frame().kind {
            Level::Call { .. } | Level::Array { .. } => self.add_item(value),
            Level::Object { .. } => self.add_entry(value),
            Level::Arrow => self.return_value(value.unwrap_or_default()),
            _ => {}
        }
    }

    fn deliver(&mut self, frame: Frame, value: Option<Operand>) {
        match frame.kind {
            Level::Block => {
                if !self.frame().is_block() {
                    self.frame().operand = Some(Operand::default());
                }
            }
            Level::Body | Level::Arrow => self.end_body(),
            Level::Group => self.frame().operand = Some(value.unwrap_or_default()),
            Level::Head | Level::Params => {
                if let Some(value) = value {
                    self.mark_use(value, Usage::Consumed);
                }
            }
            Level::Loop => self.begin_loop(frame.opened_at, value.unwrap_or_default().value),
            Level::Call { callee, arguments, is_new } => {
                let result = self.call(callee, arguments, is_new);
                if let Some(result) = result {
                    self.frame().operand = Some(result);
                }
            }
            Level::Index { object } => {
                let member = self.index(object, value.unwrap_or_default());
                self.frame().operand = Some(member);
            }
            Level::Array { items } => {
                self.note_described(&items);
                let list = self.heap.list(items);
                self.frame().operand = Some(list.into());
            }
            Level::Object { object, .. } => self.frame().operand = Some(Value::Object(object).into()),
            Level::Template { text, tag } => {
                let text = text.unwrap_or_else(|| self.texts.add(""));
                if let Some(tag) = tag {
                    self.mark_use(tag, Usage::Unclear);
                }
                self.frame().operand = Some(Value::Text(text).into());
            }
            Level::Hole => self.add_to_template(value.unwrap_or_default().value),
            Level::Apply(continuation) => self.resume(continuation, Value::Unknown, 0),
        }
    }

    pub(crate) fn add_item(&mut self, value: Option<Operand>) {
        let spreads = std::mem::take(&mut self.frame().spreads);
        let Some(operand) = value else { return };
        let spread = match operand.value {
            Value::List(list) if spreads => Some(self.copy_items(list)),
            Value::Text(text) if spreads => Some(self.split_chars(text)),
            _ => None,
        };
        if operand.value == Value::Unknown {
            self.mark_use(operand, Usage::Unclear);
        }
        if let Level::Call { arguments: items, .. } | Level::Array { items } = &mut self.frame().kind {
            match spread {
                Some(values) => items.extend(values),
                None => items.push(operand.value),
            }
        }
    }

    /// The key of an object's member was read.
    pub(crate) fn begin_entry(&mut self, name: Operand) {
        let id = match (name.value, name.reference) {
            (Value::Text(text), None) => {
                self.texts.mark(text, Usage::Consumed);
                let text = self.flat(text).unwrap_or_default();
                Some(self.names.id(text.into()))
            }
            (Value::Number(number), None) => Some(self.names.id(super::members::number_text(number).into())),
            (_, Some(reference)) => Some(reference.name),
            _ => None,
        };
        if let Level::Object { key, .. } = &mut self.frame().kind {
            *key = id;
        }
    }

    pub(crate) fn add_entry(&mut self, value: Option<Operand>) {
        let spreads = std::mem::take(&mut self.frame().spreads);
        let Level::Object { object, key } = &mut self.frame().kind else { return };
        let (object, key) = (*object, key.take());
        let Some(operand) = value else { return };
        if spreads {
            if let Value::Object(other) = operand.value {
                let count = self.heap.keys(other).len();
                if self.may_copy(count) {
                    for (name, value) in self.heap.entries(other) {
                        self.heap.set(object, name, value);
                    }
                }
            }
            return;
        }
        let shorthand = operand
            .reference
            .filter(|reference| reference.base == Base::None)
            .map(|reference| reference.name);
        if let Some(name) = key.or(shorthand) {
            self.put_in_object(object, name, operand.value);
        }
        if operand.value == Value::Unknown {
            self.mark_use(operand, Usage::Unclear);
        }
    }

    /// A body ended: the function is known now, or the call is done.
    fn end_body(&mut self) {
        let Some(body) = self.bodies.pop() else { return };
        self.scopes.leave();
        if !body.is_applied && body.choices > 0 && self.choices.current.is_some() {
            self.keep_reading();
        }
        self.texts.read_by(body.reader_before);
        if body.is_applied {
            let result = body.result.unwrap_or_default();
            if let Some(Frame { kind: Level::Apply(continuation), .. }) = self.frames.pop() {
                self.resume(continuation, result, body.choices);
            }
            return;
        }
        self.schedule_choices(&body);
        let function = Value::Function(body.function);
        let literals = self.literals_read - body.literals_before;
        if let Some(known) = self.functions.get_mut(body.function.0 as usize) {
            known.result = body.result;
            known.is_read = true;
            known.has_literals = literals > 0;
            known.choices = body.choices;
            known.tokens = self.at.saturating_sub(known.body);
        }
        self.last_read = Some(body);
        let expected = std::mem::take(&mut self.frame().expected);
        if let Expected::Method { name } = expected {
            return self.end_method(name, function);
        }
        if let Expected::Body { name: Some(name), is_declaration, .. } = expected {
            self.scopes.assign(name, function);
            if is_declaration {
                return;
            }
        }
        if matches!(expected, Expected::Body { is_declaration: true, .. }) {
            return;
        }
        self.frame().operand = Some(function.into());
    }
}
