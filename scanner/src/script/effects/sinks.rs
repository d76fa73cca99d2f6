//! Where values reach the page: properties that are set and calls that write, show, fetch or run.

use super::elements::Child;
use crate::script::builtins::calls::Call;
use crate::script::encodings::{escape, has_tag};
use crate::script::eval::evaluator::Evaluator;
use crate::script::memory::texts::{TextId, Usage};
use crate::script::memory::values::{Base, ElementId, NameId, ObjectId, Operand, Reference, Value};

/// Longer addresses are fetched by nobody; a `data:` address may hold a page.
const ADDRESS_BYTES_MAX: usize = 1 << 20;
/// Where an address says what it is.
const DOCUMENT_START_BYTES: usize = 40;
/// Longer data is not read as values. Each becomes many times as large as it is written.
const DATA_BYTES_MAX: usize = 1 << 20;
const DATA_FACTOR: usize = 4;

/// What a page shows of its data by name is no longer than this.
const SHOWN_BYTES_MAX: usize = 4_096;

/// What was noted while a script was read, each with its place among the strings.
#[derive(Debug, Default)]
pub(crate) struct Page {
    /// All that `document.write` was given.
    pub(crate) written: Option<TextId>,
    pub(crate) shown: Vec<TextId>,
    pub(crate) titles: Vec<TextId>,
    pub(crate) fetched: Vec<(u32, String)>,
    /// Scripts and data within the script.
    pub(crate) scripts: Vec<(u32, String)>,
    pub(crate) data: Vec<(u32, String)>,
}

