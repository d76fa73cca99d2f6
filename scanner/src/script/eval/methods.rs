//! Methods of objects and classes: `draw(i) {…}` without the word `function`. They are functions like any other, and
//! are known by their names where the script says `this`.

use super::evaluator::Evaluator;
use super::frame::Expected;
use crate::script::memory::texts::Usage;
use crate::script::memory::values::{Base, NameId, Operand, Reference, Value};
use crate::script::syntax::tokens::Kind;

impl Evaluator<'_> {
    /// A brace after what looked like a call: that was the head of a method. Answers whether it is one.
    pub(crate) fn begins_method(&mut self, at: usize) -> bool {
        let close = at.checked_sub(1).filter(|&close| self.tokens.kind(close) == Some(Kind::ParenClose));
        let head = close.and_then(|close| self.tokens.partner(close)).filter(|_| !self.is_too_deep());
        let Some(head) = head else { return false };
        let name = head.checked_sub(1).and_then(|before| self.tokens.get(before));
        let Some(name) = name.filter(|token| token.kind == Kind::Name) else { return false };
        if let Some(left) = self.frame().operand.take() {
            self.mark_use(left, Usage::Unclear);
        }
        if self.frame().is_block() {
            self.end_statement();
        }
        let function = self.add_function(head, head);
        let name = self.name_id(name);
        self.frame().expected = Expected::Method { name };
        self.open_body(function, at);
        true
    }

    pub(crate) fn end_method(&mut self, name: NameId, function: Value) {
        let this = self.names.id("this".into());
        self.scopes.set_member(this, name, function);
        let reference = Some(Reference { name, base: Base::None });
        self.frame().operand = Some(Operand { value: function, reference, owner: Value::Unknown });
    }
}
