//! Calls that can be told from their arguments: what decodes, joins, cuts and turns strings and lists. What a call
//! does to the page is told elsewhere.

use crate::script::encodings;
use crate::script::eval::evaluator::Evaluator;
use crate::script::eval::functions::Purpose;
use crate::script::memory::texts::{TextId, Usage};
use crate::script::memory::values::{Base, FunctionId, ListId, NameId, Operand, Value};

/// `repeat`, `Array(n)`, `padStart`: more is for waste, not for people.
const REPEATS_MAX: usize = 1_000;
/// A document that is put together byte by byte.
const BYTES_MAX: usize = 100_000;

/// A call as it is understood: the last name of what is called and of what that is a member of.
pub(crate) struct Call<'a> {
    pub(crate) name: &'a str,
    pub(crate) base: &'a str,
    pub(crate) base_name: Option<NameId>,
    pub(crate) callee: Operand,
    pub(crate) arguments: &'a [Value],
    pub(crate) is_new: bool,
}

impl Call<'_> {
    pub(crate) fn argument(&self, at: usize) -> Value {
        self.arguments.get(at).copied().unwrap_or_default()
    }

    pub(crate) fn text(&self, at: usize) -> Option<TextId> {
        match self.argument(at) {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn number(&self, at: usize) -> Option<f64> {
        match self.argument(at) {
            Value::Number(number) => Some(number),
            _ => None,
        }
    }
}

impl Evaluator<'_> {
    /// What a call comes to; none when the answer comes later.
    pub(crate) fn call(&mut self, callee: Operand, arguments: Vec<Value>, is_new: bool) -> Option<Operand> {
        let reference = callee.reference;
        let name = reference.map_or(String::new(), |reference| self.names.text(reference.name).to_owned());
        let base_name = match reference.map(|reference| reference.base) {
            Some(Base::Named(base)) => Some(base),
            _ => None,
        };
        let base = base_name.map_or(String::new(), |base| self.names.text(base).to_owned());
        let call = Call { name: &name, base: &base, base_name, callee, arguments: &arguments, is_new };
        if let Value::Function(function) = callee.value {
            if let Some(element) = self.described_element(&call) {
                return Some(element);
            }
            return self.call_function(function, &arguments);
        }
        if let (true, Value::Function(function)) =
            (call.name == "from" && is_array(call.base), call.argument(1))
        {
            let items = match self.array_from(call.argument(0)) {
                Some(Value::List(list)) => self.copy_items(list),
                _ => return Some(self.result_of_unknown(function, Purpose::Map)),
            };
            return self.call_for_each(function, items, Purpose::Map, Value::Unknown);
        }
        if call.name == "fetch" {
            let result = self.fetch_file(&call);
            return Some(result.unwrap_or_else(|| self.page_call(&call)));
        }
        // What a promise comes to is known where what it began with is.
        if let ("then", Value::Function(function)) = (call.name, call.argument(0))
            && matches!(callee.owner, Value::Text(_) | Value::List(_) | Value::Object(_))
        {
            return self.call_function(function, &[callee.owner]);
        }
        if let Some((function, items, purpose)) = self.callback_call(&call) {
            return self.call_for_each(function, items, purpose, Value::Unknown);
        }
        if let Some(value) = self.global_call(&call) {
            return Some(value.into());
        }
        match callee.owner {
            Value::Text(text) => {
                if let Some(value) = self.text_call(&call, text) {
                    return Some(value.into());
                }
            }
            Value::Number(number) if call.name == "toString" => {
                return Some(self.to_radix(number, call.number(0)).into());
            }
            Value::List(list) => {
                if let Some(result) = self.list_call(&call, list) {
                    return result;
                }
            }
            Value::Function(function) => {
                if matches!(call.name, "call" | "apply" | "bind") {
                    return self.call_function(function, arguments.get(1..).unwrap_or(&[]));
                }
            }
            _ => {
                if let Some(result) = self.unknown_list_call(&call) {
                    return Some(result);
                }
            }
        }
        match self.component(&call) {
            Some((function, properties)) => self.call_function(function, &[properties]),
            None => Some(self.page_call(&call)),
        }
    }

    fn global_call(&mut self, call: &Call) -> Option<Value> {
        match call.name {
            "atob" => self.decoded(call.text(0)?, encodings::from_base64),
            "unescape" | "decodeURIComponent" | "decodeURI" => {
                self.decoded(call.text(0)?, |text| Some(encodings::from_percent(text)))
            }
            // Half of a way to decode UTF-8; the other half was done with it.
            "escape" | "encodeURIComponent" | "encodeURI" if call.base.is_empty() => Some(call.argument(0)),
            "String" if !call.is_new => Some(call.argument(0)),
            "raw" | "trustedHTML" | "createHTML" | "createScriptURL" => call.text(0).map(Value::Text),
            "fromCharCode" | "fromCodePoint" => self.from_char_codes(call.arguments),
            "apply" if is_from_code(self.owner_name(call)) => match call.argument(1) {
                Value::List(list) => {
                    let codes = self.copy_items(list);
                    self.from_char_codes(&codes)
                }
                _ => None,
            },
            "parseInt" | "Number" | "parseFloat" => self.parsed_number(call),
            "Array" => Some(self.list_of(call.number(0)?, REPEATS_MAX)),
            // What is kept, and what changes it.
            "useState" => Some(self.heap.list(vec![self.initial(call.argument(0)), Value::Unknown])),
            "freeze" | "seal" if call.base == "Object" => Some(call.argument(0)),
            "from" if is_array(call.base) => self.array_from(call.argument(0)),
            name if call.is_new && is_bytes(name) => match call.argument(0) {
                Value::Number(count) => Some(self.list_of(count, BYTES_MAX)),
                given => self.array_from(given),
            },
            "decode" => self.text_of_bytes(call.argument(0)),
            "keys" | "values" | "entries" if call.base == "Object" => self.object_parts(call),
            "URL" if call.is_new => Some(call.argument(0)),
            _ => None,
        }
    }

    /// What a file of the site answers that is fetched.
    fn fetch_file(&mut self, call: &Call) -> Option<Operand> {
        let address = self.flat(call.text(0)?)?;
        let bound = self.bound;
        let text = bound.file(&address).filter(|text| self.may_copy(text.len()))?;
        self.note_fetch(call);
        let text = self.texts.add(text);
        self.texts.mark(text, Usage::Consumed);
        Some(Value::Text(text).into())
    }

    /// Functions that strings are gone through with: `text.replace(/./g, turn)`, `[].map.call(text, turn)`.
    fn callback_call(&mut self, call: &Call) -> Option<(FunctionId, Vec<Value>, Purpose)> {
        match (call.name, call.argument(0), call.argument(1), call.callee.owner) {
            (
                "replace" | "replaceAll",
                Value::AnyChars(size),
                Value::Function(function),
                Value::Text(text),
            ) => Some((function, self.pieces(text, size)?, Purpose::Join)),
            ("call", Value::Text(text), Value::Function(function), _) if call.base == "map" => {
                Some((function, self.split_chars(text), Purpose::Map))
            }
            _ => None,
        }
    }

    /// `new TextDecoder().decode(bytes)`.
    fn text_of_bytes(&mut self, bytes: Value) -> Option<Value> {
        let Value::List(list) = bytes else { return None };
        let byte = |value: Value| match value {
            Value::Number(number) => Some(number as i64 as u8),
            _ => None,
        };
        let bytes: Vec<u8> = self.copy_items(list).into_iter().map(byte).collect::<Option<_>>()?;
        Some(Value::Text(self.texts.add(&String::from_utf8_lossy(&bytes))))
    }

    /// What a state begins with: a value, or what a function answers.
    fn initial(&self, given: Value) -> Value {
        match given {
            Value::Function(function) => self.result_of(function).unwrap_or_default(),
            value => value,
        }
    }

    fn owner_name(&self, call: &Call) -> &str {
        call.base_name.map_or("", |name| self.names.text(name))
    }

    fn decoded(&mut self, text: TextId, decode: impl Fn(&str) -> Option<String>) -> Option<Value> {
        let decoded = self.flat(text).and_then(|text| decode(&text))?;
        Some(self.derived(text, &decoded))
    }

    fn from_char_codes(&mut self, codes: &[Value]) -> Option<Value> {
        if codes.is_empty() || !self.may_copy(codes.len()) {
            return None;
        }
        let mut letter = |code: &Value| match code {
            Value::Number(code) if *code >= 0.0 => char::from_u32(*code as u32),
            Value::Text(code) => char::from_u32(encodings::number(self.flat(*code)?.trim())? as u32),
            _ => None,
        };
        let letters: Option<String> = codes.iter().map(&mut letter).collect();
        letters.map(|letters| Value::Text(self.texts.add(&letters)))
    }

    fn parsed_number(&mut self, call: &Call) -> Option<Value> {
        let text = match call.argument(0) {
            Value::Text(text) => self.flat(text)?,
            number => return Some(number),
        };
        let radix = call.number(1).unwrap_or(10.0) as u32;
        let parsed = if (2..=36).contains(&radix) && radix != 10 {
            i64::from_str_radix(text.trim(), radix).ok().map(|value| value as f64)
        } else {
            encodings::number(text.trim())
        };
        Some(parsed.map_or(Value::Unknown, Value::Number))
    }

    /// `code.toString(16)`.
    fn to_radix(&mut self, number: f64, radix: Option<f64>) -> Value {
        let text = match radix {
            Some(16.0) => format!("{:x}", number as i64),
            Some(8.0) => format!("{:o}", number as i64),
            Some(2.0) => format!("{:b}", number as i64),
            _ => crate::script::eval::members::number_text(number),
        };
        Value::Text(self.texts.add(&text))
    }

    fn list_of(&mut self, count: f64, count_max: usize) -> Value {
        let count = (count.max(0.0) as usize).min(count_max);
        let items = if self.may_copy_items(count) { vec![Value::Unknown; count] } else { Vec::new() };
        self.heap.list(items)
    }

    /// `Array.from(list)`, `Array.from({length: 12})`.
    fn array_from(&mut self, given: Value) -> Option<Value> {
        match given {
            Value::Object(object) => {
                let length = self.names.id("length".into());
                match self.heap.member(object, length)? {
                    Value::Number(count) => Some(self.list_of(count, REPEATS_MAX)),
                    _ => None,
                }
            }
            Value::Text(text) => {
                let letters = self.split_chars(text);
                Some(self.heap.list(letters))
            }
            Value::List(_) => Some(given),
            _ => None,
        }
    }

    fn object_parts(&mut self, call: &Call) -> Option<Value> {
        let Value::Object(object) = call.argument(0) else { return None };
        let count = self.heap.keys(object).len();
        if !self.may_copy_items(count) {
            return None;
        }
        let mut items = Vec::with_capacity(count);
        for (name, value) in self.heap.entries(object) {
            let name = self.names.text(name).to_owned();
            items.push(match call.name {
                "values" => value,
                "keys" => Value::Text(self.texts.add(&name)),
                _ => {
                    let name = Value::Text(self.texts.add(&name));
                    self.heap.list(vec![name, value])
                }
            });
        }
        Some(self.heap.list(items))
    }

    pub(crate) fn split_chars(&mut self, text: TextId) -> Vec<Value> {
        let len = self.texts.len(text);
        if !self.may_copy_items(len) {
            return Vec::new();
        }
        let flat = self.texts.flat(text, usize::MAX);
        flat.chars().map(|letter| Value::Text(self.texts.add_with(|buffer| buffer.push(letter)))).collect()
    }

    fn text_call(&mut self, call: &Call, text: TextId) -> Option<Value> {
        match call.name {
            "toString" | "valueOf" | "normalize" | "toLocaleString" | "text" => Some(Value::Text(text)),
            "json" => Some(self.data_in(text)),
            "trim" | "trimStart" | "trimEnd" => self.decoded(text, |text| Some(text.trim().to_owned())),
            "toUpperCase" | "toLocaleUpperCase" => self.decoded(text, |text| Some(text.to_uppercase())),
            "toLowerCase" | "toLocaleLowerCase" => self.decoded(text, |text| Some(text.to_lowercase())),
            "concat" => {
                let whole =
                    call.arguments.iter().fold(Value::Text(text), |whole, &part| self.add(whole, part));
                Some(whole)
            }
            "repeat" => self.repeated(text, call.number(0)?),
            "split" => self.split(text, call.argument(0)),
            "replace" | "replaceAll" => self.replaced(text, call),
            "slice" | "substring" | "substr" => self.cut(text, call),
            "charCodeAt" | "codePointAt" => {
                let at = call.number(0).unwrap_or(0.0).max(0.0) as usize;
                let letter = self.char_at(text, at)?;
                Some(Value::Number(f64::from(u32::from(letter))))
            }
            "charAt" | "at" => {
                let at = call.number(0).unwrap_or(0.0).max(0.0) as usize;
                let letter = self.char_at(text, at)?;
                Some(Value::Text(self.texts.add_with(|buffer| buffer.push(letter))))
            }
            "match" | "matchAll" if let Value::AnyChars(size) = call.argument(0) => {
                let pieces = self.pieces(text, size)?;
                self.texts.mark(text, Usage::Consumed);
                Some(self.heap.list(pieces))
            }
            "includes" | "indexOf" | "lastIndexOf" | "startsWith" | "endsWith" | "match" | "search" => {
                self.consume_all(call.arguments);
                Some(Value::Unknown)
            }
            "padStart" | "padEnd" => Some(Value::Text(text)),
            _ => None,
        }
    }

    pub(crate) fn consume_all(&mut self, values: &[Value]) {
        for &value in values {
            self.mark_use(value.into(), Usage::Consumed);
        }
    }

    fn repeated(&mut self, text: TextId, times: f64) -> Option<Value> {
        let times = (times.max(0.0) as usize).min(REPEATS_MAX);
        if self.texts.len(text).saturating_mul(times) > self.work_left {
            return Some(Value::Text(text));
        }
        let whole = self.flat(text)?.repeat(times);
        Some(self.derived(text, &whole))
    }

    fn cut(&mut self, text: TextId, call: &Call) -> Option<Value> {
        let len = self.char_count(text);
        let position = |at: Option<f64>, default: usize| match at {
            Some(at) if at < 0.0 => len.saturating_sub((-at) as usize),
            Some(at) => (at as usize).min(len),
            None => default,
        };
        let start = position(call.number(0), 0);
        let end = match (call.name, call.number(1)) {
            ("substr", Some(count)) => start.saturating_add(count.max(0.0) as usize),
            (_, end) => position(end, len),
        };
        let part = self.substring(text, start, end.saturating_sub(start))?;
        // What was cut away is not lost: it may be put in elsewhere.
        Some(Value::Text(self.texts.add(&part)))
    }

    fn list_call(&mut self, call: &Call, list: ListId) -> Option<Option<Operand>> {
        let value = match call.name {
            "join" => {
                let by = match call.argument(0) {
                    Value::Text(by) => self.flat(by)?,
                    _ => ",".to_owned(),
                };
                self.consume_all(call.arguments);
                let items = self.copy_items(list);
                Value::Text(self.join(&items, &by))
            }
            "toString" => self.text_of(Value::List(list), ",").map_or(Value::Unknown, Value::Text),
            "reverse" | "toReversed" => {
                let mut items = self.copy_items(list);
                items.reverse();
                self.heap.list(items)
            }
            "concat" => {
                let mut items = self.copy_items(list);
                for &more in call.arguments {
                    match more {
                        Value::List(more) => items.extend(self.copy_items(more)),
                        one => items.push(one),
                    }
                }
                self.heap.list(items)
            }
            "push" | "unshift" => {
                if let Some(items) = self.heap.items_mut(list) {
                    items.extend_from_slice(call.arguments);
                }
                Value::Unknown
            }
            "fill" => {
                let count = self.heap.items(list).len();
                let items =
                    if self.may_copy_items(count) { vec![call.argument(0); count] } else { Vec::new() };
                self.heap.list(items)
            }
            "keys" => {
                let count = self.heap.items(list).len().min(REPEATS_MAX);
                self.heap.list((0..count).map(|at| Value::Number(at as f64)).collect())
            }
            "slice" | "filter" | "sort" | "flat" | "toSorted" | "values" => Value::List(list),
            "entries" => {
                let items = self.copy_items(list);
                let pairs = items.into_iter().enumerate();
                let pairs =
                    pairs.map(|(at, item)| self.heap.list(vec![Value::Number(at as f64), item])).collect();
                self.heap.list(pairs)
            }
            "find" | "pop" | "shift" | "at" => self.one_of_list(list),
            "map" | "flatMap" | "forEach" | "reduce" => {
                let Value::Function(function) = call.argument(0) else {
                    // `map(Number)` and the like say the same in another way.
                    let items = if call.name == "map" { self.copy_items(list) } else { return None };
                    return Some(Some(self.heap.list(items).into()));
                };
                let items = self.copy_items(list);
                return Some(self.call_for_each(function, items, purpose(call.name), call.argument(1)));
            }
            _ => return None,
        };
        Some(Some(value.into()))
    }

    /// `map` and the like over what is not known, and `Array.from` with a function.
    fn unknown_list_call(&mut self, call: &Call) -> Option<Operand> {
        if call.name == "find" {
            self.note_lookup(call.base_name);
        }
        if !matches!(call.name, "map" | "flatMap" | "forEach" | "reduce") {
            return None;
        }
        let Value::Function(function) = call.argument(0) else { return None };
        Some(self.result_of_unknown(function, purpose(call.name)))
    }
}

fn purpose(name: &str) -> Purpose {
    match name {
        "forEach" => Purpose::ForEach,
        "reduce" => Purpose::Reduce,
        _ => Purpose::Map,
    }
}

fn is_array(name: &str) -> bool {
    name == "Array" || is_bytes(name)
}

fn is_bytes(name: &str) -> bool {
    matches!(name, "Uint8Array" | "Uint16Array" | "Int8Array" | "Uint8ClampedArray")
}

fn is_from_code(name: &str) -> bool {
    matches!(name, "fromCharCode" | "fromCodePoint")
}
