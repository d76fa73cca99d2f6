//! A field: an element that a visitor can type into, and the words that say what it asks for.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::rc::Rc;

use html5ever::local_name;

use super::Spot;
use crate::document::Element;
use crate::words::Text;

const DESCRIPTION_CHARS_MAX: usize = 100;
/// The maximum length of a stored label or hint, because a label may wrap a whole page.
pub(super) const LABEL_CHARS_MAX: usize = 400;
/// Attributes that contain the name that scripts use for a field.
const NAME_ATTRIBUTES: [&str; 6] = ["name", "id", "v-model", "ng-model", "formcontrolname", "data-field"];
/// Attributes in which libraries bind an expression to the type of a field.
const BOUND_TYPES: [&str; 4] = [":type", "v-bind:type", "x-bind:type", "[type]"];
/// Attributes with a text that says what to enter.
const HINT_ATTRIBUTES: [&str; 4] = ["placeholder", "aria-placeholder", "data-placeholder", "title"];

pub(crate) struct Field {
    pub(crate) kind: Kind,
    pub(crate) spot: Spot,
    /// For the evidence, such as `input#phrase[name=seed]`.
    pub(crate) description: String,
    /// The number of blocks in its part before it.
    pub(crate) blocks_before: usize,
    /// Whether the only text in the field's own box follows it, such as a floating label.
    pub(crate) is_labelled_behind: bool,
    /// The number of the text at the head of its column, as in a table.
    pub(crate) head: Option<usize>,
    labels: Vec<Rc<Text>>,
    /// Texts that are shown in it until the visitor types.
    hints: Vec<Text>,
    names: Names,
    /// The value of `autocomplete`.
    autocomplete: Option<Text>,
    pub(crate) shape: Shape,
}

/// Identifiers, parsed on first use.
struct Names {
    raw: Vec<String>,
    texts: OnceCell<Vec<Text>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Line,
    /// Several lines: a textarea or an editable element.
    Area,
    /// The input is masked.
    Password,
    /// A number, an address, a date, but not words.
    Value,
    File,
    Search,
    /// Not for typing: a checkbox, a list, a disabled field or an output.
    Choice,
}

/// Properties of a field that do not depend on its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shape {
    /// A sample value in it looks like a payment card number.
    pub(crate) shows_card_number: bool,
    /// A password manager fills it in.
    pub(crate) is_for_managers: bool,
    /// It is named like a search box. Its label may say something else.
    pub(crate) is_named_search: bool,
    /// A radio button.
    pub(crate) is_dot: bool,
    /// A checkbox or a radio button. The text next to it is an option and not a request.
    pub(crate) is_tick: bool,
    /// It takes one or two characters, such as a box of a puzzle or of a one-time code.
    pub(crate) is_tiny: bool,
}

impl Field {
    /// The field for this element, or `None` if it is not a field.
    pub(super) fn of(element: Element<'_>, is_masked: bool) -> Option<Field> {
        let kind = kind(element, is_masked)?;
        let hints = HINT_ATTRIBUTES.map(|name| element.text(name)).into_iter().chain(preset(element));
        let hints = hints.filter(|text| !text.trim().is_empty());
        let names = NAME_ATTRIBUTES.map(|name| element.text(name)).into_iter();
        let names = names.filter(|name| !name.is_empty());
        let mut field = Field {
            kind,
            spot: Spot::OPEN,
            description: describe(element),
            blocks_before: 0,
            is_labelled_behind: false,
            head: None,
            labels: Vec::new(),
            hints: exactly(hints.map(|text| Text::of(&without_domains(clip(text))))),
            names: Names { raw: exactly(names.map(|name| clip(name).to_owned())), texts: OnceCell::new() },
            autocomplete: element.get("autocomplete").map(Text::of_name),
            shape: shape(element),
        };
        if let Some(label) = element.get("aria-label") {
            field.add_label(Rc::new(Text::of(clip(label))));
        }
        Some(field)
    }

