//! Calls that act on the page: they write, show, fetch or run their arguments.

use std::sync::LazyLock;

use super::call::{Call, Table, by_name};
use super::elements;
use super::requests::note_fetch;
use crate::script::effects::output::{fetch, show, show_on_field, write};
use crate::script::effects::properties::show_members;
use crate::script::encodings::{escape, has_tag};
use crate::script::memory::{Base, Memory, Operand, TextId, Usage, Value};

/// The effect of a call on the page.
type Effect = fn(&mut Memory, &Call);
/// The same with a result. `None` if the arguments do not fit.
type PageCall = fn(&mut Memory, &Call) -> Option<Operand>;

/// A call of something that the script does not define.
pub(super) fn call(memory: &mut Memory, call: &Call) -> Operand {
    if let Value::Element(element) = call.callee.owner {
        return elements::call_method(memory, call, element);
    }
    if let Some(element) = elements::new(memory, call) {
        return element;
    }
    if let Some(effect) = EFFECTS.get(call.name) {
        effect(memory, call);
        return chained(call);
    }
    if let Some(result) = CALLS.get(call.name).and_then(|known| known(memory, call)) {
        return result;
    }
    if call.name.to_ascii_lowercase().contains("escape") {
        return escaped(memory, call.argument(0));
    }
    unknown_call(memory, call)
}

static EFFECTS: Table<Effect> = LazyLock::new(|| {
    by_name::<Effect>(&[
        (
            &["html", "setHTMLUnsafe", "setHTML", "createContextualFragment", "parseFromString", "parseHTML"],
            |memory, call| write(memory, call.argument(0)),
        ),
        (&["insertAdjacentHTML"], |memory, call| add_to(memory, call, call.argument(1))),
        (&["insertAdjacentText"], |memory, call| show(memory, call.argument(1))),
        (&["append", "prepend", "after", "before", "replaceWith"], append),
        // The question is treated as the label of a field. The answer is not known.
        (&["prompt"], |memory, call| show_on_field(memory, "aria-label", call.argument(0))),
        (&["setAttribute", "attr", "prop", "setAttributeNS"], set_attribute),
        (&["writeText", "setValue", "is", "test", "Error", "TypeError", "RangeError"], consume),
        (
            &["includes", "indexOf", "lastIndexOf", "startsWith", "endsWith", "matches", "split", "search"],
            consume,
        ),
        (&["replace", "replaceAll", "match"], |memory, call| {
            memory.mark_use(call.argument(0), Usage::Consumed);
            memory.mark_use(call.argument(1), Usage::Unclear);
        }),
        (&["eval", "Function", "setTimeout", "setInterval", "execScript"], run_inner),
    ])
});

static CALLS: Table<PageCall> = LazyLock::new(|| {
    by_name::<PageCall>(&[
        (&["write", "writeln"], |memory, call| {
            let is_page = !matches!(call.base, "clipboard" | "res" | "response" | "stdout");
            effect_if(memory, call, is_page, document_write)
        }),
        (&["Blob", "File"], |memory, call| effect_if(memory, call, call.is_new, blob)),
        (&["text", "val"], |memory, call| {
            let is_setter = call.arguments.len() == 1;
            effect_if(memory, call, is_setter, |memory, call| show(memory, call.argument(0)))
        }),
        (&["log", "info", "warn", "error", "debug", "table", "dir"], |memory, call| {
            effect_if(memory, call, call.base == "console", consume)
        }),
        (&["createTextNode", "alert", "confirm"], |memory, call| {
            show(memory, call.argument(0));
            Some(call.argument(0).into())
        }),
        (&["getAttribute", "data"], data_attribute),
        (&["parse"], parse_json),
    ])
});

fn effect_if(memory: &mut Memory, call: &Call, is_meant: bool, effect: Effect) -> Option<Operand> {
    is_meant.then(|| {
        effect(memory, call);
        chained(call)
    })
}

/// jQuery methods return the object that they were called on.
fn chained(call: &Call) -> Operand {
    let reference = call.callee.reference.filter(|_| call.base.starts_with('$'));
    Operand { reference, ..Operand::default() }
}

fn consume(memory: &mut Memory, call: &Call) {
    memory.consume_all(call.arguments);
}

fn document_write(memory: &mut Memory, call: &Call) {
    for &value in call.arguments {
        let part = memory.text_of(value, ",");
        memory.page.written = Some(match memory.page.written {
            Some(before) => memory.texts.sum(before, part),
            None => part,
        });
    }
}

/// `element.getAttribute('data-form')`, `$(element).data('form')`.
fn data_attribute(memory: &mut Memory, call: &Call) -> Option<Operand> {
    let name = memory.flat(call.text(0)?).unwrap_or_default();
    memory.consume_all(call.arguments);
    let held = memory.bound.held(name.strip_prefix("data-").unwrap_or(&name));
    Some(held.and_then(|held| memory.import(held)).unwrap_or_default().into())
}

