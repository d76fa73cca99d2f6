//! Fields that data describes: `[{type: 'password', label: 'PIN', name: 'pin'}]`. Code of the page or of a
//! library renders such a list as a form, which asks visitors for what its labels say.

use super::building::add_element;
use crate::script::memory::{Child, ElementId, Memory, ObjectId, Usage, Value};

/// Members that contain the type of a field.
const TYPE_NAMES: [&str; 10] =
    ["type", "t", "kind", "inputType", "fieldType", "input_type", "as", "widget", "control", "component"];
const TYPES: [&str; 9] =
    ["text", "input", "password", "tel", "email", "number", "textarea", "area", "multiline"];
/// Types with several lines.
const AREAS: [&str; 3] = ["textarea", "area", "multiline"];
/// Members that only a field has.
const NAMES_OF_FIELDS: [&str; 6] =
    ["required", "maxlength", "maxLength", "inputmode", "inputMode", "pattern"];
/// Members for autofill.
const FILLED_IN_NAMES: [&str; 3] = ["autocomplete", "autoComplete", "ac"];
/// Members that label it.
const LABEL_NAMES: [&str; 9] =
    ["label", "l", "title", "caption", "text", "question", "prompt", "legend", "description"];
const SURE_LABEL_NAMES: [&str; 2] = ["label", "l"];
const HINT_NAMES: [&str; 2] = ["placeholder", "ph"];
const FIELD_NAMES: [&str; 6] = ["name", "n", "id", "key", "k", "field"];
/// The number of fields of one form that are kept. Nobody fills in more.
const FIELDS_MAX: usize = 100;
/// The number of fields in all forms of a script.
const FIELDS_OF_ALL_MAX: usize = 2_000;
/// The number of objects of a script that are checked.
const OBJECTS_CHECKED_MAX: usize = 20_000;
/// The length that is read of one member.
const MEMBER_BYTES_MAX: usize = 400;

/// Records the form that a list describes, if its items describe fields.
pub(crate) fn record_form(memory: &mut Memory, items: &[Value]) {
    let objects: Vec<ObjectId> = items.iter().take(FIELDS_MAX).filter_map(|item| item.as_object()).collect();
    memory.page.objects_checked += objects.len();
    if memory.page.objects_checked > OBJECTS_CHECKED_MAX {
        return;
    }
    let typed = objects.into_iter().filter_map(|object| Some((object, described_type(memory, object)?)));
    let fields: Vec<(ObjectId, String)> = typed.collect();
    let is_form = fields.iter().any(|(object, of_type)| is_surely_field(memory, *object, of_type));
    if !is_form || memory.page.fields_described + fields.len() > FIELDS_OF_ALL_MAX {
        return;
    }
    memory.page.fields_described += fields.len();
    let form = add_element(memory, "form");
    for (object, of_type) in fields {
        add_described(memory, form, object, &of_type);
    }
}

/// The type of the field that an object describes. The object must also have a label or a hint.
fn described_type(memory: &Memory, object: ObjectId) -> Option<String> {
    let has = |names: &[&str]| text_among(memory, object, names).is_some();
    match text_among(memory, object, &TYPE_NAMES) {
        Some(of_type) if has(&LABEL_NAMES) || has(&HINT_NAMES) => {
            let of_type = of_type.to_ascii_lowercase();
            TYPES.contains(&of_type.as_str()).then_some(of_type)
        }
        // A field without a type is a text field.
        None if has(&SURE_LABEL_NAMES) && (has(&HINT_NAMES) || has(&FILLED_IN_NAMES)) => {
            Some("text".to_owned())
        }
        _ => None,
    }
}

/// Whether it has members that table columns, schemas and messages do not have.
fn is_surely_field(memory: &Memory, object: ObjectId, of_type: &str) -> bool {
    let has = |names: &[&str]| text_among(memory, object, names).is_some();
    let has_member = |name: &&str| memory.member_named(object, name).is_some();
    let is_typed = match of_type {
        "password" => true,
        area if AREAS.contains(&area) => true,
        "tel" | "email" => has(&SURE_LABEL_NAMES),
        _ => false,
    };
    is_typed || has(&HINT_NAMES) || has(&FILLED_IN_NAMES) || NAMES_OF_FIELDS.iter().any(has_member)
}

fn add_described(memory: &mut Memory, form: ElementId, object: ObjectId, of_type: &str) {
    let label = add_element(memory, "label");
    let field = add_element(memory, if AREAS.contains(&of_type) { "textarea" } else { "input" });
    memory.page.elements.set(field, "type", of_type);
    for (attribute, names) in
        [("placeholder", &HINT_NAMES[..]), ("name", &FIELD_NAMES[..]), ("autocomplete", &FILLED_IN_NAMES[..])]
    {
        if let Some(text) = text_among(memory, object, names) {
            memory.page.elements.set(field, attribute, &text);
        }
    }
    if let Some(text) = text_among(memory, object, &LABEL_NAMES) {
        let text = memory.texts.add(&text);
        memory.texts.mark(text, Usage::Shown);
        memory.page.elements.append(label, Child::Text(text));
    }
    memory.page.elements.append(label, Child::Element(field));
    memory.page.elements.append(form, Child::Element(label));
}

/// The first text that an object has under one of these names.
fn text_among(memory: &Memory, object: ObjectId, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| match memory.member_named(object, name)? {
        Value::Text(text) if memory.texts.len(text) <= MEMBER_BYTES_MAX => {
            Some(memory.texts.flat(text, MEMBER_BYTES_MAX))
        }
        _ => None,
    })
}
