//! The words of the language: which begin something, and which are plain names.

use super::evaluator::Evaluator;
use super::frame::{Expected, Level, Statement};
use crate::script::memory::texts::Usage;
use crate::script::memory::values::{Base, Operand, Reference, Value};
use crate::script::syntax::tokens::{Kind, Token};

impl Evaluator<'_> {
    pub(crate) fn name(&mut self, token: Token, at: usize) {
        self.literals_read += usize::from(is_significant(token.text(self.source)));
        if self.is_after_dot(at) {
            let name = self.name_id(token);
            let object = self.frame().operand.take().unwrap_or_default();
            let member = self.member(object, name);
            self.frame().operand = Some(member);
            return;
        }
        if self.is_key(at) || !self.keyword(token.text(self.source), at) {
            self.plain_name(token);
        }
    }

    fn is_key(&mut self, at: usize) -> bool {
        let is_object = matches!(self.frame().kind, Level::Object { .. });
        is_object && self.frame().questions == 0 && self.tokens.kind(at + 1) == Some(Kind::Colon)
    }

    fn plain_name(&mut self, token: Token) {
        if self.frame().statement == Statement::Import && self.frame().is_block() {
            return;
        }
        match self.frame().expected {
            Expected::Function { name: None, is_declaration } => {
                let name = Some(self.name_id(token));
                self.frame().expected = Expected::Function { name, is_declaration };
            }
            Expected::Class => {}
            _ => {
                let name = self.name_id(token);
                let operand = self.add_place(name);
                self.push_value(operand);
            }
        }
    }

    /// Takes a word of the language for what it is; answers whether it was one.
    fn keyword(&mut self, word: &str, at: usize) -> bool {
        match word {
            "const" | "let" | "var" => {
                self.end_statement();
                self.frame().declares = true;
            }
            "function" => self.function_keyword(),
            "class" => self.frame().expected = Expected::Class,
            "if" | "while" | "switch" | "catch" | "with" => self.head(Expected::Head),
            "for" => self.head(Expected::Loop),
            "return" => self.begin_statement(Statement::Return),
            "throw" | "case" | "default" => self.begin_statement(Statement::Other),
            "import" => self.import(at),
            "export" => {
                self.end_statement();
                if matches!(self.tokens.kind(at + 1), Some(Kind::BraceOpen | Kind::Arithmetic)) {
                    self.frame().statement = Statement::Import;
                }
            }
            "else" | "do" | "try" | "finally" => self.end_statement(),
            "new" => self.frame().is_new = true,
            "typeof" | "void" | "delete" | "await" | "yield" | "async" | "extends" => {}
            "in" | "instanceof" => self.compare(),
            "of" if self.frame().operand.is_some() && matches!(self.frame().kind, Level::Loop) => {
                self.frame().operand = None;
                self.frame().declares = false;
            }
            "true" => self.push_value(Value::Flag(true).into()),
            "false" => self.push_value(Value::Flag(false).into()),
            "null" | "undefined" => self.push_value(Operand::default()),
            _ => return false,
        }
        true
    }

    fn function_keyword(&mut self) {
        let is_declaration = self.frame().is_at_statement();
        if self.frame().operand.is_some() {
            self.end_statement();
        }
        self.frame().expected = Expected::Function { name: None, is_declaration };
    }

    fn head(&mut self, expected: Expected) {
        self.end_statement();
        self.frame().expected = expected;
    }

    fn begin_statement(&mut self, statement: Statement) {
        self.end_statement();
        self.frame().statement = statement;
    }

    fn import(&mut self, at: usize) {
        if matches!(self.tokens.kind(at + 1), Some(Kind::ParenOpen | Kind::Dot)) {
            let name = self.names.id("import".into());
            return self.push_value(Operand {
                reference: Some(Reference { name, base: Base::None }),
                ..Operand::default()
            });
        }
        self.end_statement();
        self.frame().statement = Statement::Import;
    }

    /// Functions that are declared anywhere and once, since they may be called before they are read.
    pub(crate) fn find_declarations(&mut self) {
        for at in 0..self.tokens.len() {
            let Some(token) = self.tokens.get(at) else { break };
            if token.kind != Kind::Name || token.text(self.source) != "function" {
                continue;
            }
            let Some(name) = self.tokens.get(at + 1).filter(|next| next.kind == Kind::Name) else { continue };
            let name = self.name_id(name);
            let is_known = self.declared.contains_key(&name);
            self.declared.insert(name, (!is_known).then_some(at + 2));
        }
    }

    pub(crate) fn comma(&mut self) {
        let value = self.expression();
        match &mut self.frame().kind {
            Level::Call { .. } | Level::Array { .. } => self.add_item(value),
            Level::Object { .. } => self.add_entry(value),
            _ => {
                if let Some(value) = value {
                    self.mark_use(value, Usage::Unclear);
                }
            }
        }
    }
}

/// Names that make a function or a loop worth going through with the values that are known, as literals do.
fn is_significant(name: &str) -> bool {
    matches!(name, "fromCharCode" | "fromCodePoint" | "atob" | "unescape" | "decodeURIComponent" | "write")
        || matches!(name, "innerHTML" | "textContent" | "innerText" | "insertAdjacentHTML" | "createElement")
        || matches!(name, "append" | "createTextNode" | "escape" | "html" | "srcdoc")
        || matches!(name, "charCodeAt" | "codePointAt" | "charAt" | "parseInt" | "json" | "text")
}