impl Evaluator<'_> {
    /// `place = value`, or with a current value `place += more`.
    pub(crate) fn set(&mut self, reference: Reference, owner: Value, current: Value, value: Value) {
        let name = self.names.text(reference.name).to_owned();
        if let Value::Element(element) = owner {
            return self.set_on_element(element, &name, value);
        }
        if let (Value::Text(before), true) =
            (current, is_markup_property(&name) && !self.is_reading_superseded())
        {
            self.texts.absorb(before);
        }
        match &*name {
            "title" if self.is_named(reference.base, &["document"]) => {
                if let Value::Text(text) = value {
                    self.texts.mark(text, Usage::Consumed);
                    self.page.titles.push(text);
                }
            }
            _ if is_markup_property(&name) => self.write(value),
            "placeholder" => self.show_on_field(&name, value),
            _ if is_text_property(&name) => self.show(value),
            "value" | "defaultValue" | "className" | "cssText" | "id" | "href" | "type" | "name" => {
                self.mark_use(value.into(), Usage::Shown);
            }
            "src" | "data" => self.show_address(value),
            _ => {}
        }
        match (owner, reference.base) {
            (Value::Object(object), _) => self.heap.set(object, reference.name, value),
            (Value::List(list), _) => {
                let at = name.parse::<usize>().ok();
                let item = self.heap.items_mut(list).zip(at).and_then(|(items, at)| items.get_mut(at));
                item.into_iter().for_each(|item| *item = value);
            }
            (_, Base::Named(base)) => self.scopes.set_member(base, reference.name, value),
            _ => {}
        }
    }

    fn is_named(&self, base: Base, names: &[&str]) -> bool {
        matches!(base, Base::Named(base) if names.contains(&self.names.text(base)))
    }

    /// `{name: value}`.
    pub(crate) fn put_in_object(&mut self, object: ObjectId, name: NameId, value: Value) {
        match self.names.text(name) {
            "__html" | "srcdoc" | "innerHTML" => self.write(value),
            "textContent" | "innerText" | "placeholder" => self.mark_use(value.into(), Usage::Shown),
            name if self.bound.has(name) => self.show_plain(value),
            _ => {}
        }
        self.heap.set(object, name, value);
    }

    pub(crate) fn write(&mut self, value: Value) {
        match value {
            Value::OneOfList(_) | Value::OneOfObject(_) => self.mark_use(value.into(), Usage::Unclear),
            _ => self.mark_use(value.into(), Usage::Written),
        }
    }

    /// Shows what is no markup: some libraries write that.
    fn show_plain(&mut self, value: Value) {
        if let Value::Text(text) = value
            && self.texts.len(text) <= SHOWN_BYTES_MAX
            && self.flat(text).is_some_and(|text| !has_tag(&text))
        {
            self.show(value);
        }
    }

    fn show(&mut self, value: Value) {
        self.mark_use(value.into(), Usage::Shown);
        match value {
            Value::Text(text) => self.page.shown.push(text),
            Value::OneOfList(list) => {
                let items = self.copy_items(list);
                self.page.shown.extend(items.iter().filter_map(|item| text_in(*item)));
            }
            Value::OneOfObject(object) => {
                let items = self.copy_values(object);
                self.page.shown.extend(items.iter().filter_map(|item| text_in(*item)));
            }
            _ => {}
        }
    }

    /// A text that only a field can bear: on a field of the page, or of the browser's own.
    fn show_on_field(&mut self, attribute: &str, value: Value) {
        self.show(value);
        if let Value::Text(_) = value {
            let field = self.add_element("input");
            self.attribute(field, attribute, value);
        }
    }

    fn fetch(&mut self, value: Value) {
        let Value::Text(text) = value else { return };
        if self.texts.len(text) > ADDRESS_BYTES_MAX {
            return;
        }
        self.texts.mark(text, Usage::Consumed);
        if let Some(address) = self.flat(text).filter(|address| is_address(address)) {
            self.page.fetched.push((text.order(), address));
        }
    }

    fn set_on_element(&mut self, element: ElementId, name: &str, value: Value) {
        match (name, value) {
            ("textContent" | "innerText" | "text", Value::Text(text)) => {
                self.texts.mark(text, Usage::Shown);
                self.elements.empty(element, self.texts.reader());
                self.elements.append(element, Child::Text(text));
            }
            ("innerHTML", Value::Text(text)) => {
                self.texts.mark(text, Usage::Consumed);
                self.elements.empty(element, self.texts.reader());
                self.elements.append(element, Child::Markup(text));
            }
            ("src" | "data", Value::Text(_)) => {
                self.attribute(element, name, value);
                self.fetch(value);
            }
            _ => self.attribute(element, name, value),
        }
    }

    /// A frame that stands on the page is given an address, which may hold a document itself.
    fn show_address(&mut self, value: Value) {
        let Value::Text(text) = value else { return };
        let is_document = |text: &str| {
            let start = text.trim_start().get(..DOCUMENT_START_BYTES).unwrap_or(text).to_ascii_lowercase();
            start.starts_with("data:text/html") || start.starts_with("data:application/xhtml")
        };
        if self.texts.len(text) > ADDRESS_BYTES_MAX {
            return;
        }
        match self.flat(text).filter(|text| is_document(text)) {
            Some(address) => {
                let mut frame = "<iframe src=\"".to_owned();
                escape(&address, &mut frame);
                let frame = self.derived(text, &(frame + "\"></iframe>"));
                self.write(frame);
            }
            None => self.fetch(value),
        }
    }

    pub(crate) fn attribute(&mut self, element: ElementId, name: &str, value: Value) {
        let text = match value {
            Value::Text(text) => {
                self.texts.mark(text, Usage::Consumed);
                self.flat(text)
            }
            Value::Flag(true) => Some(String::new()),
            Value::Number(number) => Some(crate::script::eval::members::number_text(number)),
            _ => None,
        };
        if let Some(text) = text {
            self.elements.set(element, name, &text);
        }
    }

    /// A call of something that the script does not define.
    pub(crate) fn page_call(&mut self, call: &Call) -> Operand {
        if let Value::Element(element) = call.callee.owner {
            return self.element_call(call, element);
        }
        if let Some(element) = self.new_element(call) {
            return element;
        }
        match call.name {
            "write" | "writeln" if !matches!(call.base, "clipboard" | "res" | "response" | "stdout") => {
                self.document_write(call.arguments);
            }
            "getAttribute" | "data" if let Some(name) = call.text(0) => {
                let name = self.flat(name).unwrap_or_default();
                self.consume_all(call.arguments);
                return self.held(name.strip_prefix("data-").unwrap_or(&name)).into();
            }
            "insertAdjacentHTML" => self.add_to(call, call.argument(1)),
            "setHTMLUnsafe" | "setHTML" | "createContextualFragment" | "parseFromString" | "parseHTML" => {
                self.write(call.argument(0));
            }
            "html" => self.write(call.argument(0)),
            "append" | "prepend" | "after" | "before" | "replaceWith" => self.append_unknown(call),
            "Blob" | "File" if call.is_new => self.blob(call),
            // What it asks stands beside a field, and what is typed there is not known.
            "prompt" => self.show_on_field("aria-label", call.argument(0)),
            "createTextNode" | "alert" | "confirm" => {
                self.show(call.argument(0));
                return Operand::from(call.argument(0));
            }
            "insertAdjacentText" => self.show(call.argument(1)),
            "text" | "val" if call.arguments.len() == 1 => self.show(call.argument(0)),
            "setAttribute" | "attr" | "prop" | "setAttributeNS" => self.set_attribute(call),
            "log" | "info" | "warn" | "error" | "debug" | "table" | "dir" if call.base == "console" => {
                self.consume_all(call.arguments);
            }
            "writeText" | "setValue" | "is" | "test" | "Error" | "TypeError" | "RangeError" => {
                self.consume_all(call.arguments);
            }
            "includes" | "indexOf" | "lastIndexOf" | "startsWith" | "endsWith" | "matches" | "split"
            | "search" => {
                self.consume_all(call.arguments);
            }
            "replace" | "replaceAll" | "match" => {
                self.mark_use(call.argument(0).into(), Usage::Consumed);
                self.mark_use(call.argument(1).into(), Usage::Unclear);
            }
            "eval" | "Function" | "setTimeout" | "setInterval" | "execScript" => self.run_inner(call),
            "parse" if call.base == "JSON" => return self.parse_json(call).into(),
            name if name.to_ascii_lowercase().contains("escape") => {
                self.mark_use(call.argument(0).into(), Usage::Shown);
                return self.escaped(call.argument(0));
            }
            _ => return self.unknown_call(call),
        }
        Operand {
            reference: call.callee.reference.filter(|_| call.base.starts_with('$')),
            ..Operand::default()
        }
    }

    fn document_write(&mut self, values: &[Value]) {
        for &value in values {
            let Some(part) = self.text_of(value, ",") else { continue };
            self.page.written = Some(match self.page.written {
                Some(before) => self.texts.sum(before, part),
                None => part,
            });
        }
    }

    /// Pieces that are added to one target make one whole.
    fn add_to(&mut self, call: &Call, value: Value) {
        let (Some(base), Value::Text(part), false) = (call.base_name, value, self.is_reading_superseded())
        else {
            return self.write(value);
        };
        let name = self.names.id("innerHTML".into());
        let whole = match self.scopes.member(base, name) {
            Some(Value::Text(before)) => {
                self.texts.absorb(before);
                self.texts.sum(before, part)
            }
            _ => part,
        };
        self.texts.mark(whole, Usage::Written);
        self.scopes.set_member(base, name, Value::Text(whole));
    }

    /// In the DOM these show text, in jQuery they write markup; which it is shows in the text.
    fn append_unknown(&mut self, call: &Call) {
        for &value in call.arguments {
            match value {
                Value::Text(text) if self.is_shown(text) => {}
                Value::Text(text) => {
                    let is_markup = self.flat(text).is_some_and(|text| has_tag(&text));
                    if is_markup { self.add_to(call, value) } else { self.show(value) }
                }
                other => self.mark_use(other.into(), Usage::Unclear),
            }
        }
    }

    fn is_shown(&self, text: TextId) -> bool {
        self.texts.record(text).is_some_and(|record| record.has(Usage::Shown))
    }

    fn blob(&mut self, call: &Call) {
        if let Value::List(list) = call.argument(0) {
            let items = self.copy_items(list);
            let whole = self.join(&items, "");
            self.texts.mark(whole, Usage::Unclear);
        }
    }

    fn set_attribute(&mut self, call: &Call) {
        if let Value::Object(attributes) = call.argument(0) {
            return self.show_members(attributes);
        }
        let is_ns = call.name == "setAttributeNS";
        let (name, value) =
            if is_ns { (call.text(1), call.argument(2)) } else { (call.text(0), call.argument(1)) };
        let name = name.and_then(|name| self.flat(name)).unwrap_or_default();
        self.mark_use(call.argument(0).into(), Usage::Consumed);
        match &*name {
            "srcdoc" => self.write(value),
            "src" | "data" => self.fetch(value),
            "placeholder" | "aria-placeholder" => self.show_on_field(&name, value),
            "aria-label" | "title" | "alt" => self.show(value),
            _ => self.mark_use(value.into(), Usage::Consumed),
        }
    }

    /// What of an object is shown when its members become those of an element on the page.
    pub(crate) fn show_members(&mut self, object: ObjectId) {
        let count = self.heap.keys(object).len();
        let entries = if self.may_copy(count) { self.heap.entries(object) } else { Vec::new() };
        for (name, value) in entries {
            let name = self.names.text(name);
            if name == "placeholder" {
                self.show_on_field("placeholder", value);
            } else if is_text_property(name) || matches!(name, "aria-label" | "title" | "alt") {
                self.show(value);
            }
        }
    }

    fn run_inner(&mut self, call: &Call) {
        for &value in call.arguments {
            let Value::Text(text) = value else { continue };
            if let Some(inner) = self.flat(text) {
                self.texts.mark(text, Usage::Consumed);
                self.page.scripts.push((text.order(), inner));
            }
        }
    }

    fn parse_json(&mut self, call: &Call) -> Value {
        let Some(text) = call.text(0) else { return Value::Unknown };
        let Some(inner) = self.flat(text) else { return Value::Unknown };
        self.texts.mark(text, Usage::Consumed);
        self.page.data.push((text.order(), inner));
        self.data_in(text)
    }

    /// The data that a text is.
    pub(crate) fn data_in(&mut self, text: TextId) -> Value {
        let len = self.texts.len(text);
        if len > DATA_BYTES_MAX || !self.may_copy(len.saturating_mul(DATA_FACTOR)) {
            return Value::Unknown;
        }
        let data = serde_json::from_str(&self.texts.flat(text, len)).unwrap_or_default();
        self.value_of_json(data)
    }

    /// Data as the script has it. It is not nested deeper than what reads it allows.
    fn value_of_json(&mut self, data: serde_json::Value) -> Value {
        match data {
            serde_json::Value::Null => Value::Unknown,
            serde_json::Value::Bool(flag) => Value::Flag(flag),
            serde_json::Value::Number(number) => number.as_f64().map_or(Value::Unknown, Value::Number),
            serde_json::Value::String(text) => Value::Text(self.texts.add(&text)),
            serde_json::Value::Array(items) => {
                if !self.may_copy_items(items.len()) {
                    return Value::Unknown;
                }
                let items = items.into_iter().map(|item| self.value_of_json(item)).collect();
                self.heap.list(items)
            }
            serde_json::Value::Object(members) => {
                let object = self.heap.object();
                if self.may_copy_items(members.len()) {
                    for (name, value) in members {
                        let value = self.value_of_json(value);
                        let name = self.names.id(name.into());
                        self.heap.set(object, name, value);
                    }
                }
                Value::Object(object)
            }
        }
    }

    fn escaped(&mut self, value: Value) -> Operand {
        let Value::Text(text) = value else { return Operand::default() };
        let mut out = String::new();
        if let Some(flat) = self.flat(text) {
            escape(&flat, &mut out);
        }
        Value::Text(self.texts.add(&out)).into()
    }

    /// Anything may become of what it is given; and what it gives is named by what it looks for.
    fn unknown_call(&mut self, call: &Call) -> Operand {
        self.note_fetch(call);
        let is_search = matches!(call.name, "getElementById" | "querySelector" | "$" | "jQuery" | "$$");
        let named = call.text(0).filter(|_| is_search && call.arguments.len() == 1);
        if let Some(text) = named {
            let has_tag = self.flat(text).is_some_and(|text| has_tag(&text));
            if !has_tag {
                let mut selector = self.flat(text).unwrap_or_default();
                if call.name == "getElementById" {
                    selector.insert(0, '#');
                }
                self.texts.mark(text, Usage::Consumed);
                let name = self.names.id(selector.into());
                return Operand {
                    reference: Some(Reference { name, base: Base::None }),
                    ..Operand::default()
                };
            }
        }
        for &value in call.arguments {
            // What a text node was made of stays text.
            let is_node =
                matches!(call.name, "appendChild" | "insertBefore" | "replaceChild" | "replaceChildren");
            if !is_node || !text_in(value).is_some_and(|text| self.is_shown(text)) {
                self.mark_use(value.into(), Usage::Unclear);
            }
        }
        // Whoever calls a function by name shows, or writes, what that function makes.
        Operand {
            reference: call.callee.reference.filter(|reference| reference.base == Base::None),
            ..Operand::default()
        }
    }

    fn is_method(&mut self, text: Option<TextId>) -> bool {
        let text = text.filter(|&text| self.texts.len(text) <= 8).and_then(|text| self.flat(text));
        text.is_some_and(|text| {
            matches!(&*text.to_ascii_uppercase(), "GET" | "POST" | "PUT" | "HEAD" | "PATCH")
        })
    }

    pub(crate) fn note_fetch(&mut self, call: &Call) {
        let first = call.argument(0);
        match call.name {
            "fetch" | "import" | "importScripts" | "getJSON" | "load" | "getScript" | "axios" | "ajax"
            | "$fetch" => {
                let is_htmx = call.base == "htmx";
                self.fetch(if is_htmx { call.argument(1) } else { first });
            }
            "Worker" | "SharedWorker" | "Request" | "EventSource" if call.is_new => self.fetch(first),
            "open" if self.is_method(call.text(0)) => self.fetch(call.argument(1)),
            "get" | "post" if matches!(call.base, "$" | "jQuery" | "axios" | "http" | "ky") => {
                self.fetch(first)
            }
            _ => return,
        }
        if let Value::Object(settings) = first {
            let url = self.names.id("url".into());
            self.fetch(self.heap.member(settings, url).unwrap_or_default());
        }
    }
}

/// Not all that is assigned to something named `data` is an address.
fn is_address(text: &str) -> bool {
    let is_odd = |sign: char| {
        sign.is_whitespace() || sign.is_control() || matches!(sign, '<' | '>' | '[' | ']' | '\u{fffd}')
    };
    text.starts_with("data:")
        || !text.is_empty() && !text.starts_with("javascript:") && !text.contains(is_odd)
}

fn text_in(value: Value) -> Option<TextId> {
    match value {
        Value::Text(text) => Some(text),
        _ => None,
    }
}

pub(crate) fn is_markup_property(name: &str) -> bool {
    matches!(name, "innerHTML" | "outerHTML" | "srcdoc" | "__html")
}

pub(crate) fn is_text_property(name: &str) -> bool {
    matches!(name, "textContent" | "innerText" | "nodeValue" | "placeholder" | "ariaLabel" | "text")
}
