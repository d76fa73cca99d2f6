//! A field: something that a visitor can type into, and the words that say what it asks for.

use std::collections::HashMap;

use html5ever::LocalName;

use super::Attributes;
use crate::words::{Phrases, Words};

const DESCRIPTION_CHARS_MAX: usize = 100;
/// Ids in one `aria-labelledby` that are followed.
const LABELLED_BY_MAX: usize = 8;

/// Where a field belongs. Those outside of all forms belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Form {
    None,
    Numbered(u32),
}

pub(crate) struct Field {
    kind: Kind,
    pub(crate) form: Form,
    /// For the evidence: `input#phrase[name=seed]`.
    pub(crate) description: String,
    /// Its labels, names and hints.
    own: Words,
    /// Texts that stand near it.
    around: Words,
    id: Option<String>,
    labelled_by: Vec<String>,
    form_id: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Free text, which may hold words.
    Text,
    Password,
    /// A number, an address, a date: not words.
    Value,
}

impl Field {
    /// The field that this element is, unless it asks a visitor for nothing.
    pub(super) fn of(name: &LocalName, attributes: &Attributes<'_>) -> Option<Field> {
        let kind = kind(name, attributes)?;
        if attributes.has("disabled") || is_output(attributes) {
            return None;
        }
        let mut own = Words::default();
        ["placeholder", "aria-label", "title", "aria-placeholder"]
            .iter()
            .for_each(|hint| own.add(attributes.text(hint)));
        ["name", "id", "autocomplete"].iter().for_each(|hint| own.add_name(attributes.text(hint)));
        Some(Field {
            kind,
            form: Form::None,
            description: describe(name, attributes),
            own,
            around: Words::default(),
            id: attributes.get("id").map(ToString::to_string),
            labelled_by: labelled_by(attributes),
            form_id: attributes.get("form").map(ToString::to_string),
        })
    }

    pub(super) fn add_label(&mut self, text: &str) {
        self.own.add(text);
    }

    pub(super) fn add_around(&mut self, text: &str) {
        self.around.add(text);
    }

    /// Adds what was said elsewhere on the page: labels `for` it, elements that name it, the form it points at.
    pub(super) fn resolve(&mut self, labels: &LabelTexts, forms: &HashMap<String, Form>) {
        let for_it = self.id.iter().filter_map(|id| labels.for_id.get(id));
        let naming_it = self.labelled_by.iter().filter_map(|id| labels.by_id.get(id));
        for text in for_it.chain(naming_it) {
            self.own.add(text);
        }
        if let Some(form) = self.form_id.as_ref().and_then(|id| forms.get(id)) {
            self.form = *form;
        }
    }

    pub(crate) fn is_password(&self) -> bool {
        self.kind == Kind::Password
    }

    /// Which of the phrases it asks for, by its own words or those around it.
    pub(crate) fn asked(&self, phrases: &Phrases) -> Option<&'static str> {
        self.own.ask_for(phrases).or_else(|| self.around.ask_for(phrases))
    }

    /// The same for secrets made of words or letters: a field for an e-mail address that stands near such words does
    /// not ask for them.
    pub(crate) fn secret_asked(&self, phrases: &Phrases) -> Option<&'static str> {
        match self.kind {
            Kind::Text | Kind::Password => self.asked(phrases),
            Kind::Value => self.own.ask_for(phrases),
        }
    }
}

fn labelled_by(attributes: &Attributes<'_>) -> Vec<String> {
    let ids = attributes.text("aria-labelledby").split_ascii_whitespace();
    ids.take(LABELLED_BY_MAX).map(str::to_owned).collect()
}

fn kind(name: &LocalName, attributes: &Attributes<'_>) -> Option<Kind> {
    match &**name {
        "input" if is_search_box(attributes) => Some(Kind::Value),
        "input" => input_kind(&attributes.text("type").trim().to_ascii_lowercase()),
        "textarea" => Some(Kind::Text),
        _ => attributes
            .get("contenteditable")
            .filter(|value| !value.eq_ignore_ascii_case("false"))
            .map(|_| Kind::Text),
    }
}

/// By role or by name. It is a name only, so its own labels still count.
fn is_search_box(attributes: &Attributes<'_>) -> bool {
    attributes.text("role") == "searchbox" || matches!(attributes.text("name"), "q" | "query" | "search")
}

fn input_kind(of_type: &str) -> Option<Kind> {
    match of_type {
        "hidden" | "checkbox" | "radio" | "submit" | "search" | "button" | "reset" | "image" | "file"
        | "range" | "color" => None,
        "password" => Some(Kind::Password),
        "email" | "tel" | "url" | "number" | "date" | "month" | "week" | "time" | "datetime-local" => {
            Some(Kind::Value)
        }
        // A type that browsers do not know is text.
        _ => Some(Kind::Text),
    }
}

/// A field that only shows something. One that becomes writable when touched is an old trick against autofill.
fn is_output(attributes: &Attributes<'_>) -> bool {
    attributes.has("readonly")
        && !["onfocus", "onclick", "ontouchstart"].iter().any(|touch| attributes.has(touch))
}

fn describe(name: &LocalName, attributes: &Attributes<'_>) -> String {
    let mut description = name.to_string();
    if let Some(id) = attributes.get("id") {
        description.extend(["#", id]);
    }
    for hint in ["name", "type"] {
        if let Some(value) = attributes.get(hint) {
            description.push_str(&format!("[{hint}={value}]"));
        }
    }
    description.chars().take(DESCRIPTION_CHARS_MAX).collect()
}

/// Texts of labels: by the id of the field that they are for, and by their own id.
#[derive(Default)]
pub(super) struct LabelTexts {
    pub(super) for_id: HashMap<String, String>,
    pub(super) by_id: HashMap<String, String>,
}
