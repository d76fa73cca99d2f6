//! Keywords and names.

use super::evaluator::Evaluator;
use super::expressions::{end_statement, push_value};
use super::frame::{Expected, Level, Statement};
use super::functions::variable;
use super::members::member;
use super::operators::compare;
use crate::script::memory::{Operand, Value};
use crate::script::syntax::{Token, TokenKind};

/// Names that make a function or a loop worth repeating with known values, as literals do.
#[rustfmt::skip]
const SIGNIFICANT: [&str; 22] = [
    "fromCharCode", "fromCodePoint", "atob", "unescape", "decodeURIComponent", "write", "innerHTML", "textContent",
    "innerText", "insertAdjacentHTML", "createElement", "append", "createTextNode", "escape", "html", "srcdoc",
    "charCodeAt", "codePointAt", "charAt", "parseInt", "json", "text",
];

pub(super) fn name(eval: &mut Evaluator, token: Token, at: usize) {
    let text = eval.tokens.text(token);
    eval.memory.literals_read += usize::from(SIGNIFICANT.contains(&text));
    if eval.tokens.is_after(at, TokenKind::Dot) {
        let name = eval.name_id(token);
        let object = eval.frame().operand.take().unwrap_or_default();
        let member = member(eval, object, name);
        eval.frame().operand = Some(member);
        return;
    }
    if is_key(eval, at) || !keyword(eval, text, at) {
        plain_name(eval, token);
    }
}

fn is_key(eval: &mut Evaluator, at: usize) -> bool {
    let is_object = matches!(eval.frame().kind, Level::Object { .. });
    is_object && eval.frame().questions == 0 && eval.tokens.kind(at + 1) == Some(TokenKind::Colon)
}

fn plain_name(eval: &mut Evaluator, token: Token) {
    if eval.frame().statement == Statement::Import && eval.frame().is_block() {
        return;
    }
    match eval.frame().expected {
        Expected::Function { name: None, is_declaration } => {
            let name = Some(eval.name_id(token));
            eval.frame().expected = Expected::Function { name, is_declaration };
        }
        Expected::Class => {}
        _ => {
            let name = eval.name_id(token);
            let operand = variable(eval, name);
            push_value(eval, operand);
        }
    }
}

/// Processes a keyword. Returns whether the word is one.
fn keyword(eval: &mut Evaluator, word: &str, at: usize) -> bool {
    match word {
        "const" | "let" | "var" => {
            end_statement(eval);
            eval.frame().declares = true;
        }
        "function" => function_keyword(eval),
        "class" => eval.frame().expected = Expected::Class,
        "if" | "while" | "switch" | "catch" | "with" => head(eval, Expected::Head),
        "for" => head(eval, Expected::Loop),
        "return" => begin_statement(eval, Statement::Return),
        "throw" | "case" | "default" => begin_statement(eval, Statement::Other),
        "import" => import(eval, at),
        "export" => {
            end_statement(eval);
            if matches!(eval.tokens.kind(at + 1), Some(TokenKind::BraceOpen | TokenKind::Arithmetic)) {
                eval.frame().statement = Statement::Import;
            }
        }
        "else" | "do" | "try" | "finally" => end_statement(eval),
        "new" => eval.frame().is_new = true,
        "typeof" | "void" | "delete" | "await" | "yield" | "async" | "extends" => {}
        "in" | "instanceof" => compare(eval),
        "of" if eval.frame().operand.is_some() && matches!(eval.frame().kind, Level::Loop) => {
            eval.frame().operand = None;
            eval.frame().declares = false;
        }
        "true" => push_value(eval, Value::Flag(true).into()),
        "false" => push_value(eval, Value::Flag(false).into()),
        "null" | "undefined" => push_value(eval, Operand::default()),
        _ => return false,
    }
    true
}

fn function_keyword(eval: &mut Evaluator) {
    let is_declaration = eval.frame().is_at_statement();
    if eval.frame().operand.is_some() {
        end_statement(eval);
    }
    eval.frame().expected = Expected::Function { name: None, is_declaration };
}

fn head(eval: &mut Evaluator, expected: Expected) {
    end_statement(eval);
    eval.frame().expected = expected;
}

fn begin_statement(eval: &mut Evaluator, statement: Statement) {
    end_statement(eval);
    eval.frame().statement = statement;
}

fn import(eval: &mut Evaluator, at: usize) {
    if matches!(eval.tokens.kind(at + 1), Some(TokenKind::ParenOpen | TokenKind::Dot)) {
        let name = eval.memory.names.id("import".into());
        return push_value(eval, Operand::named(name));
    }
    end_statement(eval);
    eval.frame().statement = Statement::Import;
}
