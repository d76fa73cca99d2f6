//! Calls that build elements: `createElement` and methods of its result, and descriptions of elements for
//! React, Vue and similar libraries.

use std::sync::LazyLock;

use super::call::{Call, Outcome, Table, by_name};
use crate::script::effects::building::{
    CHILDREN_MAX, add_child, add_element, add_markup, add_plain, add_properties, set_attribute,
};
use crate::script::effects::properties::show_members;
use crate::script::encodings::has_tag;
use crate::script::memory::{ElementId, Memory, ObjectId, Operand, Usage, Value, is_tag};

/// Longer texts are not tags.
const TAG_BYTES_MAX: usize = 40;

/// Functions that create elements. `m` and `e` could be anything.
#[rustfmt::skip]
const FACTORIES: [&str; 18] = [
    "createElement", "h", "jsx", "jsxs", "_jsx", "_jsxs", "jsxDEV", "_jsxDEV", "_c", "hyperscript",
    "createVNode", "_createVNode", "createElementVNode", "_createElementVNode",
    "createElementBlock", "_createElementBlock", "createBlock", "_createBlock",
];
/// Properties that only an element has.
#[rustfmt::skip]
const ELEMENT_PROPERTIES: [&str; 11] = [
    "className", "class", "placeholder", "type", "children", "htmlFor",
    "onClick", "onChange", "onInput", "onSubmit", "autoComplete",
];

/// `createElement('input')`, or an element described in one call.
pub(super) fn new(memory: &mut Memory, call: &Call) -> Option<Operand> {
    let tag = match call.name {
        "createElement" if call.arguments.len() == 1 || call.base == "document" => call.argument(0),
        "createElementNS" => call.argument(1),
        "assign" if call.base == "Object" => return Some(assigned(memory, call)),
        _ => return described(memory, call),
    };
    let tag = tag_named(memory, tag)?;
    Some(Value::Element(add_element(memory, &tag)).into())
}

/// `Object.assign(element, {…})`.
fn assigned(memory: &mut Memory, call: &Call) -> Operand {
    match (call.argument(0), call.argument(1)) {
        (Value::Element(element), Value::Object(properties)) => add_properties(memory, element, properties),
        (Value::Object(whole), Value::Object(more)) => memory.copy_members(more, whole),
        (Value::Unknown, Value::Object(more)) => show_members(memory, more),
        _ => {}
    }
    call.argument(0).into()
}

fn tag_named(memory: &mut Memory, value: Value) -> Option<String> {
    tag_in(memory, value, |text| text)
}

/// `<input>` and nothing else, by which jQuery creates an element.
fn tag_in_brackets(memory: &mut Memory, value: Value) -> Option<String> {
    tag_in(memory, value, |text| {
        let inner = text.trim().strip_prefix('<').and_then(|text| text.strip_suffix('>')).unwrap_or_default();
        inner.trim_end_matches(['/', ' ']).split('>').next().unwrap_or_default()
    })
}

fn tag_in(memory: &mut Memory, value: Value, find: impl Fn(&str) -> &str) -> Option<String> {
    let text = value.as_text().filter(|&text| memory.texts.len(text) <= TAG_BYTES_MAX)?;
    let flat = memory.flat(text)?;
    let tag = Some(find(&flat)).filter(|tag| is_tag(tag))?.to_owned();
    memory.texts.mark(text, Usage::Consumed);
    Some(tag)
}

/// `createElement(Part, {…}, …)`: a component of the script returns markup for its properties. `None` if it
/// is not a function of the script, or its result is not known.
pub(super) fn component(memory: &mut Memory, call: &Call) -> Option<Outcome> {
    let function = call.function(0)?;
    if !FACTORIES.contains(&call.name) || !memory.functions.may_return_element(function) {
        return None;
    }
    let given = call.arguments.get(2..).unwrap_or(&[]);
    let properties = memory.heap.object();
    if let Value::Object(more) = call.argument(1) {
        memory.copy_members(more, properties);
    }
    if !given.is_empty() && !call.name.contains("jsx") && memory.budget.may_copy_items(given.len()) {
        let children = memory.heap.list(given.to_vec());
        let name = memory.names.id("children".into());
        memory.heap.set(properties, name, children);
    }
    Some(Outcome::call(function, &[Value::Object(properties)]))
}