/// Values that are added to the same target form one text.
fn add_to(memory: &mut Memory, call: &Call, value: Value) {
    let (Some(base), Value::Text(part), false) = (call.base_name, value, memory.is_reading_superseded())
    else {
        return write(memory, value);
    };
    let name = memory.names.id("innerHTML".into());
    let whole = match memory.scopes.member(base, name) {
        Some(Value::Text(before)) => {
            memory.texts.absorb(before);
            memory.texts.sum(before, part)
        }
        _ => part,
    };
    memory.texts.mark(whole, Usage::Written);
    memory.scopes.set_member(base, name, Value::Text(whole));
}

/// In the DOM these show text, in jQuery they write markup. The text decides which is assumed.
fn append(memory: &mut Memory, call: &Call) {
    for &value in call.arguments {
        match value {
            Value::Text(text) if is_shown(memory, text) => {}
            Value::Text(text) => {
                let is_markup = memory.flat(text).is_some_and(|text| has_tag(&text));
                if is_markup { add_to(memory, call, value) } else { show(memory, value) }
            }
            other => memory.mark_use(other, Usage::Unclear),
        }
    }
}

fn is_shown(memory: &Memory, text: TextId) -> bool {
    memory.texts.record(text).is_some_and(|record| record.has(Usage::Shown))
}

fn blob(memory: &mut Memory, call: &Call) {
    if let Value::List(list) = call.argument(0) {
        let items = memory.copy_items(list);
        let whole = memory.join(&items, "");
        memory.texts.mark(whole, Usage::Unclear);
    }
}

fn set_attribute(memory: &mut Memory, call: &Call) {
    if let Value::Object(attributes) = call.argument(0) {
        return show_members(memory, attributes);
    }
    let at = usize::from(call.name == "setAttributeNS");
    let name = call.text(at).and_then(|name| memory.flat(name)).unwrap_or_default();
    let value = call.argument(at + 1);
    memory.mark_use(call.argument(0), Usage::Consumed);
    match &*name {
        "srcdoc" => write(memory, value),
        "src" | "data" => fetch(memory, value),
        "placeholder" | "aria-placeholder" => show_on_field(memory, &name, value),
        "aria-label" | "title" | "alt" => show(memory, value),
        _ => memory.mark_use(value, Usage::Consumed),
    }
}

fn run_inner(memory: &mut Memory, call: &Call) {
    for text in call.arguments.iter().filter_map(|argument| argument.as_text()) {
        if let Some(inner) = memory.flat(text) {
            memory.texts.mark(text, Usage::Consumed);
            memory.page.scripts.push((text.order(), inner));
        }
    }
}

fn parse_json(memory: &mut Memory, call: &Call) -> Option<Operand> {
    if call.base != "JSON" {
        return None;
    }
    let Some((text, inner)) = call.text(0).and_then(|text| Some((text, memory.flat(text)?))) else {
        return Some(Operand::default());
    };
    memory.texts.mark(text, Usage::Consumed);
    memory.page.data.push((text.order(), inner));
    Some(memory.parse_json(text).into())
}

fn escaped(memory: &mut Memory, value: Value) -> Operand {
    memory.mark_use(value, Usage::Shown);
    let Value::Text(text) = value else { return Operand::default() };
    let mut out = String::new();
    if let Some(flat) = memory.flat(text) {
        escape(&flat, &mut out);
    }
    Value::Text(memory.texts.add(&out)).into()
}

/// The arguments may be used for anything. The result is named after what the call looks up.
fn unknown_call(memory: &mut Memory, call: &Call) -> Operand {
    note_fetch(memory, call);
    let is_search = matches!(call.name, "getElementById" | "querySelector" | "$" | "jQuery" | "$$");
    let named = call.text(0).filter(|_| is_search && call.arguments.len() == 1);
    if let Some(text) = named
        && !memory.flat(text).is_some_and(|text| has_tag(&text))
    {
        let mut selector = memory.flat(text).unwrap_or_default();
        if call.name == "getElementById" {
            selector.insert(0, '#');
        }
        memory.texts.mark(text, Usage::Consumed);
        return Operand::named(memory.names.id(selector.into()));
    }
    let is_node = matches!(call.name, "appendChild" | "insertBefore" | "replaceChild" | "replaceChildren");
    for &value in call.arguments {
        // The content of a text node stays text.
        if !is_node || !value.as_text().is_some_and(|text| is_shown(memory, text)) {
            memory.mark_use(value, Usage::Unclear);
        }
    }
    // A caller that knows the function by name shows or writes the function's result.
    let reference = call.callee.reference.filter(|reference| reference.base == Base::None);
    Operand { reference, ..Operand::default() }
}