    /// Whether a visitor can type something into the element.
    pub(super) fn is(element: Element<'_>) -> bool {
        kind(element, false).is_some_and(|kind| kind != Kind::Choice)
    }

    /// Whether its text can be edited in place.
    pub(super) fn is_by_editing(element: Element<'_>) -> bool {
        !element.is_bare()
            && !matches!(
                *element.local(),
                local_name!("input") | local_name!("textarea") | local_name!("select")
            )
            && element.get("contenteditable").is_some_and(|value| !value.eq_ignore_ascii_case("false"))
    }

    /// Whether it has no words of its own.
    pub(super) fn is_bare(&self) -> bool {
        self.labels.is_empty()
            && self.hints.is_empty()
            && self.names.raw.is_empty()
            && self.autocomplete.is_none()
    }

    pub(super) fn add_label(&mut self, text: Rc<Text>) {
        if !text.is_empty() {
            self.labels.push(text);
        }
    }

    pub(super) fn add_hint(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.hints.push(Text::of(text));
        }
    }

    pub(crate) fn labels(&self) -> impl Iterator<Item = &Text> + Clone {
        self.labels.iter().map(|label| &**label)
    }

    pub(crate) fn hints(&self) -> &[Text] {
        &self.hints
    }

    pub(crate) fn names(&self) -> &[Text] {
        self.names.texts.get_or_init(|| self.names.raw.iter().map(|name| Text::of_name(name)).collect())
    }

    pub(crate) fn filled_in(&self) -> Option<&Text> {
        self.autocomplete.as_ref()
    }

    /// Whether a visitor can type words into it.
    pub(crate) fn takes_text(&self) -> bool {
        matches!(self.kind, Kind::Line | Kind::Area | Kind::Password | Kind::File)
    }

    pub(crate) fn takes_anything(&self) -> bool {
        self.kind != Kind::Choice
    }
}

/// A vector without spare capacity. A hostile page has a million fields with few texts.
fn exactly<T>(of: impl Iterator<Item = T>) -> Vec<T> {
    let mut list = Vec::new();
    for one in of {
        list.reserve_exact(1);
        list.push(one);
    }
    list
}

/// Cuts a label or a hint to the length that is stored.
pub(super) fn clip(text: &str) -> &str {
    if text.len() <= LABEL_CHARS_MAX {
        return text;
    }
    text.char_indices().nth(LABEL_CHARS_MAX).map_or(text, |(end, _)| &text[..end])
}

