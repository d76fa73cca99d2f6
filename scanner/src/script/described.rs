//! Fields that data describes: `[{type: 'password', label: 'PIN', name: 'pin'}]`. Whatever makes a form of such a list,
//! here or in a library, visitors are asked for what its labels say.

use super::elements::Child;
use super::machine::Machine;
use super::texts::Fate;
use super::values::{ElementId, NameId, ObjectId, Value};

/// Members that say what kind of field it is, by their usual names and by short ones.
const TYPE_NAMES: [&str; 10] =
    ["type", "t", "kind", "inputType", "fieldType", "input_type", "as", "widget", "control", "component"];
const TYPES: [&str; 6] = ["text", "password", "tel", "email", "number", "textarea"];
/// Types that columns of tables and members of schemas do not have.
const TYPES_OF_FIELDS: [&str; 4] = ["password", "tel", "email", "textarea"];
/// Members that only a field has.
const NAMES_OF_FIELDS: [&str; 6] =
    ["required", "maxlength", "maxLength", "inputmode", "inputMode", "pattern"];
/// Members that tell browsers what to fill in.
const FILLED_IN_NAMES: [&str; 3] = ["autocomplete", "autoComplete", "ac"];
/// Members that say what belongs into it.
const LABEL_NAMES: [&str; 9] =
    ["label", "l", "title", "caption", "text", "question", "prompt", "legend", "description"];
const HINT_NAMES: [&str; 3] = ["placeholder", "ph", "hint"];
const FIELD_NAMES: [&str; 6] = ["name", "n", "id", "key", "k", "field"];
/// Fields of one form; more are for nobody to fill in.
const FIELDS_MAX: usize = 100;
/// Fields of all forms of a script.
const FIELDS_OF_ALL_MAX: usize = 2_000;
/// What is read of one member.
const MEMBER_BYTES_MAX: usize = 400;

impl Machine<'_> {
    /// Notes the form that a list describes, if its items describe fields.
    pub(super) fn note_described(&mut self, items: &[Value]) {
        let objects = items.iter().take(FIELDS_MAX).filter_map(|item| match item {
            Value::Object(object) => Some(*object),
            _ => None,
        });
        let fields: Vec<(ObjectId, String)> =
            objects.filter_map(|object| Some((object, self.described_type(object)?))).collect();
        let is_form = fields.iter().any(|(object, of_type)| self.is_surely_field(*object, of_type));
        if !is_form || self.described + fields.len() > FIELDS_OF_ALL_MAX {
            return;
        }
        self.described += fields.len();
        let form = self.add_element("form");
        for (object, of_type) in fields {
            self.add_described(form, object, &of_type);
        }
    }

    /// The type of the field that an object describes. Something must be said of it, too.
    fn described_type(&self, object: ObjectId) -> Option<String> {
        let has = |names: &[&str]| self.text_among(object, names).is_some();
        let (is_labelled, is_hinted) = (has(&LABEL_NAMES), has(&HINT_NAMES));
        match self.text_among(object, &TYPE_NAMES) {
            Some(of_type) if is_labelled || is_hinted => {
                let of_type = of_type.to_ascii_lowercase();
                TYPES.contains(&of_type.as_str()).then_some(of_type)
            }
            // Whoever makes a field of it knows that it is for text.
            None if is_labelled && (is_hinted || has(&FILLED_IN_NAMES)) => Some("text".to_owned()),
            _ => None,
        }
    }

    /// Whether it has what columns of tables and members of schemas do not have.
    fn is_surely_field(&self, object: ObjectId, of_type: &str) -> bool {
        let has = |names: &[&str]| self.text_among(object, names).is_some();
        let is_of_fields = |name: &NameId| NAMES_OF_FIELDS.contains(&self.names.text(*name));
        TYPES_OF_FIELDS.contains(&of_type)
            || has(&HINT_NAMES)
            || has(&FILLED_IN_NAMES)
            || self.heap.keys(object).iter().take(FIELDS_MAX).any(is_of_fields)
    }

    fn add_described(&mut self, form: ElementId, object: ObjectId, of_type: &str) {
        let label = self.add_element("label");
        let field = self.add_element(if of_type == "textarea" { "textarea" } else { "input" });
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
            self.texts.meet(text, Fate::Shown);
            self.elements.append(label, Child::Text(text));
        }
        self.elements.append(label, Child::Element(field));
        self.elements.append(form, Child::Element(label));
    }

    /// The first text that an object has under one of these names.
    fn text_among(&self, object: ObjectId, names: &[&str]) -> Option<String> {
        let is_one = |name: NameId| names.contains(&self.names.text(name));
        let name = self.heap.keys(object).iter().take(FIELDS_MAX).copied().find(|name| is_one(*name))?;
        match self.heap.member(object, name)? {
            Value::Text(text) if self.texts.len(text) <= MEMBER_BYTES_MAX => {
                Some(self.texts.flat(text, MEMBER_BYTES_MAX))
            }
            _ => None,
        }
    }
}
