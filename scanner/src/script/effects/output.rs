//! Text, markup and addresses that reach the page.

use super::building::{add_element, set_attribute};
use crate::script::encodings::{escape, has_tag};
use crate::script::memory::{Memory, Usage, Value};

/// Browsers fetch no longer addresses. A `data:` address may contain a page.
const ADDRESS_BYTES_MAX: usize = 1 << 20;
/// The length of the start of an address, which contains its type.
const DOCUMENT_START_BYTES: usize = 40;
/// The length of data that a page shows by name.
const SHOWN_BYTES_MAX: usize = 4_096;

pub(crate) fn write(memory: &mut Memory, value: Value) {
    let is_choice = matches!(value, Value::OneOfList(_) | Value::OneOfObject(_));
    memory.mark_use(value, if is_choice { Usage::Unclear } else { Usage::Written });
}

/// Shows plain text. Some libraries write it as markup, which is recorded elsewhere.
pub(crate) fn show_plain(memory: &mut Memory, value: Value) {
    if let Value::Text(text) = value
        && memory.texts.len(text) <= SHOWN_BYTES_MAX
        && memory.flat(text).is_some_and(|text| !has_tag(&text))
    {
        show(memory, value);
    }
}

pub(crate) fn show(memory: &mut Memory, value: Value) {
    memory.mark_use(value, Usage::Shown);
    let alternatives = memory.alternatives(value);
    memory.page.shown.extend(alternatives.into_iter().filter_map(Value::as_text));
}

/// A text that only a field can have: on a field of the page, or in a browser dialog.
pub(crate) fn show_on_field(memory: &mut Memory, attribute: &str, value: Value) {
    show(memory, value);
    if let Value::Text(_) = value {
        let field = add_element(memory, "input");
        set_attribute(memory, field, attribute, value);
    }
}

pub(crate) fn fetch(memory: &mut Memory, value: Value) {
    let Value::Text(text) = value else { return };
    if memory.texts.len(text) > ADDRESS_BYTES_MAX {
        return;
    }
    memory.texts.mark(text, Usage::Consumed);
    if let Some(address) = memory.flat(text).filter(|address| is_address(address)) {
        memory.page.fetched.push((text.order(), address));
    }
}

/// Sets the address of a frame, which may itself contain a document.
pub(crate) fn show_address(memory: &mut Memory, value: Value) {
    let Value::Text(text) = value else { return };
    let is_document = |text: &str| {
        let start = text.trim_start().get(..DOCUMENT_START_BYTES).unwrap_or(text).to_ascii_lowercase();
        start.starts_with("data:text/html") || start.starts_with("data:application/xhtml")
    };
    if memory.texts.len(text) > ADDRESS_BYTES_MAX {
        return;
    }
    match memory.flat(text).filter(|text| is_document(text)) {
        Some(address) => {
            let mut frame = "<iframe src=\"".to_owned();
            escape(&address, &mut frame);
            let frame = memory.derived(text, &(frame + "\"></iframe>"));
            write(memory, frame);
        }
        None => fetch(memory, value),
    }
}

/// Whether a value is an address. A property named `data` may contain anything.
fn is_address(text: &str) -> bool {
    let is_odd = |sign: char| {
        sign.is_whitespace() || sign.is_control() || matches!(sign, '<' | '>' | '[' | ']' | '\u{fffd}')
    };
    text.starts_with("data:")
        || !text.is_empty() && !text.starts_with("javascript:") && !text.contains(is_odd)
}
