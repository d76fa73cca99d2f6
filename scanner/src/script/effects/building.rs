//! Elements that a script builds, and what it puts into them.

use crate::script::memory::{Child, ElementId, Memory, ObjectId, Usage, Value, number_text};

/// The number of children of one element that are kept. Nobody reads more.
pub(crate) const CHILDREN_MAX: usize = 10_000;

pub(crate) fn add_element(memory: &mut Memory, tag: &str) -> ElementId {
    let order = memory.texts.next_order();
    memory.literals_read += 1;
    memory.page.elements.add(tag, order, memory.texts.reader())
}

pub(crate) fn set_attribute(memory: &mut Memory, element: ElementId, name: &str, value: Value) {
    let text = match value {
        Value::Text(text) => {
            memory.texts.mark(text, Usage::Consumed);
            memory.flat(text)
        }
        Value::Flag(true) => Some(String::new()),
        Value::Number(number) => Some(number_text(number)),
        _ => None,
    };
    if let Some(text) = text {
        memory.page.elements.set(element, name, &text);
    }
}

pub(crate) fn add_properties(memory: &mut Memory, element: ElementId, properties: ObjectId) {
    for (name, value) in memory.copy_entries(properties) {
        let name = memory.names.text(name).to_owned();
        match (&*name, value) {
            ("children", _) => add_child(memory, element, value),
            ("dangerouslySetInnerHTML", Value::Object(inner)) => {
                let html = memory.member_named(inner, "__html").unwrap_or_default();
                add_markup(memory, element, html);
            }
            // The names that the page's own factories use.
            ("innerHTML" | "html", _) => add_markup(memory, element, value),
            ("textContent" | "innerText" | "text", _) => add_child(memory, element, value),
            ("attrs" | "props" | "domProps", Value::Object(inner)) => add_plain(memory, element, inner),
            ("key" | "ref", _) => {}
            _ => set_attribute(memory, element, &name, value),
        }
    }
}

/// Properties one level down, as in Vue 2.
pub(crate) fn add_plain(memory: &mut Memory, element: ElementId, properties: ObjectId) {
    for (name, value) in memory.copy_entries(properties) {
        let name = memory.names.text(name).to_owned();
        match &*name {
            "innerHTML" => add_markup(memory, element, value),
            "textContent" => add_child(memory, element, value),
            _ => set_attribute(memory, element, &name, value),
        }
    }
}

pub(crate) fn add_markup(memory: &mut Memory, element: ElementId, value: Value) {
    if let Value::Text(text) = value {
        memory.texts.absorb(text);
        memory.page.elements.append(element, Child::Markup(text));
    }
}

pub(crate) fn add_child(memory: &mut Memory, element: ElementId, value: Value) {
    match value {
        Value::Text(text) => {
            memory.texts.mark(text, Usage::Shown);
            memory.page.elements.append(element, Child::Text(text));
        }
        Value::Number(_) => {
            let text = memory.text_of(value, "");
            memory.page.elements.append(element, Child::Text(text));
        }
        Value::Element(child) => memory.page.elements.append(element, Child::Element(child)),
        Value::List(list) => {
            let items = memory.copy_items(list);
            for &item in items.iter().take(CHILDREN_MAX) {
                let leaves = match item {
                    Value::List(inner) => memory.copy_items(inner),
                    leaf => vec![leaf],
                };
                for leaf in leaves.into_iter().filter(|leaf| !matches!(leaf, Value::List(_))) {
                    add_child(memory, element, leaf);
                }
            }
        }
        _ => {}
    }
}
