//! Functions and constructors that are identified by name alone: those that decode and convert.

use std::sync::LazyLock;

use super::call::{Call, Outcome, Purpose, Table, by_name, result_of_unknown};
use super::requests::fetch_file;
use super::text::{decoded, pieces};
use crate::script::encodings;
use crate::script::memory::{Memory, Value};

/// The maximum length of `Array(n)`. Pages for people need no more.
const ARRAY_ITEMS_MAX: usize = 1_000;
/// The maximum size of a document that is composed byte by byte.
const BYTES_MAX: usize = 100_000;

const TYPED_ARRAYS: [&str; 4] = ["Uint8Array", "Uint16Array", "Int8Array", "Uint8ClampedArray"];

type Global = fn(&mut Memory, &Call) -> Option<Outcome>;

pub(super) fn call(memory: &mut Memory, call: &Call) -> Option<Outcome> {
    GLOBALS.get(call.name).and_then(|global| global(memory, call))
}

static GLOBALS: Table<Global> = LazyLock::new(|| {
    by_name::<Global>(&[
        (&["atob"], |memory, call| decoded(memory, call.text(0)?, encodings::from_base64).map(Outcome::from)),
        (&["unescape", "decodeURIComponent", "decodeURI"], |memory, call| {
            decoded(memory, call.text(0)?, |text| Some(encodings::from_percent(text))).map(Outcome::from)
        }),
        // Half of a common idiom for decoding UTF-8. `unescape` does both halves.
        (&["escape", "encodeURIComponent", "encodeURI"], |_, call| same_if(call, call.base.is_empty())),
        (&["String"], |_, call| same_if(call, !call.is_new)),
        (&["URL"], |_, call| same_if(call, call.is_new)),
        (&["freeze", "seal"], |_, call| same_if(call, call.base == "Object")),
        (&["raw", "trustedHTML", "createHTML", "createScriptURL"], |_, call| {
            same_if(call, call.text(0).is_some())
        }),
        (&["fromCharCode", "fromCodePoint"], |memory, call| from_char_codes(memory, call.arguments)),
        (&["apply"], apply_char_codes),
        (&["call"], map_chars),
        (&["parseInt", "Number", "parseFloat"], parsed_number),
        (&["Array"], |memory, call| Some(array_of(memory, call.number(0)?, ARRAY_ITEMS_MAX).into())),
        (&["from"], array_from),
        (&TYPED_ARRAYS, typed_array),
        (&["decode"], text_of_bytes),
        (&["keys", "values", "entries"], object_parts),
        (&["useState"], use_state),
        (&["fetch"], fetch_file),
        (&["then"], then),
        (&["replace", "replaceAll"], replace_with_function),
    ])
});

fn same_if(call: &Call, is_known: bool) -> Option<Outcome> {
    is_known.then(|| call.argument(0).into())
}

fn from_char_codes(memory: &mut Memory, codes: &[Value]) -> Option<Outcome> {
    if codes.is_empty() || !memory.budget.may_copy(codes.len()) {
        return None;
    }
    let mut letter = |code: &Value| match code {
        Value::Number(code) if *code >= 0.0 => char::from_u32(*code as u32),
        Value::Text(code) => char::from_u32(encodings::number(memory.flat(*code)?.trim())? as u32),
        _ => None,
    };
    let letters: Option<String> = codes.iter().map(&mut letter).collect();
    letters.map(|letters| Value::Text(memory.texts.add(&letters)).into())
}

/// `String.fromCharCode.apply(null, codes)`.
fn apply_char_codes(memory: &mut Memory, call: &Call) -> Option<Outcome> {
    match call.argument(1) {
        Value::List(list) if matches!(call.base, "fromCharCode" | "fromCodePoint") => {
            let codes = memory.copy_items(list);
            from_char_codes(memory, &codes)
        }
        _ => None,
    }
}

/// `[].map.call(text, convert)`.
fn map_chars(memory: &mut Memory, call: &Call) -> Option<Outcome> {
    let function = call.function(1).filter(|_| call.base == "map")?;
    let text = call.text(0)?;
    Some(Outcome::map(function, memory.split_chars(text)))
}

