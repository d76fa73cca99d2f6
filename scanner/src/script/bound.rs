//! What a page shows of its data: `{{ title }}`, `<b x-text="title">`. Small libraries put there what data has under
//! that name, whichever script holds the data.

use std::collections::BTreeSet;

/// Names that are kept. A page shows no more of its data.
const NAMES_MAX: usize = 10_000;
/// Expressions of each kind that are looked at. A page that has more is no page for people.
const EXPRESSIONS_MAX: usize = 20_000;
/// A longer expression computes more than it shows.
const EXPRESSION_BYTES_MAX: usize = 80;
/// Attributes whose value is the name of what is shown.
const ATTRIBUTES: [&str; 8] =
    ["x-text", "x-html", "v-text", "v-html", ":placeholder", ":label", ":title", "ng-bind"];

/// The names under which pages show data.
#[derive(Debug, Default)]
pub(crate) struct Bound {
    names: BTreeSet<String>,
}

impl Bound {
    pub(crate) fn has(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// What a page binds, or a script with templates in it.
    pub(crate) fn of(text: &str) -> Self {
        let mut bound = Self::default();
        let attributes = text.match_indices('=').filter_map(|(at, _)| in_attribute(text, at));
        attributes.take(EXPRESSIONS_MAX).for_each(|expression| bound.take(expression));
        let braces = text.match_indices('{').filter_map(|(at, _)| text[at..].strip_prefix("{{"));
        let in_braces = braces.map(|rest| bounded(rest).split("}}").next().unwrap_or_default());
        in_braces.take(EXPRESSIONS_MAX).for_each(|expression| bound.take(expression));
        bound
    }

    pub(crate) fn join(&mut self, more: &Bound) {
        self.names.extend(more.names.iter().cloned());
    }

    /// The last name of a path: `field.label` shows what is called `label`.
    fn take(&mut self, expression: &str) {
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

/// The value of an attribute that binds, whose sign of equality stands here.
fn in_attribute(text: &str, at: usize) -> Option<&str> {
    let (before, rest) = (&text[..at], &text[at + 1..]);
    if !ATTRIBUTES.iter().any(|name| before.ends_with(name)) {
        return None;
    }
    let is_end = |one: char| one.is_ascii_whitespace() || one == '>';
    match rest.strip_prefix(['"', '\'']) {
        Some(quoted) => bounded(quoted).split(['"', '\'']).next(),
        None => bounded(rest).split(is_end).next(),
    }
}

/// As much of a text as an expression may take, so that a flood of beginnings costs no more than itself.
fn bounded(text: &str) -> &str {
    let end = text.floor_char_boundary(EXPRESSION_BYTES_MAX + 2);
    &text[..end]
}
