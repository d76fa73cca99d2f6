//! How an expression is put together from its values and operators, and what it comes to.

use super::evaluator::Evaluator;
use super::frame::{Level, Statement, Target};
use crate::script::memory::texts::Usage;
use crate::script::memory::values::{Base, NameId, Operand, Value};
use crate::script::syntax::tokens::{Kind, Token};

/// Changes of variables that the reading of one function takes back.
const UNDONE_MAX: usize = 16;

impl Evaluator<'_> {
    pub(crate) fn operator(&mut self, token: Token) {
        match token.kind {
            Kind::Plus => self.plus(b'+'),
            Kind::Arithmetic => self.arithmetic(token.operator(self.source)),
            Kind::Not if self.frame().operand.is_none() => self.frame().unary = b'!',
            Kind::Assign => self.frame().begin_assignment(false),
            Kind::PlusAssign => self.frame().begin_assignment(true),
            Kind::OtherAssign => self.other_assign(),
            Kind::Compare => self.compare(),
            Kind::Or => {
                let value = self.alternative();
                self.frame().choice = value;
            }
            Kind::And => {
                let left = self.addend();
                self.consume(left);
                self.frame().is_compared = false;
            }
            Kind::Question => {
                let condition = self.alternative();
                self.consume(condition);
                let frame = self.frame();
                frame.choice = None;
                frame.questions = frame.questions.saturating_add(1);
            }
            Kind::Colon => self.colon(),
            Kind::Spread => self.frame().spreads = true,
            _ => {}
        }
    }

    fn plus(&mut self, sign: u8) {
        if let Some(value) = self.addend() {
            self.frame().sum = Some((value.value, sign));
        }
    }

    fn arithmetic(&mut self, sign: u8) {
        if self.frame().operand.is_none() {
            if sign == b'-' {
                self.frame().unary = b'-';
            }
        } else if sign == b'-' {
            self.plus(b'-');
        } else if let Some(value) = self.term() {
            // What is turned by a key was a text, as often as not.
            self.literals_read += usize::from(sign == b'^');
            self.frame().product = Some((value.value, sign));
        }
    }

    pub(crate) fn compare(&mut self) {
        let left = self.addend();
        self.consume(left);
        self.frame().is_compared = true;
    }

    /// `i -= 1` and the like: the variable is no longer what it was.
    fn other_assign(&mut self) {
        let Some(operand) = self.frame().operand.take() else { return };
        if let Some(reference) = operand.reference.filter(|reference| reference.base == Base::None) {
            self.scopes.assign(reference.name, Value::Unknown);
        }
    }

    fn colon(&mut self) {
        let questions = self.frame().questions;
        if questions > 0 {
            let value = self.finish_assignments(questions);
            let frame = self.frame();
            frame.choice = value;
            frame.questions = questions - 1;
            return;
        }
        if matches!(self.frame().kind, Level::Object { .. }) {
            let left = self.expression().unwrap_or_default();
            return self.begin_entry(left);
        }
        let label = self.expression();
        self.consume(label);
        self.frame().end_statement();
    }

    fn consume(&mut self, operand: Option<Operand>) {
        if let Some(operand) = operand {
            self.mark_use(operand, Usage::Consumed);
        }
    }

    /// A value with its sign and its factors.
    fn term(&mut self) -> Option<Operand> {
        let frame = self.frame();
        let mut operand = frame.operand.take();
        let unary = std::mem::take(&mut frame.unary);
        let product = frame.product.take();
        if unary != 0
            && let Some(given) = operand
        {
            let value = match (unary, given.value) {
                (b'-', Value::Number(number)) => Value::Number(-number),
                (b'!', Value::Number(number)) => Value::Flag(number == 0.0),
                (b'!', Value::Flag(flag)) => Value::Flag(!flag),
                _ => Value::Unknown,
            };
            self.mark_use(given, Usage::Consumed);
            operand = Some(value.into());
        }
        let Some((left, sign)) = product else { return operand };
        let right = operand.unwrap_or_default();
        Some(calculate(left, sign, right.value).into())
    }

    /// A value with all that is added to it.
    fn addend(&mut self) -> Option<Operand> {
        let term = self.term();
        let Some((left, sign)) = self.frame().sum.take() else { return term };
        let right = term.unwrap_or_default();
        if sign == b'-' {
            return Some(calculate(left, sign, right.value).into());
        }
        Some(self.add(left, right.value).into())
    }

    /// Two values added. What is not known beside a string becomes a space in it.
    pub(crate) fn add(&mut self, left: Value, right: Value) -> Value {
        match (left, right) {
            (Value::Number(left), Value::Number(right)) => Value::Number(left + right),
            (Value::Text(_) | Value::List(_), _) | (_, Value::Text(_) | Value::List(_)) => {
                let (Some(left), Some(right)) = (self.text_of(left, ","), self.text_of(right, ",")) else {
                    return Value::Unknown;
                };
                Value::Text(self.texts.sum(left, right))
            }
            _ => Value::Unknown,
        }
    }

    /// One of the values that a choice may come to: the first that is known, while the others are kept in mind.
    fn alternative(&mut self) -> Option<Operand> {
        let value = self.addend();
        let frame = self.frame();
        let value = if std::mem::take(&mut frame.is_compared) {
            let compared = value;
            self.consume(compared);
            compared.map(|_| Operand::default())
        } else {
            value
        };
        let earlier = self.frame().choice.take();
        let (Some(earlier), Some(value)) = (earlier, value) else { return earlier.or(value) };
        let (chosen, other) = if is_known(earlier.value) { (earlier, value) } else { (value, earlier) };
        if !self.frame().add_other(other.value) {
            self.mark_use(other, Usage::Unclear);
        }
        Some(chosen)
    }

    /// The end of a whole expression: what it comes to, once it was put where it is assigned to.
    pub(crate) fn expression(&mut self) -> Option<Operand> {
        let value = self.finish_assignments(0);
        for other in std::mem::take(&mut self.frame().others) {
            self.mark_use(other.into(), Usage::Unclear);
        }
        self.frame().questions = 0;
        value
    }

    fn finish_assignments(&mut self, within_questions: u32) -> Option<Operand> {
        let mut value = self.alternative();
        let mut is_assigned = false;
        while let Some(target) = self.frame().next_target(within_questions) {
            value = Some(self.assign(target, value.unwrap_or_default()));
            is_assigned = true;
        }
        if self.frame().declares
            && !is_assigned
            && let Some(reference) =
                value.and_then(|operand| operand.reference).filter(|reference| reference.base == Base::None)
        {
            self.scopes.declare(reference.name, Value::Unknown);
        }
        value
    }

    fn assign(&mut self, target: Target, given: Operand) -> Operand {
        let Some(reference) = target.reference else {
            self.destructure(target.owner, given.value, target.declares);
            return given;
        };
        for other in std::mem::take(&mut self.frame().others) {
            self.set(reference, target.owner, Value::Unknown, other);
        }
        let value = if target.adds { self.add(target.current, given.value) } else { self.given(given) };
        let current = if target.adds { target.current } else { Value::Unknown };
        if given.value == Value::Unknown {
            let is_text = crate::script::effects::sinks::is_text_property(self.names.text(reference.name))
                && reference.base != Base::None;
            self.mark_use(given, if is_text { Usage::Shown } else { Usage::Unclear });
        }
        if reference.base != Base::None || !matches!(target.owner, Value::Unknown) {
            self.set(reference, target.owner, current, value);
            return Operand { value, reference: Some(reference), owner: Value::Unknown };
        }
        if let Value::Text(text) = value {
            self.texts.hold(text, reference.name);
        }
        if target.declares {
            self.scopes.declare(reference.name, value)
        } else {
            self.note_undo(reference.name);
            self.scopes.assign(reference.name, value)
        }
        Operand { value, reference: Some(reference), owner: Value::Unknown }
    }

    fn given(&self, given: Operand) -> Value {
        let is_member = given.reference.filter(|reference| reference.base != Base::None);
        match is_member.map(|reference| self.names.text(reference.name)) {
            Some("createElement") if given.value == Value::Unknown => Value::ElementFactory,
            _ => given.value,
        }
    }

    fn note_undo(&mut self, name: NameId) {
        let is_outer = self.scopes.is_outer(name);
        let held = self.scopes.get(name).unwrap_or_default();
        let body = self.bodies.last_mut().filter(|body| is_outer && !body.is_applied);
        if let Some(body) = body.filter(|body| body.undo.len() < UNDONE_MAX) {
            body.undo.push((name, held));
        }
    }

    /// `{a, b} = object`, as far as the names are the members' own.
    fn destructure(&mut self, pattern: Value, value: Value, declares: bool) {
        let Value::Object(pattern) = pattern else { return };
        for &name in &self.heap.keys(pattern).to_vec() {
            let member = match value {
                Value::Object(object) => self.heap.member(object, name).unwrap_or_default(),
                _ => Value::Unknown,
            };
            if declares { self.scopes.declare(name, member) } else { self.scopes.assign(name, member) }
        }
    }

    pub(crate) fn end_statement(&mut self) {
        let value = self.expression();
        let statement = self.frame().statement;
        self.frame().end_statement();
        let Some(operand) = value else { return };
        match statement {
            Statement::Return => self.return_value(operand),
            // A bare value, or what an assignment came to: it was dealt with.
            _ => self.note_use(operand),
        }
        if matches!(self.frame().kind, Level::Object { .. } | Level::Array { .. } | Level::Call { .. }) {
            self.mark_use(operand, Usage::Unclear);
        }
    }

    fn note_use(&mut self, operand: Operand) {
        if operand.reference.is_none() {
            self.mark_use(operand, Usage::Unclear);
        }
    }
}

fn is_known(value: Value) -> bool {
    !matches!(value, Value::Unknown | Value::Flag(_))
}

fn calculate(left: Value, sign: u8, right: Value) -> Value {
    let (Value::Number(left), Value::Number(right)) = (left, right) else { return Value::Unknown };
    let whole = |bits: fn(i32, i32) -> i32| f64::from(bits(left as i64 as i32, right as i64 as i32));
    Value::Number(match sign {
        b'-' => left - right,
        b'*' => left * right,
        b'/' => left / right,
        b'%' => left % right,
        b'^' => whole(|left, right| left ^ right),
        b'&' => whole(|left, right| left & right),
        b'|' => whole(|left, right| left | right),
        _ => return Value::Unknown,
    })
}