/// `text.replace(/./g, convert)`.
fn replace_with_function(memory: &mut Memory, call: &Call) -> Option<Outcome> {
    match (call.argument(0), call.function(1), call.callee.owner) {
        (Value::AnyChars(size), Some(function), Value::Text(text)) => {
            let items = pieces(memory, text, size)?;
            Some(Outcome::CallEach { function, items, purpose: Purpose::Join, first: Value::Unknown })
        }
        _ => None,
    }
}

/// The result of a promise is known if its initial value is.
fn then(_: &mut Memory, call: &Call) -> Option<Outcome> {
    let owner = call.callee.owner;
    let is_known = matches!(owner, Value::Text(_) | Value::List(_) | Value::Object(_));
    call.function(0).filter(|_| is_known).map(|function| Outcome::call(function, &[owner]))
}

fn parsed_number(memory: &mut Memory, call: &Call) -> Option<Outcome> {
    let text = match call.argument(0) {
        Value::Text(text) => memory.flat(text)?,
        number => return Some(number.into()),
    };
    let radix = call.number(1).unwrap_or(10.0) as u32;
    let parsed = if (2..=36).contains(&radix) && radix != 10 {
        i64::from_str_radix(text.trim(), radix).ok().map(|value| value as f64)
    } else {
        encodings::number(text.trim())
    };
    Some(parsed.map_or(Value::Unknown, Value::Number).into())
}

fn array_of(memory: &mut Memory, count: f64, count_max: usize) -> Value {
    memory.list_of(Value::Unknown, (count.max(0.0) as usize).min(count_max))
}

/// `Array.from(list)`, `Array.from(list, convert)`.
fn array_from(memory: &mut Memory, call: &Call) -> Option<Outcome> {
    if call.base != "Array" && !TYPED_ARRAYS.contains(&call.base) {
        return None;
    }
    let items = listed(memory, call.argument(0));
    match (call.function(1), items) {
        (None, items) => items.map(Outcome::from),
        (Some(function), Some(Value::List(list))) => Some(Outcome::map(function, memory.copy_items(list))),
        (Some(function), _) => Some(result_of_unknown(memory, function, Purpose::Map).into()),
    }
}

fn typed_array(memory: &mut Memory, call: &Call) -> Option<Outcome> {
    match call.argument(0) {
        _ if !call.is_new => None,
        Value::Number(count) => Some(array_of(memory, count, BYTES_MAX).into()),
        given => listed(memory, given).map(Outcome::from),
    }
}

/// The list that `Array.from` makes of a list, a string or `{length: 12}`.
fn listed(memory: &mut Memory, given: Value) -> Option<Value> {
    match given {
        Value::Object(object) => {
            let count = memory.member_named(object, "length")?.as_number()?;
            Some(array_of(memory, count, ARRAY_ITEMS_MAX))
        }
        Value::Text(text) => {
            let letters = memory.split_chars(text);
            Some(memory.heap.list(letters))
        }
        Value::List(_) => Some(given),
        _ => None,
    }
}

/// `new TextDecoder().decode(bytes)`.
fn text_of_bytes(memory: &mut Memory, call: &Call) -> Option<Outcome> {
    let Value::List(list) = call.argument(0) else { return None };
    let items = memory.copy_items(list).into_iter();
    let bytes: Option<Vec<u8>> = items.map(|item| item.as_number().map(|byte| byte as i64 as u8)).collect();
    Some(Value::Text(memory.texts.add(&String::from_utf8_lossy(&bytes?))).into())
}

/// The parts of an object that `Object.keys` and the like list.
fn object_parts(memory: &mut Memory, call: &Call) -> Option<Outcome> {
    let object = call.argument(0).as_object().filter(|_| call.base == "Object")?;
    if !memory.budget.may_copy_items(memory.heap.keys(object).len()) {
        return None;
    }
    let mut items = Vec::new();
    for (name, value) in memory.heap.entries(object) {
        let mut key = || Value::Text(memory.texts.add(memory.names.text(name)));
        items.push(match call.name {
            "values" => value,
            "keys" => key(),
            _ => {
                let pair = vec![key(), value];
                memory.heap.list(pair)
            }
        });
    }
    Some(memory.heap.list(items).into())
}

/// A state and its setter. The state begins with a value or with the result of a function.
fn use_state(memory: &mut Memory, call: &Call) -> Option<Outcome> {
    let initial = match call.argument(0) {
        Value::Function(function) => memory.functions.result_of(function).unwrap_or_default(),
        value => value,
    };
    Some(memory.heap.list(vec![initial, Value::Unknown]).into())
}
