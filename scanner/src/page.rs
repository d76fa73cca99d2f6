//! A tree to what matters: the fields of a page with the words that stand with them, and the words that visitors see.

mod fields;

use std::collections::{HashMap, HashSet};

use html5ever::tendril::StrTendril;
use html5ever::{Attribute, LocalName};

use crate::tree::{Content, Onward, Step, Tree};
use crate::words::Words;

use fields::LabelTexts;
pub(crate) use fields::{Field, Form};

/// A text beside a field is its label when it is short; longer ones are prose.
const BESIDE_CHARS_MAX: usize = 100;
/// What is kept of a label: somebody may wrap a whole page in one.
const LABEL_CHARS_MAX: usize = 400;

pub(crate) struct Page {
    pub(crate) fields: Vec<Field>,
    /// Text, title, alternative texts, placeholders and what buttons say.
    pub(crate) visible: Words,
}

impl Page {
    pub(crate) fn read(tree: &Tree) -> Page {
        let mut reader = Reader { named: named_as_labels(tree), ..Reader::default() };
        tree.walk(|step| match step {
            Step::Enter(Content::Text(text)) => reader.take_text(text),
            Step::Enter(Content::Element { name, attributes }) => {
                reader.enter(&name.local, &Attributes(attributes))
            }
            Step::Leave(Content::Element { name, attributes }) => {
                reader.leave(&name.local, &Attributes(attributes))
            }
            Step::Enter(Content::Nothing) | Step::Leave(_) => Onward::Inside,
        });
        reader.finish()
    }
}

pub(crate) struct Attributes<'a>(&'a [Attribute]);

impl Attributes<'_> {
    pub(crate) fn get(&self, name: &str) -> Option<&StrTendril> {
        self.0.iter().find(|attribute| &*attribute.name.local == name).map(|attribute| &attribute.value)
    }

    pub(crate) fn text(&self, name: &str) -> &str {
        self.get(name).map_or("", |value| value)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }
}

/// The ids that `aria-labelledby` points at anywhere: these elements are labels too.
fn named_as_labels(tree: &Tree) -> HashSet<String> {
    let mut named = HashSet::new();
    tree.walk(|step| {
        if let Step::Enter(Content::Element { attributes, .. }) = step {
            let ids = Attributes(attributes);
            named.extend(ids.text("aria-labelledby").split_ascii_whitespace().map(str::to_owned));
        }
        Onward::Inside
    });
    named
}

/// Reads a page from top to bottom.
#[derive(Default)]
struct Reader {
    named: HashSet<String>,
    fields: Vec<Field>,
    visible: String,
    /// The text since the last edge of a block, and the one before that edge.
    run: String,
    run_before: String,
    /// The field that the run follows directly and that has no text before it.
    before_run: Option<usize>,
    labels: Vec<Label>,
    label_texts: LabelTexts,
    forms: Vec<OpenForm>,
    forms_seen: u32,
    form_numbers: HashMap<String, Form>,
}

/// An element whose text names fields.
struct Label {
    text: String,
    fields_before: usize,
}

struct OpenForm {
    form: Form,
    /// The latest heading or legend in it.
    heading: String,
}

impl Reader {
    fn enter(&mut self, name: &LocalName, attributes: &Attributes<'_>) -> Onward {
        if shows_nothing(name, attributes) {
            return Onward::Past;
        }
        if is_block(name) {
            self.end_run();
        }
        if &**name == "form" {
            self.open_form(attributes);
        }
        if self.is_label(name, attributes) {
            self.labels.push(Label { text: String::new(), fields_before: self.fields.len() });
        }
        for shown in ["alt", "title", "placeholder"] {
            self.show(attributes.text(shown));
        }
        self.enter_field(name, attributes)
    }

    fn enter_field(&mut self, name: &LocalName, attributes: &Attributes<'_>) -> Onward {
        if let Some(mut field) = Field::of(name, attributes) {
            field.form = self.forms.last().map_or(Form::None, |open| open.form);
            self.end_run();
            field.add_around(beside(&self.run_before).unwrap_or_default());
            field.add_around(self.forms.last().map_or("", |open| &open.heading));
            // Text behind the field names it where there is none before it.
            self.before_run = self.run_before.is_empty().then_some(self.fields.len());
            self.run_before.clear();
            self.fields.push(field);
        } else if &**name == "input" {
            self.show_button(attributes);
        }
        if &**name == "textarea" { Onward::Past } else { Onward::Inside }
    }

