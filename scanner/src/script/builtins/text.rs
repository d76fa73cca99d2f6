//! Methods of strings. Only regular expressions that match a single text or a number of any characters are
//! supported. No others are matched, so that none can take long.

use std::sync::LazyLock;

use super::call::{Call, Table, by_name};
use crate::script::memory::{Memory, TextId, Usage, Value};

/// The maximum count of `repeat`. Pages for people need no more.
const REPEATS_MAX: usize = 1_000;

type TextMethod = fn(&mut Memory, &Call, TextId) -> Option<Value>;

pub(super) fn call(memory: &mut Memory, call: &Call, text: TextId) -> Option<Value> {
    METHODS.get(call.name).and_then(|method| method(memory, call, text))
}

static METHODS: Table<TextMethod> = LazyLock::new(|| {
    by_name::<TextMethod>(&[
        (
            &["toString", "valueOf", "normalize", "toLocaleString", "text", "padStart", "padEnd"],
            |_, _, text| Some(Value::Text(text)),
        ),
        (&["json"], |memory, _, text| Some(memory.parse_json(text))),
        (&["trim", "trimStart", "trimEnd"], |memory, _, text| {
            decoded(memory, text, |text| Some(text.trim().to_owned()))
        }),
        (&["toUpperCase", "toLocaleUpperCase"], |memory, _, text| {
            decoded(memory, text, |text| Some(text.to_uppercase()))
        }),
        (&["toLowerCase", "toLocaleLowerCase"], |memory, _, text| {
            decoded(memory, text, |text| Some(text.to_lowercase()))
        }),
        (&["concat"], |memory, call, text| {
            let parts = call.arguments.iter();
            Some(parts.fold(Value::Text(text), |whole, &part| memory.add(whole, part)))
        }),
        (&["repeat"], repeated),
        (&["split"], split),
        (&["replace", "replaceAll"], replaced),
        (&["slice", "substring", "substr"], cut),
        (&["charCodeAt", "codePointAt"], |memory, call, text| {
            char_at(memory, call, text).map(|letter| Value::Number(f64::from(u32::from(letter))))
        }),
        (&["charAt", "at"], |memory, call, text| {
            char_at(memory, call, text).map(|letter| memory.char_text(letter))
        }),
        (&["match"], |memory, call, text| match call.argument(0) {
            Value::AnyChars(size) => all_pieces(memory, text, size),
            _ => searched(memory, call, text),
        }),
        (&["matchAll"], |memory, call, text| match call.argument(0) {
            Value::AnyChars(size) => all_pieces(memory, text, size),
            _ => None,
        }),
        (&["includes", "indexOf", "lastIndexOf", "startsWith", "endsWith", "search"], searched),
    ])
});

/// The argument of a search in a string.
struct Needle {
    text: String,
    is_global: bool,
    is_caseless: bool,
}

impl Needle {
    fn of(memory: &mut Memory, value: Value) -> Option<Self> {
        let (text, is_global, is_caseless) = match value {
            Value::Text(text) => (text, false, false),
            Value::Pattern { text, is_global, is_caseless } => (text, is_global, is_caseless),
            _ => return None,
        };
        Some(Self { text: memory.flat(text)?, is_global, is_caseless })
    }

    /// Splits a text at each match.
    fn cut<'t>(&self, text: &'t str, cuts_max: usize) -> Vec<&'t str> {
        let fold = |text: &str| text.to_ascii_lowercase();
        let folded = if self.is_caseless { Some((fold(text), fold(&self.text))) } else { None };
        let (within, what) = folded.as_ref().map_or((text, &*self.text), |(text, what)| (text, what));
        let (mut parts, mut from) = (Vec::new(), 0);
        for (at, _) in within.match_indices(what).take(cuts_max) {
            parts.push(text.get(from..at).unwrap_or(""));
            from = at + what.len();
        }
        parts.push(text.get(from..).unwrap_or(""));
        parts
    }
}

