//! Calls that build elements: `createElement` and what is done to its result, and the descriptions of elements that
//! React, Vue and the like are given.

use super::elements::{Child, is_tag};
use crate::script::builtins::calls::Call;
use crate::script::encodings::has_tag;
use crate::script::eval::evaluator::Evaluator;
use crate::script::memory::texts::Usage;
use crate::script::memory::values::{ElementId, FunctionId, ObjectId, Operand, Value};

/// Children of one element; more are for no one to read.
const CHILDREN_MAX: usize = 10_000;

impl Evaluator<'_> {
    /// `createElement('input')`, or an element described in one call.
    pub(crate) fn new_element(&mut self, call: &Call) -> Option<Operand> {
        match call.name {
            "createElement" if call.arguments.len() == 1 || call.base == "document" => {
                let tag = self.tag(call.argument(0))?;
                Some(Value::Element(self.add_element(&tag)).into())
            }
            "createElementNS" => {
                let tag = self.tag(call.argument(1))?;
                Some(Value::Element(self.add_element(&tag)).into())
            }
            "assign" if call.base == "Object" => {
                match (call.argument(0), call.argument(1)) {
                    (Value::Element(element), Value::Object(properties)) => {
                        self.add_properties(element, properties)
                    }
                    (Value::Object(whole), Value::Object(more)) => {
                        let count = self.heap.keys(more).len();
                        let entries = if self.may_copy(count) { self.heap.entries(more) } else { Vec::new() };
                        for (name, value) in entries {
                            self.heap.set(whole, name, value);
                        }
                    }
                    (Value::Unknown, Value::Object(more)) => self.show_members(more),
                    _ => {}
                }
                Some(call.argument(0).into())
            }
            _ => self.described_element(call),
        }
    }

    fn tag(&mut self, value: Value) -> Option<String> {
        let Value::Text(text) = value else { return None };
        if self.texts.len(text) > 40 {
            return None;
        }
        let tag = self.flat(text).filter(|tag| is_tag(tag))?;
        self.texts.mark(text, Usage::Consumed);
        Some(tag)
    }

    /// `<input>` and nothing more, as jQuery makes elements.
    fn tag_in_brackets(&mut self, value: Value) -> Option<String> {
        let Value::Text(text) = value else { return None };
        if self.texts.len(text) > 40 {
            return None;
        }
        let flat = self.flat(text)?;
        let tag = flat.trim().strip_prefix('<')?.strip_suffix('>')?.trim_end_matches(['/', ' ']);
        let tag = tag.split('>').next().filter(|tag| is_tag(tag))?.to_owned();
        self.texts.mark(text, Usage::Consumed);
        Some(tag)
    }

    pub(crate) fn add_element(&mut self, tag: &str) -> ElementId {
        let order = self.texts.next_order();
        self.literals_read += 1;
        self.elements.add(tag, order, self.texts.reader())
    }

    /// `createElement(Part, {…}, …)`: a component of the script is what it makes of its properties. None when it is no
    /// function of the script, or makes nothing that is known.
    pub(crate) fn component(&mut self, call: &Call) -> Option<(FunctionId, Value)> {
        let Value::Function(function) = call.argument(0) else { return None };
        if !is_element_factory(call.name) || !self.may_make_element(function) {
            return None;
        }
        let given = call.arguments.get(2..).unwrap_or(&[]);
        let properties = self.heap.object();
        if let Value::Object(more) = call.argument(1)
            && self.may_copy(self.heap.keys(more).len())
        {
            for (name, value) in self.heap.entries(more) {
                self.heap.set(properties, name, value);
            }
        }
        if !given.is_empty() && !call.name.contains("jsx") && self.may_copy_items(given.len()) {
            let children = self.heap.list(given.to_vec());
            let name = self.names.id("children".into());
            self.heap.set(properties, name, children);
        }
        Some((function, Value::Object(properties)))
    }

    /// `h('input', {…}, …)` by whatever name, told by what it is given.
    pub(crate) fn described_element(&mut self, call: &Call) -> Option<Operand> {
        let is_element_factory = is_element_factory(call.name) || call.callee.value == Value::ElementFactory;
        let properties = match call.argument(1) {
            Value::Object(object) => Some(object),
            _ => None,
        };
        let tag = match call.argument(0) {
            Value::Text(_) if matches!(call.name, "$" | "jQuery") => {
                self.tag_in_brackets(call.argument(0))?
            }
            Value::Text(_)
                if is_element_factory || properties.is_some_and(|object| self.describes(object)) =>
            {
                self.tag(call.argument(0))?
            }
            // A component: what it makes of its children is not known, but they are its children.
            _ if is_element_factory
                && call.arguments.len() >= 2
                && !matches!(call.argument(0), Value::Text(_)) =>
            {
                "div".to_owned()
            }
            _ => return None,
        };
        let element = self.add_element(&tag);
        if let Some(properties) = properties {
            self.add_properties(element, properties);
        }
        let from = if properties.is_none() && !matches!(call.argument(1), Value::Unknown | Value::Flag(_)) {
            1
        } else {
            2
        };
        // In the newer form what follows is a key, and the children are among the properties.
        if !call.name.contains("jsx") {
            let takes_numbers =
                is_element_factory && !call.name.contains("VNode") && !call.name.contains("Block");
            for &child in call.arguments.get(from..).unwrap_or(&[]) {
                // After the children compilers add numbers and lists of their own.
                if !takes_numbers && matches!(child, Value::Number(_)) {
                    break;
                }
                self.add_child(element, child);
            }
        }
        Some(Value::Element(element).into())
    }

    fn describes(&self, object: ObjectId) -> bool {
        self.heap.keys(object).iter().take(CHILDREN_MAX).any(|&key| {
            matches!(
                self.names.text(key),
                "className" | "class" | "placeholder" | "type" | "children" | "htmlFor"
            ) || matches!(
                self.names.text(key),
                "onClick" | "onChange" | "onInput" | "onSubmit" | "autoComplete"
            )
        })
    }

    fn add_properties(&mut self, element: ElementId, properties: ObjectId) {
        let count = self.heap.keys(properties).len();
        if !self.may_copy(count) {
            return;
        }
        for (name, value) in self.heap.entries(properties) {
            let name = self.names.text(name).to_owned();
            match (&*name, value) {
                ("children", _) => self.add_child(element, value),
                ("dangerouslySetInnerHTML", Value::Object(inner)) => {
                    let html = self.names.id("__html".into());
                    self.add_markup(element, self.heap.member(inner, html).unwrap_or_default());
                }
                // Makers that a page brings along call them so, too.
                ("innerHTML" | "html", _) => self.add_markup(element, value),
                ("textContent" | "innerText" | "text", _) => self.add_child(element, value),
                ("attrs" | "props" | "domProps", Value::Object(inner)) => self.add_plain(element, inner),
                ("key" | "ref", _) => {}
                _ => self.attribute(element, &name, value),
            }
        }
    }

    /// Properties one level down, as Vue 2 has them.
    fn add_plain(&mut self, element: ElementId, properties: ObjectId) {
        let count = self.heap.keys(properties).len();
        let entries = if self.may_copy(count) { self.heap.entries(properties) } else { Vec::new() };
        for (name, value) in entries {
            let name = self.names.text(name).to_owned();
            match &*name {
                "innerHTML" => self.add_markup(element, value),
                "textContent" => self.add_child(element, value),
                _ => self.attribute(element, &name, value),
            }
        }
    }

    fn add_markup(&mut self, element: ElementId, value: Value) {
        if let Value::Text(text) = value {
            self.texts.absorb(text);
            self.elements.append(element, Child::Markup(text));
        }
    }

    fn add_child(&mut self, element: ElementId, value: Value) {
        match value {
            Value::Text(text) => {
                self.texts.mark(text, Usage::Shown);
                self.elements.append(element, Child::Text(text));
            }
            Value::Number(_) => {
                if let Some(text) = self.text_of(value, "") {
                    self.elements.append(element, Child::Text(text));
                }
            }
            Value::Element(child) => self.elements.append(element, Child::Element(child)),
            Value::List(list) => {
                let items = self.copy_items(list);
                for &item in items.iter().take(CHILDREN_MAX) {
                    match item {
                        Value::List(inner) => {
                            for inner in self.copy_items(inner) {
                                self.add_leaf(element, inner);
                            }
                        }
                        leaf => self.add_leaf(element, leaf),
                    }
                }
            }
            _ => {}
        }
    }

    fn add_leaf(&mut self, element: ElementId, value: Value) {
        if !matches!(value, Value::List(_)) {
            self.add_child(element, value);
        }
    }

    /// A method of an element that the script built.
    pub(crate) fn element_call(&mut self, call: &Call, element: ElementId) -> Operand {
        match call.name {
            "setAttribute" => {
                let name = call.text(0).and_then(|name| self.flat(name)).unwrap_or_default();
                self.mark_use(call.argument(0).into(), Usage::Consumed);
                self.attribute(element, &name, call.argument(1));
            }
            "append" | "prepend" | "after" | "before" => {
                // In the DOM a string is text, in jQuery it is markup; which it is shows in the string.
                for &child in call.arguments {
                    match child {
                        Value::Text(text) if self.flat(text).is_some_and(|text| has_tag(&text)) => {
                            self.add_markup(element, child);
                        }
                        _ => self.add_child(element, child),
                    }
                }
            }
            "appendChild" | "insertBefore" | "replaceChildren" => {
                for &child in call.arguments {
                    self.add_child(element, child);
                }
                if call.name == "appendChild" {
                    return call.argument(0).into();
                }
            }
            "attr" | "prop" => {
                match (call.text(0).and_then(|name| self.flat(name)), call.argument(0)) {
                    (Some(name), _) => self.attribute(element, &name, call.argument(1)),
                    (None, Value::Object(properties)) => self.add_plain(element, properties),
                    _ => {}
                }
                return Value::Element(element).into();
            }
            "text" | "html" | "addClass" | "css" | "on" | "val" | "appendTo" | "prependTo" => {
                match call.name {
                    "text" => self.add_child(element, call.argument(0)),
                    "html" => self.add_markup(element, call.argument(0)),
                    _ => {}
                }
                return Value::Element(element).into();
            }
            "insertAdjacentHTML" => self.add_markup(element, call.argument(1)),
            "insertAdjacentText" => self.add_child(element, call.argument(1)),
            "cloneNode" => return Value::Element(element).into(),
            _ => {
                for &value in call.arguments {
                    if let Value::Text(text) = value
                        && !self.flat(text).is_some_and(|text| has_tag(&text))
                    {
                        self.texts.mark(text, Usage::Consumed);
                    }
                }
            }
        }
        Operand::default()
    }
}

/// Names under which element makers are known. `m` and `e` would be anything.
fn is_element_factory(name: &str) -> bool {
    matches!(
        name,
        "createElement"
            | "h"
            | "jsx"
            | "jsxs"
            | "_jsx"
            | "_jsxs"
            | "jsxDEV"
            | "_jsxDEV"
            | "_c"
            | "hyperscript"
    ) || matches!(name, "createVNode" | "_createVNode" | "createElementVNode" | "_createElementVNode")
        || matches!(name, "createElementBlock" | "_createElementBlock" | "createBlock" | "_createBlock")
}