    fn leave(&mut self, name: &LocalName, attributes: &Attributes<'_>) -> Onward {
        if self.is_label(name, attributes) {
            self.close_label(name, attributes);
        }
        if is_heading(name)
            && let Some(open) = self.forms.last_mut()
        {
            open.heading = beside(&self.run).unwrap_or_default().to_owned();
        }
        if &**name == "form" {
            self.forms.pop();
        }
        if is_block(name) {
            self.end_run();
        }
        if &**name == "title" {
            // A title stands beside nothing.
            self.run_before.clear();
        }
        Onward::Inside
    }

    fn take_text(&mut self, text: &str) -> Onward {
        self.run.push_str(text);
        if let Some(label) = self.labels.last_mut()
            && label.text.len() < LABEL_CHARS_MAX
        {
            label.text.extend(text.chars().take(LABEL_CHARS_MAX));
        }
        Onward::Inside
    }

    /// An attribute that visitors see is read like a word of its own.
    fn show(&mut self, text: &str) {
        if !text.is_empty() {
            self.visible.extend([" ", text, " "]);
        }
    }

    fn show_button(&mut self, attributes: &Attributes<'_>) {
        if matches!(&*attributes.text("type").to_ascii_lowercase(), "submit" | "button" | "reset") {
            self.show(attributes.text("value"));
        }
    }

    fn end_run(&mut self) {
        self.visible.extend([self.run.as_str(), " "]);
        if let Some(field) = self.before_run.take() {
            self.fields[field].add_around(beside(&self.run).unwrap_or_default());
        }
        if !self.run.trim().is_empty() {
            self.run_before = std::mem::take(&mut self.run);
        }
        self.run.clear();
    }

    fn is_label(&self, name: &LocalName, attributes: &Attributes<'_>) -> bool {
        &**name == "label" || attributes.get("id").is_some_and(|id| self.named.contains(&**id))
    }

    fn close_label(&mut self, name: &LocalName, attributes: &Attributes<'_>) {
        let Some(label) = self.labels.pop() else { return };
        if &**name == "label" {
            // As in browsers, a label without `for` names the first field in it.
            if let Some(field) = self.fields.get_mut(label.fields_before) {
                field.add_label(&label.text);
            }
            if let Some(field) = attributes.get("for") {
                self.label_texts.for_id.insert(field.to_string(), label.text.clone());
            }
        }
        if let Some(id) = attributes.get("id") {
            self.label_texts.by_id.insert(id.to_string(), label.text);
        }
    }

    fn open_form(&mut self, attributes: &Attributes<'_>) {
        self.forms_seen += 1;
        let form = Form::Numbered(self.forms_seen);
        self.forms.push(OpenForm { form, heading: String::new() });
        if let Some(id) = attributes.get("id") {
            self.form_numbers.entry(id.to_string()).or_insert(form);
        }
    }

    fn finish(mut self) -> Page {
        self.end_run();
        let mut visible = Words::default();
        visible.add(&self.visible);
        for field in &mut self.fields {
            field.resolve(&self.label_texts, &self.form_numbers);
        }
        Page { fields: self.fields, visible }
    }
}

/// The last sentence of a text, when it is short enough to be a label, and no sample of markup.
fn beside(text: &str) -> Option<&str> {
    let text = text.trim_end_matches(|c: char| !c.is_alphanumeric());
    let start = text.rfind(['.', '!', '?', ';']).map_or(0, |end| end + 1);
    let sentence = text[start..].trim();
    let is_label = !sentence.is_empty() && sentence.chars().count() <= BESIDE_CHARS_MAX;
    (is_label && !sentence.contains('<')).then_some(sentence)
}

fn shows_nothing(name: &LocalName, attributes: &Attributes<'_>) -> bool {
    match &**name {
        "script" | "style" | "noscript" | "iframe" | "noembed" | "noframes" => true,
        // A declared shadow root is shown, though it is written as a template.
        "template" => !attributes.has("shadowrootmode"),
        _ => false,
    }
}

fn is_heading(name: &LocalName) -> bool {
    matches!(&**name, "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "legend")
}

/// Elements that lie apart from the text around them.
fn is_block(name: &LocalName) -> bool {
    is_heading(name)
        || matches!(
            &**name,
            "address" | "article" | "aside" | "blockquote" | "body" | "br" | "button" | "caption"
        )
        || matches!(
            &**name,
            "center" | "dd" | "details" | "dialog" | "div" | "dl" | "dt" | "fieldset" | "figure"
        )
        || matches!(
            &**name,
            "figcaption" | "footer" | "form" | "head" | "header" | "hr" | "label" | "li" | "main"
        )
        || matches!(
            &**name,
            "nav" | "ol" | "option" | "p" | "pre" | "section" | "select" | "summary" | "table"
        )
        || matches!(&**name, "tbody" | "td" | "th" | "title" | "tr" | "ul" | "xmp" | "listing" | "plaintext")
}
