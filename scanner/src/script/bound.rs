//! What a page shows of its data: `{{ title }}`, `<b x-text="title">`. Small libraries put there what data has under
//! that name, whichever script holds the data.

use std::collections::HashSet;

/// Names that are kept. A page shows no more of its data.
const NAMES_MAX: usize = 1_000;
/// A longer expression computes more than it shows.
const EXPRESSION_BYTES_MAX: usize = 80;
/// Attributes whose value is the name of what is shown.
const ATTRIBUTES: [&str; 10] = [
    "x-text=",
    "x-html=",
    "v-text=",
    "v-html=",
    ":placeholder=",
    ":label=",
    ":title=",
    "ng-bind=",
    "data-bind=",
    "data-text=",
];

/// The names under which pages show data.
#[derive(Debug, Default)]
pub(crate) struct Bound {
    names: HashSet<String>,
}

impl Bound {
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// Takes in what a text of a site binds, be it a page or a script with templates in it.
    pub(crate) fn take(&mut self, text: &str) {
        for (at, _) in text.match_indices("{{") {
            let rest = &text[at + 2..];
            self.take_expression(bounded(rest).split("}}").next().unwrap_or_default());
        }
        for attribute in ATTRIBUTES {
            for (at, _) in text.match_indices(attribute) {
                let rest = &text[at + attribute.len()..];
                let Some(quote) = rest.chars().next().filter(|quote| matches!(quote, '"' | '\'')) else {
                    continue;
                };
                self.take_expression(bounded(&rest[1..]).split(quote).next().unwrap_or_default());
            }
        }
    }

    /// The last name of a path: `field.label` shows what is called `label`.
    fn take_expression(&mut self, expression: &str) {
        let expression = expression.trim();
        let is_path = |one: char| one.is_alphanumeric() || matches!(one, '_' | '$' | '.');
        if expression.len() > EXPRESSION_BYTES_MAX || !expression.chars().all(is_path) {
            return;
        }
        let name = expression.rsplit('.').next().unwrap_or_default();
        if !name.is_empty() && self.names.len() < NAMES_MAX {
            self.names.insert(name.to_owned());
        }
    }
}

/// As much of a text as an expression may take, so that a flood of beginnings costs no more than itself.
fn bounded(text: &str) -> &str {
    let end = text.floor_char_boundary(EXPRESSION_BYTES_MAX + 2);
    &text[..end]
}
