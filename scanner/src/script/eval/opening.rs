//! Brackets that open.

use super::evaluator::Evaluator;
use super::expressions::end_statement;
use super::frame::{Expected, Level, Statement};
use super::functions::{add_function, begins_method, open_body};
use super::loops::begin_iterations;

pub(super) fn open_paren(eval: &mut Evaluator, at: usize) {
    let frame = eval.frame();
    match frame.expected {
        Expected::Head | Expected::Loop => {
            let kind = if frame.expected == Expected::Head { Level::Head } else { Level::Loop };
            frame.expected = Expected::Nothing;
            eval.push_frame(kind, at);
        }
        Expected::Function { name, is_declaration } => {
            let function = add_function(eval, at);
            eval.frame().expected = Expected::Body { function, name, is_declaration };
            eval.push_frame(Level::Params, at);
        }
        _ => match frame.operand.take() {
            Some(callee) => {
                let is_new = std::mem::take(&mut frame.is_new);
                eval.push_frame(Level::Call { callee, arguments: Vec::new(), is_new }, at);
            }
            None => eval.push_frame(Level::Group, at),
        },
    }
}

pub(super) fn open_square(eval: &mut Evaluator, at: usize) {
    match eval.frame().operand.take() {
        Some(object) => eval.push_frame(Level::Index { object }, at),
        None => eval.push_frame(Level::Array { items: Vec::new() }, at),
    }
}

pub(super) fn open_brace(eval: &mut Evaluator, at: usize) {
    let frame = eval.frame();
    if let Expected::Body { function, .. } = frame.expected {
        return open_body(eval, function, at);
    }
    let is_statement = frame.is_at_statement();
    let follows_value = frame.operand.is_some() && frame.statement != Statement::Import;
    let is_class = frame.expected == Expected::Class;
    if follows_value && !is_class && begins_method(eval, at) {
        return;
    }
    if is_statement || follows_value || is_class {
        let iteration = eval.frame().iteration.take();
        eval.drop_operand();
        if eval.frame().is_block() && !is_class {
            end_statement(eval);
        }
        eval.push_frame(Level::Block, at);
        return begin_iterations(eval, iteration, at);
    }
    let object = eval.memory.heap.object();
    eval.push_frame(Level::Object { object, key: None }, at);
}
