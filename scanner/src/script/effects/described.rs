//! Fields that data describes: `[{type: 'password', label: 'PIN', name: 'pin'}]`. Whatever makes a form of such a list,
//! here or in a library, visitors are asked for what its labels say.

use super::elements::Child;
use crate::script::eval::evaluator::Evaluator;
use crate::script::memory::texts::Usage;
use crate::script::memory::values::{ElementId, ObjectId, Value};

/// Members that say what kind of field it is, by their usual names and by short ones.
const TYPE_NAMES: [&str; 10] =
    ["type", "t", "kind", "inputType", "fieldType", "input_type", "as", "widget", "control", "component"];
const TYPES: [&str; 9] =
    ["text", "input", "password", "tel", "email", "number", "textarea", "area", "multiline"];
/// Those of many lines.
const AREAS: [&str; 3] = ["textarea", "area", "multiline"];
/// Members that only a field has.
const NAMES_OF_FIELDS: [&str; 6] =
    ["required", "maxlength", "maxLength", "inputmode", "inputMode", "pattern"];
/// Members that tell browsers what to fill in.
const FILLED_IN_NAMES: [&str; 3] = ["autocomplete", "autoComplete", "ac"];
/// Members that say what belongs into it.
const LABEL_NAMES: [&str; 9] =
    ["label", "l", "title", "caption", "text", "question", "prompt", "legend", "description"];
const SURE_LABEL_NAMES: [&str; 2] = ["label", "l"];
const HINT_NAMES: [&str; 2] = ["placeholder", "ph"];
const FIELD_NAMES: [&str; 6] = ["name", "n", "id", "key", "k", "field"];
/// Fields of one form; more are for nobody to fill in.
const FIELDS_MAX: usize = 100;
/// Fields of all forms of a script.
const FIELDS_OF_ALL_MAX: usize = 2_000;
/// Objects of a script that are looked at.
const OBJECTS_SEEN_MAX: usize = 20_000;
/// What is read of one member.
const MEMBER_BYTES_MAX: usize = 400;

/// How much of that was done.
#[derive(Debug, Default)]
pub(crate) struct Described {
    objects_seen: usize,
    fields: usize,
}

impl Evaluator<'_> {
    /// Notes the form that a list describes, if its items describe fields.
    pub(crate) fn note_described(&mut self, items: &[Value]) {
        let objects = items.iter().take(FIELDS_MAX).filter_map(|item| match item {
            Value::Object(object) => Some(*object),
            _ => None,
        });
        let objects: Vec<ObjectId> = objects.collect();
        self.described.objects_seen += objects.len();
        if self.described.objects_seen > OBJECTS_SEEN_MAX {
            return;
        }
        let typed = objects.into_iter().filter_map(|object| Some((object, self.described_type(object)?)));
        let fields: Vec<(ObjectId, String)> = typed.collect();
        let is_form = fields.iter().any(|(object, of_type)| self.is_surely_field(*object, of_type));
        if !is_form || self.described.fields + fields.len() > FIELDS_OF_ALL_MAX {
            return;
        }
        self.described.fields += fields.len();
        let form = self.add_element("form");
        for (object, of_type) in fields {
            self.add_described(form, object, &of_type);
        }
    }

    /// The type of the field that an object describes. Something must be said of it, too.
    fn described_type(&self, object: ObjectId) -> Option<String> {
        let has = |names: &[&str]| self.text_among(object, names).is_some();
        match self.text_among(object, &TYPE_NAMES) {
            Some(of_type) if has(&LABEL_NAMES) || has(&HINT_NAMES) => {
                let of_type = of_type.to_ascii_lowercase();
                TYPES.contains(&of_type.as_str()).then_some(of_type)
            }
            // Whoever makes a field of it knows that it is for text.
            None if has(&SURE_LABEL_NAMES) && (has(&HINT_NAMES) || has(&FILLED_IN_NAMES)) => {
                Some("text".to_owned())
            }
            _ => None,
        }
    }

    /// Whether it has what columns of tables, members of schemas and messages do not have.
    fn is_surely_field(&self, object: ObjectId, of_type: &str) -> bool {
        let has = |names: &[&str]| self.text_among(object, names).is_some();
        let has_member =
            |name: &&str| self.names.known(name).is_some_and(|name| self.heap.member(object, name).is_some());
        let is_typed = match of_type {
            "password" => true,
            area if AREAS.contains(&area) => true,
            "tel" | "email" => has(&SURE_LABEL_NAMES),
            _ => false,
        };
        is_typed || has(&HINT_NAMES) || has(&FILLED_IN_NAMES) || NAMES_OF_FIELDS.iter().any(has_member)
    }

    fn add_described(&mut self, form: ElementId, object: ObjectId, of_type: &str) {
        let label = self.add_element("label");
        let field = self.add_element(if AREAS.contains(&of_type) { "textarea" } else { "input" });
        self.elements.set(field, "type", of_type);
        for (attribute, names) in [
            ("placeholder", &HINT_NAMES[..]),
            ("name", &FIELD_NAMES[..]),
            ("autocomplete", &FILLED_IN_NAMES[..]),
        ] {
            if let Some(text) = self.text_among(object, names) {
                self.elements.set(field, attribute, &text);
            }
        }
        if let Some(text) = self.text_among(object, &LABEL_NAMES) {
            let text = self.texts.add(&text);
            self.texts.mark(text, Usage::Shown);
            self.elements.append(label, Child::Text(text));
        }
        self.elements.append(label, Child::Element(field));
        self.elements.append(form, Child::Element(label));
    }

    /// The first text that an object has under one of these names.
    fn text_among(&self, object: ObjectId, names: &[&str]) -> Option<String> {
        names.iter().find_map(|name| match self.heap.member(object, self.names.known(name)?)? {
            Value::Text(text) if self.texts.len(text) <= MEMBER_BYTES_MAX => {
                Some(self.texts.flat(text, MEMBER_BYTES_MAX))
            }
            _ => None,
        })
    }
}
