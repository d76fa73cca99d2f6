//! Calls that fetch.

use super::call::{Call, Outcome};
use crate::script::effects::output::fetch;
use crate::script::memory::{Memory, TextId, Value};

/// Records the address that a call fetches, if it fetches one.
pub(super) fn note_fetch(memory: &mut Memory, call: &Call) {
    let first = call.argument(0);
    match call.name {
        "fetch" | "import" | "importScripts" | "getJSON" | "load" | "getScript" | "axios" | "ajax"
        | "$fetch" => {
            fetch(memory, call.argument(usize::from(call.base == "htmx")));
        }
        "Worker" | "SharedWorker" | "Request" | "EventSource" if call.is_new => fetch(memory, first),
        "open" if is_method(memory, call.text(0)) => fetch(memory, call.argument(1)),
        "get" | "post" if matches!(call.base, "$" | "jQuery" | "axios" | "http" | "ky") => {
            fetch(memory, first)
        }
        _ => return,
    }
    if let Value::Object(settings) = first {
        let url = memory.member_named(settings, "url").unwrap_or_default();
        fetch(memory, url);
    }
}

/// The content of a file of the site, for a call that fetches it.
pub(super) fn fetch_file(memory: &mut Memory, call: &Call) -> Option<Outcome> {
    let address = memory.flat(call.text(0)?)?;
    let bound = memory.bound;
    let text = memory.import(bound.file(&address)?)?;
    note_fetch(memory, call);
    Some(text.into())
}

fn is_method(memory: &mut Memory, text: Option<TextId>) -> bool {
    let text = text.filter(|&text| memory.texts.len(text) <= 8).and_then(|text| memory.flat(text));
    text.is_some_and(|text| matches!(&*text.to_ascii_uppercase(), "GET" | "POST" | "PUT" | "HEAD" | "PATCH"))
}
