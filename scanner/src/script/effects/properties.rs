//! Properties that a script sets.

use super::building::set_attribute;
use super::output::{fetch, show, show_address, show_on_field, show_plain, write};
use crate::script::memory::{Base, Child, ElementId, Memory, NameId, ObjectId, Reference, Usage, Value};

/// `reference = value`, or with a current value `reference += more`.
pub(crate) fn set_property(
    memory: &mut Memory,
    reference: Reference,
    owner: Value,
    current: Value,
    value: Value,
) {
    let name = memory.names.text(reference.name).to_owned();
    if let Value::Element(element) = owner {
        return set_on_element(memory, element, &name, value);
    }
    if let Value::Text(before) = current
        && is_markup_property(&name)
        && !memory.is_reading_superseded()
    {
        memory.texts.absorb(before);
    }
    match &*name {
        "title" if matches!(reference.base, Base::Named(base) if memory.names.text(base) == "document") => {
            if let Value::Text(text) = value {
                memory.texts.mark(text, Usage::Consumed);
                memory.page.titles.push(text);
            }
        }
        _ if is_markup_property(&name) => write(memory, value),
        "placeholder" => show_on_field(memory, &name, value),
        _ if is_text_property(&name) => show(memory, value),
        "value" | "defaultValue" | "className" | "cssText" | "id" | "href" | "type" | "name" => {
            memory.mark_use(value, Usage::Shown);
        }
        "src" | "data" => show_address(memory, value),
        _ => {}
    }
    match (owner, reference.base) {
        (Value::Object(object), _) => memory.heap.set(object, reference.name, value),
        (Value::List(list), _) => {
            if let Ok(at) = name.parse() {
                memory.heap.set_item(list, at, value);
            }
        }
        (_, Base::Named(base)) => memory.scopes.set_member(base, reference.name, value),
        _ => {}
    }
}

fn set_on_element(memory: &mut Memory, element: ElementId, name: &str, value: Value) {
    match (name, value) {
        ("textContent" | "innerText" | "text", Value::Text(text)) => {
            memory.texts.mark(text, Usage::Shown);
            replace_children(memory, element, Child::Text(text));
        }
        ("innerHTML", Value::Text(text)) => {
            memory.texts.mark(text, Usage::Consumed);
            replace_children(memory, element, Child::Markup(text));
        }
        ("src" | "data", Value::Text(_)) => {
            set_attribute(memory, element, name, value);
            fetch(memory, value);
        }
        _ => set_attribute(memory, element, name, value),
    }
}

fn replace_children(memory: &mut Memory, element: ElementId, child: Child) {
    memory.page.elements.empty(element, memory.texts.reader());
    memory.page.elements.append(element, child);
}

/// `{name: value}`.
pub(crate) fn put_in_object(memory: &mut Memory, object: ObjectId, name: NameId, value: Value) {
    match memory.names.text(name) {
        "__html" | "srcdoc" | "innerHTML" => write(memory, value),
        "textContent" | "innerText" | "placeholder" => memory.mark_use(value, Usage::Shown),
        name if memory.bound.has(name) => show_plain(memory, value),
        _ => {}
    }
    memory.heap.set(object, name, value);
}

/// Shows the members of an object that become properties of an element on the page.
pub(crate) fn show_members(memory: &mut Memory, object: ObjectId) {
    for (name, value) in memory.copy_entries(object) {
        match memory.names.text(name) {
            "placeholder" => show_on_field(memory, "placeholder", value),
            "aria-label" | "title" | "alt" => show(memory, value),
            name if is_text_property(name) => show(memory, value),
            _ => {}
        }
    }
}

fn is_markup_property(name: &str) -> bool {
    matches!(name, "innerHTML" | "outerHTML" | "srcdoc" | "__html")
}

pub(crate) fn is_text_property(name: &str) -> bool {
    matches!(name, "textContent" | "innerText" | "nodeValue" | "placeholder" | "ariaLabel" | "text")
}
