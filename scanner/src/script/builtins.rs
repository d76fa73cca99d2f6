//! Calls of functions that the language, the browser and well-known libraries define, as tables from a name
//! to a function. A function returns `None` if its arguments do not fit, and the next table is tried.

mod call;
mod elements;
mod globals;
mod lists;
mod page;
mod requests;
mod text;

pub(crate) use call::{Call, Outcome, Purpose, result_of_unknown};

use super::memory::{Memory, Value, number_text};

/// Returns the result of a call, or the function of the script that has to be called for it.
pub(crate) fn call(memory: &mut Memory, call: &Call) -> Outcome {
    if let Value::Function(function) = call.callee.value {
        let element = elements::described(memory, call).map(Outcome::from);
        return element.unwrap_or_else(|| Outcome::call(function, call.arguments));
    }
    globals::call(memory, call)
        .or_else(|| method(memory, call))
        .or_else(|| elements::component(memory, call))
        .unwrap_or_else(|| page::call(memory, call).into())
}

/// A call of a method of a known value.
fn method(memory: &mut Memory, call: &Call) -> Option<Outcome> {
    match call.callee.owner {
        Value::Text(text) => text::call(memory, call, text).map(Outcome::from),
        Value::Number(number) if call.name == "toString" => {
            Some(in_radix(memory, number, call.number(0)).into())
        }
        Value::List(list) => lists::call(memory, call, list),
        Value::Function(function) => {
            let arguments = call.arguments.get(1..).unwrap_or(&[]);
            matches!(call.name, "call" | "apply" | "bind").then(|| Outcome::call(function, arguments))
        }
        _ => lists::call_on_unknown(memory, call),
    }
}

/// `code.toString(16)`.
fn in_radix(memory: &mut Memory, number: f64, radix: Option<f64>) -> Value {
    let text = match radix {
        Some(16.0) => format!("{:x}", number as i64),
        Some(8.0) => format!("{:o}", number as i64),
        Some(2.0) => format!("{:b}", number as i64),
        _ => number_text(number),
    };
    Value::Text(memory.texts.add(&text))
}
