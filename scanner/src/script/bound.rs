//! The names that a page and its scripts share. The page shows members of data: `{{ title }}`, `<b
//! x-text="title">`. Its elements hold values for scripts: `data-form="PGZvcm0+"`. And scripts may fetch
//! files of the site.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::files::Files;

/// The number of names that are kept. A page shows no more of its data.
const NAMES_MAX: usize = 10_000;
/// The number of expressions of each kind that are read. No page for people has more.
const EXPRESSIONS_MAX: usize = 20_000;
/// A longer expression is more than a name.
const EXPRESSION_BYTES_MAX: usize = 80;
/// Attributes whose value is the name of the data to show.
const ATTRIBUTES: [&str; 8] =
    ["x-text", "x-html", "v-text", "v-html", ":placeholder", ":label", ":title", "ng-bind"];

/// Shorter values of elements are settings and cannot contain a page.
const HELD_BYTES_MIN: usize = 16;
/// The total size of the values that are kept.
const HELD_BYTES_MAX: usize = 1 << 20;
/// Longer names are ignored.
const HELD_NAME_BYTES_MAX: usize = 40;

/// The names under which pages show data, and the values in their elements.
#[derive(Debug, Default)]
pub(crate) struct Bound {
    names: BTreeSet<String>,
    /// Values of `data-` attributes by the rest of their names. The first of a name counts.
    held: BTreeMap<String, String>,
    held_bytes: usize,
    files: Rc<Files>,
}

impl Bound {
    pub(crate) fn has(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// The bindings of a page, or of a script that contains templates.
    pub(crate) fn of(text: &str) -> Self {
        let mut bound = Self::default();
        let attributes = text.match_indices('=').filter_map(|(at, _)| in_attribute(text, at));
        attributes.take(EXPRESSIONS_MAX).for_each(|expression| bound.take(expression));
        let braces = text.match_indices('{').filter_map(|(at, _)| text[at..].strip_prefix("{{"));
        let in_braces = braces.map(|rest| bounded(rest).split("}}").next().unwrap_or_default());
        in_braces.take(EXPRESSIONS_MAX).for_each(|expression| bound.take(expression));
        bound.hold_all(text);
        bound.hold_data(text);
        bound
    }

    pub(crate) fn join(&mut self, more: &Bound) {
        self.names.extend(more.names.iter().cloned());
        more.held.iter().for_each(|(name, value)| self.hold(name, value));
    }

    /// Adds the files of the site.
    pub(crate) fn beside(mut self, files: &Rc<Files>) -> Self {
        self.files = files.clone();
        self
    }

    /// The content of the site's file at an address.
    pub(crate) fn file(&self, address: &str) -> Option<&str> {
        self.files.at(address)
    }

    /// The value of an element under a name, spelled as in markup or as in scripts (`formData`), or of the
    /// data script with an id (`#form`).
    pub(crate) fn held(&self, name: &str) -> Option<&str> {
        if name.starts_with('#') {
            return self.held.get(name).map(String::as_str);
        }
        let mut written = String::new();
        for letter in name.chars() {
            written.extend(letter.is_ascii_uppercase().then_some('-'));
            written.push(letter.to_ascii_lowercase());
        }
        self.held.get(&written).map(String::as_str)
    }

    fn hold(&mut self, name: &str, value: &str) {
        let bytes = self.held_bytes.saturating_add(value.len());
        if value.len() >= HELD_BYTES_MIN && bytes <= HELD_BYTES_MAX && !self.held.contains_key(name) {
            self.held_bytes = bytes;
            self.held.insert(name.to_owned(), without_entities(value).into_owned());
        }
    }

    /// Collects data scripts, which other scripts read by id: `#form`.
    fn hold_data(&mut self, mut text: &str) {
        while let Some((_, behind)) = text.split_once("<script") {
            let Some((tag, behind)) = behind.split_once('>') else { return };
            let (data, rest) = behind.split_once("</script").unwrap_or((behind, ""));
            let id = tag.split_ascii_whitespace().find_map(|attribute| attribute.strip_prefix("id="));
            if let Some(id) = id.filter(|_| tag.contains("json")) {
                self.hold(&format!("#{}", id.trim_matches(['"', '\''])), data);
            }
            text = rest;
        }
    }

    /// Collects the values of all elements.
    fn hold_all(&mut self, mut text: &str) {
        while let Some((_, behind)) = text.split_once("data-") {
            text = behind;
            let is_name = |one: u8| one.is_ascii_alphanumeric() || one == b'-';
            let end = behind.bytes().take(HELD_NAME_BYTES_MAX).take_while(|one| is_name(*one)).count();
            let (name, rest) = behind.split_at(end);
            let Some(rest) = rest.strip_prefix('=') else { continue };
            let Some(quote) = rest.chars().next().filter(|one| matches!(one, '"' | '\'')) else { continue };
            let Some((value, rest)) = rest[1..].split_once(quote) else { continue };
            self.hold(&name.to_ascii_lowercase(), value);
            text = rest;
        }
    }

    /// Takes the last name of a path: `field.label` shows the member `label`.
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

/// The value of a binding attribute whose `=` is at this position.
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

/// Cuts a text to the maximum length of an expression, so that many openings cost no more than the text's
/// length.
fn bounded(text: &str) -> &str {
    let end = text.floor_char_boundary(EXPRESSION_BYTES_MAX + 2);
    &text[..end]
}

/// Resolves only the entities that encoded data and markup need.
fn without_entities(value: &str) -> Cow<'_, str> {
    if !value.contains('&') {
        return Cow::Borrowed(value);
    }
    let plain = value.replace("&quot;", "\"").replace("&#39;", "'").replace("&lt;", "<").replace("&gt;", ">");
    Cow::Owned(plain.replace("&amp;", "&"))
}