pub(super) fn decoded(
    memory: &mut Memory,
    text: TextId,
    decode: impl Fn(&str) -> Option<String>,
) -> Option<Value> {
    let decoded = memory.flat(text).and_then(|text| decode(&text))?;
    Some(memory.derived(text, &decoded))
}

fn repeated(memory: &mut Memory, call: &Call, text: TextId) -> Option<Value> {
    let times = (call.number(0)?.max(0.0) as usize).min(REPEATS_MAX);
    if !memory.budget.has_left(memory.texts.len(text).saturating_mul(times)) {
        return Some(Value::Text(text));
    }
    let whole = memory.flat(text)?.repeat(times);
    Some(memory.derived(text, &whole))
}

fn char_at(memory: &mut Memory, call: &Call, text: TextId) -> Option<char> {
    memory.char_at(text, call.number(0).unwrap_or(0.0).max(0.0) as usize)
}

/// The removed text is not marked as consumed, because it may be inserted elsewhere.
fn cut(memory: &mut Memory, call: &Call, text: TextId) -> Option<Value> {
    let len = memory.char_count(text);
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
    let part = memory.substring(text, start, end.saturating_sub(start))?;
    Some(Value::Text(memory.texts.add(&part)))
}

/// The arguments of a search do not reach the page.
fn searched(memory: &mut Memory, call: &Call, _: TextId) -> Option<Value> {
    memory.consume_all(call.arguments);
    Some(Value::Unknown)
}

/// `match(/../g)`.
fn all_pieces(memory: &mut Memory, text: TextId, size: usize) -> Option<Value> {
    let pieces = pieces(memory, text, size)?;
    memory.texts.mark(text, Usage::Consumed);
    Some(memory.heap.list(pieces))
}

/// A string split into pieces of this many characters.
pub(super) fn pieces(memory: &mut Memory, text: TextId, size: usize) -> Option<Vec<Value>> {
    let letters: Vec<char> = memory.flat(text)?.chars().collect();
    if !memory.budget.may_copy_items(letters.len() / size.max(1)) {
        return None;
    }
    let pieces = letters.chunks(size.max(1)).map(|piece| piece.iter().collect::<String>());
    Some(pieces.map(|piece| Value::Text(memory.texts.add(&piece))).collect())
}

fn split(memory: &mut Memory, call: &Call, text: TextId) -> Option<Value> {
    let by = Needle::of(memory, call.argument(0))?;
    if by.text.is_empty() {
        let letters = memory.split_chars(text);
        return Some(memory.heap.list(letters));
    }
    let flat = memory.flat(text)?;
    let parts = by.cut(&flat, usize::MAX);
    if !memory.budget.may_copy_items(parts.len()) {
        return None;
    }
    let parts = parts.into_iter().map(|part| Value::Text(memory.texts.add(part))).collect();
    memory.texts.mark(text, Usage::Consumed);
    Some(memory.heap.list(parts))
}

fn replaced(memory: &mut Memory, call: &Call, text: TextId) -> Option<Value> {
    memory.consume_all(call.arguments);
    let Some(what) = Needle::of(memory, call.argument(0)).filter(|what| !what.text.is_empty()) else {
        return Some(Value::Text(text));
    };
    let by = match call.argument(1) {
        Value::Function(by) => memory.functions.result_of(by).and_then(Value::as_text),
        by => by.as_text(),
    };
    let by = by.map_or(Some(" ".to_owned()), |by| memory.flat(by))?;
    let flat = memory.flat(text)?;
    let is_every = what.is_global || call.name == "replaceAll";
    let parts = what.cut(&flat, if is_every { usize::MAX } else { 1 });
    let may_grow = flat.len().saturating_add(parts.len().saturating_mul(by.len()));
    if !memory.budget.may_copy(may_grow) {
        return Some(Value::Text(text));
    }
    Some(memory.derived(text, &parts.join(&by)))
}