/// `h('input', {…}, …)` by any name, recognized by its arguments.
pub(super) fn described(memory: &mut Memory, call: &Call) -> Option<Operand> {
    let is_factory = FACTORIES.contains(&call.name) || call.callee.value == Value::ElementFactory;
    let properties = call.argument(1).as_object();
    let tag = match call.argument(0) {
        text @ Value::Text(_) if matches!(call.name, "$" | "jQuery") => tag_in_brackets(memory, text)?,
        text @ Value::Text(_) if is_factory || properties.is_some_and(|object| describes(memory, object)) => {
            tag_named(memory, text)?
        }
        Value::Text(_) => return None,
        // The output of an unknown component is not known, but its children are.
        _ if is_factory && call.arguments.len() >= 2 => "div".to_owned(),
        _ => return None,
    };
    let element = add_element(memory, &tag);
    if let Some(properties) = properties {
        add_properties(memory, element, properties);
    }
    // In the newer form the third argument is a key, and the children are among the properties.
    if !call.name.contains("jsx") {
        let has_no_properties =
            properties.is_none() && !matches!(call.argument(1), Value::Unknown | Value::Flag(_));
        let takes_numbers = is_factory && !call.name.contains("VNode") && !call.name.contains("Block");
        let from = if has_no_properties { 1 } else { 2 };
        let children = call.arguments.get(from..).unwrap_or(&[]);
        // Compilers add numbers and lists of their own after the children.
        for &child in children.iter().take_while(|child| takes_numbers || child.as_number().is_none()) {
            add_child(memory, element, child);
        }
    }
    Some(Value::Element(element).into())
}

fn describes(memory: &Memory, object: ObjectId) -> bool {
    let mut keys = memory.heap.keys(object).iter().take(CHILDREN_MAX);
    keys.any(|&key| ELEMENT_PROPERTIES.contains(&memory.names.text(key)))
}

type ElementMethod = fn(&mut Memory, &Call, ElementId) -> Value;

/// A method of an element that the script built.
pub(super) fn call_method(memory: &mut Memory, call: &Call, element: ElementId) -> Operand {
    let method = METHODS.get(call.name).copied().unwrap_or(unknown_method);
    method(memory, call, element).into()
}

static METHODS: Table<ElementMethod> = LazyLock::new(|| {
    by_name::<ElementMethod>(&[
        (&["setAttribute"], |memory, call, element| {
            let name = call.text(0).and_then(|name| memory.flat(name)).unwrap_or_default();
            memory.mark_use(call.argument(0), Usage::Consumed);
            set_attribute(memory, element, &name, call.argument(1));
            Value::Unknown
        }),
        (&["append", "prepend", "after", "before"], append),
        (&["insertBefore", "replaceChildren"], add_children),
        (&["appendChild"], |memory, call, element| {
            add_children(memory, call, element);
            call.argument(0)
        }),
        (&["attr", "prop"], set_attributes),
        (&["text"], |memory, call, element| {
            add_child(memory, element, call.argument(0));
            Value::Element(element)
        }),
        (&["html"], |memory, call, element| {
            add_markup(memory, element, call.argument(0));
            Value::Element(element)
        }),
        (&["addClass", "css", "on", "val", "appendTo", "prependTo", "cloneNode"], |_, _, element| {
            Value::Element(element)
        }),
        (&["insertAdjacentHTML"], |memory, call, element| {
            add_markup(memory, element, call.argument(1));
            Value::Unknown
        }),
        (&["insertAdjacentText"], |memory, call, element| {
            add_child(memory, element, call.argument(1));
            Value::Unknown
        }),
    ])
});

/// The DOM adds a string as text, jQuery as markup. The string decides which is assumed.
fn append(memory: &mut Memory, call: &Call, element: ElementId) -> Value {
    for &child in call.arguments {
        match child {
            Value::Text(text) if memory.flat(text).is_some_and(|text| has_tag(&text)) => {
                add_markup(memory, element, child);
            }
            _ => add_child(memory, element, child),
        }
    }
    Value::Unknown
}

fn add_children(memory: &mut Memory, call: &Call, element: ElementId) -> Value {
    for &child in call.arguments {
        add_child(memory, element, child);
    }
    Value::Unknown
}

/// `attr(name, value)`, `attr({…})`.
fn set_attributes(memory: &mut Memory, call: &Call, element: ElementId) -> Value {
    match (call.text(0).and_then(|name| memory.flat(name)), call.argument(0)) {
        (Some(name), _) => set_attribute(memory, element, &name, call.argument(1)),
        (None, Value::Object(properties)) => add_plain(memory, element, properties),
        _ => {}
    }
    Value::Element(element)
}

fn unknown_method(memory: &mut Memory, call: &Call, _: ElementId) -> Value {
    for text in call.arguments.iter().filter_map(|argument| argument.as_text()) {
        if !memory.flat(text).is_some_and(|text| has_tag(&text)) {
            memory.texts.mark(text, Usage::Consumed);
        }
    }
    Value::Unknown
}