/// The type of an input as browsers interpret it. An input that a library may change to a password field
/// counts as one.
pub(super) fn type_of(element: Element<'_>) -> Cow<'_, str> {
    let written = element.text("type").trim();
    if matches!(written, "" | "text")
        && BOUND_TYPES.iter().any(|name| element.text(name).contains("password"))
    {
        return Cow::Borrowed("password");
    }
    match written.bytes().any(|byte| byte.is_ascii_uppercase()) {
        true => Cow::Owned(written.to_ascii_lowercase()),
        false => Cow::Borrowed(written),
    }
}

fn kind(element: Element<'_>, is_masked: bool) -> Option<Kind> {
    if !element.is_html() {
        return None;
    }
    let kind = match *element.local() {
        local_name!("input") => input_kind(element)?,
        local_name!("textarea") => Kind::Area,
        local_name!("select") => Kind::Choice,
        _ if Field::is_by_editing(element) => Kind::Area,
        _ => return None,
    };
    let kind = match kind {
        Kind::Line | Kind::Area | Kind::Value if is_masked => Kind::Password,
        other => other,
    };
    // A read-only password field is in use: the visitor fills it in with keys that the page draws.
    let is_out_of_use = element.has("disabled") || (is_output(element) && kind != Kind::Password);
    Some(if is_out_of_use { Kind::Choice } else { kind })
}

fn input_kind(element: Element<'_>) -> Option<Kind> {
    Some(match &*type_of(element) {
        // The reader treats a button as text.
        "hidden" | "submit" | "button" | "reset" | "image" => return None,
        "checkbox" | "radio" | "range" | "color" => Kind::Choice,
        "password" => Kind::Password,
        "file" => Kind::File,
        "search" => Kind::Search,
        "email" | "number" | "date" | "month" | "week" | "time" | "datetime-local" => Kind::Value,
        _ if element.text("role") == "searchbox" => Kind::Search,
        // Browsers treat an unknown type as text.
        _ => Kind::Line,
    })
}

/// A field that only shows a value. A field that becomes writable on focus does not count: that is a common
/// trick against autofill.
fn is_output(element: Element<'_>) -> bool {
    element.has("readonly")
        && !["onfocus", "onclick", "ontouchstart", "onmousedown"].iter().any(|touch| element.has(touch))
}

/// The initial value of an input, which often says what to enter.
fn preset(element: Element<'_>) -> Option<&str> {
    (*element.local() == local_name!("input")).then(|| element.text("value"))
}

fn shape(element: Element<'_>) -> Shape {
    let length_max = element.text("maxlength").trim().parse::<u32>().ok();
    Shape {
        shows_card_number: looks_like_card_number(element.text("placeholder")),
        is_for_managers: element.text("autocomplete").contains("current-password"),
        is_named_search: matches!(element.text("name"), "q" | "query" | "search"),
        is_dot: type_of(element) == "radio",
        is_tick: matches!(&*type_of(element), "checkbox" | "radio"),
        is_tiny: length_max.is_some_and(|length| length <= 2),
    }
}

/// The domain of an e-mail address does not name the site, so that `you@gmail.com` is read as `you@`.
fn without_domains(text: &str) -> Cow<'_, str> {
    if !text.contains('@') {
        return Cow::Borrowed(text);
    }
    let without_domain = |word: &str| match word.split_once('@') {
        Some((name, _)) if name.ends_with(char::is_alphanumeric) => format!("{name}@"),
        _ => word.to_owned(),
    };
    Cow::Owned(text.split(' ').map(without_domain).collect::<Vec<_>>().join(" "))
}

/// Four groups of four digits or placeholders.
fn looks_like_card_number(text: &str) -> bool {
    let mut groups = text.trim().split([' ', '-', '\u{a0}']).filter(|group| !group.is_empty());
    let is_group = |group: &str| {
        group.chars().count() == 4
            && group
                .chars()
                .all(|one| one.is_ascii_digit() || matches!(one, '•' | '●' | '*' | 'X' | 'x' | '#' | '_'))
    };
    let first_four = groups.by_ref().take(4).filter(|group| is_group(group)).count();
    first_four == 4 && groups.next().is_none()
}

fn describe(element: Element<'_>) -> String {
    let mut description = element.name().to_owned();
    if let Some(id) = element.get("id") {
        description.extend(["#", id]);
    }
    for hint in ["name", "type"] {
        if let Some(value) = element.get(hint) {
            description.extend(["[", hint, "=", value, "]"]);
        }
    }
    if let Some((end, _)) = description.char_indices().nth(DESCRIPTION_CHARS_MAX) {
        description.truncate(end);
    }
    description
}

#[cfg(test)]
mod tests {
    use super::looks_like_card_number;

    #[test]
    fn card_number_examples_are_detected_by_their_digit_groups() {
        for yes in
            ["1234 5678 9012 3456", "•••• •••• •••• ••••", "0000-0000-0000-0000", "XXXX XXXX XXXX 1234"]
        {
            assert!(looks_like_card_number(yes), "{yes}");
        }
        for no in
            ["", "1234 5678", "DE12 3456 7890 1234 56", "Word Word Word Word", "2026 2027 2028 2029 2030"]
        {
            assert!(!looks_like_card_number(no), "{no}");
        }
    }
}
