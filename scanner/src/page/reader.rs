//! Reads a document from top to bottom. Visible content becomes texts and fields, frames are read in place,
//! and scripts are collected as separate parts.

mod attributes;
mod boxes;
mod embedding;

use std::borrow::Cow;
use std::collections::HashSet;

use html5ever::local_name;

use boxes::Boxes;
use embedding::open_text;

use super::context::ElementContext;
use super::field::{Field, LABEL_CHARS_MAX};
use super::run::Run;
use super::{Flow, Form, Kind, Part, Reading, Region, Role, Spot};
use crate::budget::{Budget, steps};
use crate::document::{self, Content, Document, Element, Holds, Layout, NodeId, Onward, Step};
use crate::script::Bound;
use crate::style::{self, Canvas, ElementVisibility};

/// The number of fields without own words that are kept. Nobody fills in more.
const BARE_FIELDS_MAX: usize = 10_000;
/// The memory for a field with its texts.
const FIELD_BYTES: usize = 600;
/// The initial value of a text field is a hint if it is this short.
const PRESET_WORDS_MAX: usize = 14;
/// The number of titles of one part that count. Browsers show the first.
pub(super) const TITLES_MAX: usize = 4;

/// The environment of a file: its number and data from the rest of its site.
#[derive(Clone, Copy)]
pub(crate) struct Around<'a> {
    pub(crate) file: usize,
    /// Returns the style sheets at an address.
    pub(crate) sheets: &'a dyn Fn(&str) -> Vec<&'a str>,
    /// The data that pages of the site show.
    pub(crate) bound: &'a Bound,
    pub(crate) budget: &'a Budget<'a>,
}

impl Around<'_> {
    /// Parses markup if the budget allows it.
    pub(crate) fn parse(&self, text: &str, parse: fn(&str) -> Document) -> Option<Document> {
        self.budget.take(text.len() * steps::DOCUMENT_BYTE).then(|| parse(text))
    }

    pub(crate) fn parse_html(&self, text: &str) -> Option<Document> {
        self.parse(text, document::parse_html)
    }
}

/// Reads a document and everything that is written into it.
pub(crate) fn read(document: &Document, canvas: Canvas, around: Around<'_>) -> Reading {
    let mut reader = Reader::new(around);
    reader.canvas = canvas;
    reader.read(document, 0, None);
    let data = std::mem::take(&mut reader.data);
    let (mut reading, scripts) = reader.finish();
    reading.take_scripts(&scripts, around);
    reading.take_data(&data, around);
    reading
}

pub(super) struct Reader<'a> {
    part: Part,
    reading: Reading,
    around: Around<'a>,
    canvas: Canvas,
    scripts: Vec<String>,
    /// JSON that the page contains for its scripts.
    data: Vec<String>,
    handlers: String,
    run: Run,
    boxes: Boxes,
    forms_seen: u32,
    parts_seen: u32,
    regions_seen: u32,
}

impl<'a> Reader<'a> {
    pub(super) fn new(around: Around<'a>) -> Self {
        Self {
            part: Part { file: around.file, ..Part::default() },
            reading: Reading::default(),
            around,
            canvas: Canvas::Unknown,
            scripts: Vec::new(),
            data: Vec::new(),
            handlers: String::new(),
            run: Run::default(),
            boxes: Boxes::default(),
            forms_seen: 0,
            parts_seen: 0,
            regions_seen: 0,
        }
    }

    /// Returns the reading, and the sources of the scripts in the document.
    pub(super) fn finish(self) -> (Reading, Vec<String>) {
        let Self { part, mut reading, mut scripts, handlers, .. } = self;
        reading.parts.insert(0, part);
        scripts.extend((!handlers.is_empty()).then_some(handlers));
        (reading, scripts)
    }

    /// Reads a text that stands by itself.
    pub(super) fn read_text(&mut self, text: &str) {
        self.run.push(text);
        self.end_run(Role::Plain, Spot::OPEN);
    }

    pub(super) fn read(&mut self, document: &Document, depth: usize, outer: Option<Region>) {
        let budget = self.around.budget;
        if document.is_cut {
            return budget.exhaust();
        }
        if !budget.take(document.node_count() * steps::NODE) {
            return;
        }
        let sheets = self.style_sheets(document);
        let sheets: Vec<&str> = sheets.iter().map(|sheet| &**sheet).collect();
        let canvas = if depth == 0 { self.canvas } else { Canvas::Unknown };
        let looks = style::dress(document, &sheets, canvas);
        budget.take(looks.comparisons * steps::STYLE_COMPARISON);
        self.reading.reveals.elements |= looks.may_reveal();
        let mut context = ElementContext::new(document, &looks, depth, outer);
        document.walk(document.root(), |step| match step {
            Step::Enter(node) => self.enter(&mut context, node),
            Step::Leave(node) => {
                self.leave(&mut context, node);
                Onward::Inside
            }
        });
        self.end_run_in(&context);
        context.finish(&mut self.part);
    }

    /// The document's style sheets: in style elements and in linked files of the site.
    fn style_sheets(&self, document: &Document) -> Vec<Cow<'a, str>> {
        let mut sheets = Vec::new();
        let mut linked = HashSet::new();
        let is_of_style =
            |element: Element<'_>| matches!(*element.local(), local_name!("style") | local_name!("link"));
        if !document.nodes().any(|node| document.element(node).is_some_and(is_of_style)) {
            return sheets;
        }
        document.walk(document.root(), |step| {
            if let Step::Enter(node) = step
                && let Some(element) = document.element(node)
            {
                match *element.local() {
                    local_name!("style") => sheets.push(document.source_in(node).into()),
                    local_name!("link") if is_new_sheet(element, &mut linked) => {
                        sheets.extend(open_text(element.text("href")).map(Cow::Owned));
                        sheets.extend(
                            (self.around.sheets)(element.text("href")).into_iter().map(Cow::Borrowed),
                        );
                    }
                    _ => {}
                }
            }
            Onward::Inside
        });
        sheets
    }

    fn enter(&mut self, context: &mut ElementContext<'_>, node: NodeId) -> Onward {
        if self.around.budget.is_exhausted() {
            return Onward::Past;
        }
        match (context.document.content(node), context.document.element(node)) {
            (Content::Text(text), _) => {
                if context.is_readable(node, &mut self.regions_seen) {
                    let text = context.as_read(node, text);
                    context.labels.take_text(&text);
                    self.take_text(context, node, &text);
                }
                Onward::Inside
            }
            (_, Some(element)) => self.enter_element(context, node, element),
            _ => Onward::Inside,
        }
    }

    fn enter_element<'d>(
        &mut self,
        context: &mut ElementContext<'d>,
        node: NodeId,
        element: Element<'d>,
    ) -> Onward {
        if !element.is_bare() {
            self.take_handlers(element);
        }
        if ["popovertarget", "commandfor"].iter().any(|shows| element.has(shows)) {
            self.reading.reveals.elements = true;
        }
        match *element.local() {
            local_name!("script") => return self.put_script_aside(context, node, element),
            _ if matches!(element.holds(), Holds::Code | Holds::Substitute) => return Onward::Past,
            local_name!("iframe") | local_name!("frame") | local_name!("object") | local_name!("embed") => {
                return self.enter_frame(context, node, element);
            }
            local_name!("title") if element.is_html() => {
                if self.part.titles.len() < TITLES_MAX {
                    self.part.titles.push(context.document.text_below(node, LABEL_CHARS_MAX));
                }
                return Onward::Past;
            }
            local_name!("title") if element.is_svg() => self.take_title_of_drawing(context, node),
            local_name!("meta") if element.text("http-equiv").trim().eq_ignore_ascii_case("refresh") => {
                self.reading.flow.join(Flow::of_refresh(element.text("content")));
            }
            local_name!("link") if element.text("rel").eq_ignore_ascii_case("import") => {
                self.embed(element.text("href"))
            }
            _ => {}
        }
        if self.is_hidden(context, node) {
            // Its scripts run even though it is not visible.
            return Onward::Inside;
        }
        self.open(context, node, element);
        self.show_attributes(context, node, element);
        self.enter_field(context, node, element)
    }

    fn open<'d>(&mut self, context: &mut ElementContext<'d>, node: NodeId, element: Element<'d>) {
        self.run.edge();
        if *element.local() == local_name!("br") {
            self.run.end_line();
        } else if element.layout() == Layout::Apart {
            self.end_run_in(context);
            self.boxes.open(&self.part);
        }
        context.count(element, 1);
        self.parts_seen += 1;
        context.open_part(element, self.parts_seen);
        match *element.local() {
            local_name!("form") => {
                self.forms_seen += 1;
                context.open_form(element, Form::Numbered(self.forms_seen));
            }
            local_name!("label") => context.labels.open(node, &self.part),
            _ => {}
        }
        self.show_generated(context, node, context.looks.before(node));
    }

    fn is_hidden(&mut self, context: &mut ElementContext<'_>, node: NodeId) -> bool {
        context.looks.shown(node) == ElementVisibility::Gone
            && !context.is_readable(node, &mut self.regions_seen)
    }

    fn leave(&mut self, context: &mut ElementContext<'_>, node: NodeId) {
        let Some(element) = context.document.element(node) else { return };
        if self.is_hidden(context, node) {
            return;
        }
        self.show_generated(context, node, context.looks.after(node));
        self.run.edge();
        if element.layout() == Layout::Apart && *element.local() != local_name!("br") {
            self.end_run_in(context);
            self.boxes.close(&mut self.part);
        }
        match *element.local() {
            local_name!("label") => context.labels.close(context.document, element, &mut self.part),
            local_name!("form") => context.close_form(),
            _ => {}
        }
        context.close_part(element);
        context.count(element, -1);
    }

    fn take_text(&mut self, context: &mut ElementContext<'_>, node: NodeId, text: &str) {
        let region = context.region(node, &mut self.regions_seen);
        if self.run.region != region || self.run.is_ended_by(text) {
            self.end_run_in(context);
            self.run.region = region;
        }
        if context.is_in_link() {
            self.run.push_link(text);
        } else {
            self.run.push(text);
        }
    }

    fn end_run_in(&mut self, context: &ElementContext<'_>) {
        if !self.run.is_empty() {
            self.end_run(context.role_of(&self.run), context.spot(None));
        }
    }

    fn end_run(&mut self, role: Role, spot: Spot) {
        let Some(block) = self.run.end(role, spot) else { return };
        let blocks = self.part.blocks.len();
        let follows_a_text = self.part.fields.last().is_none_or(|field| field.blocks_before < blocks);
        let is_taken =
            follows_a_text && self.part.blocks.last_mut().is_some_and(|last| last.take_scrap(&block));
        if !is_taken && self.around.budget.keep(block.kept_bytes()) {
            self.part.blocks.push(block);
        }
    }

    /// Reads generated text from the style sheets like any other text.
    fn show_generated(&mut self, context: &mut ElementContext<'_>, node: NodeId, text: Option<&str>) {
        if let Some(text) = text
            && context.is_readable(node, &mut self.regions_seen)
        {
            let text = context.as_read(node, text);
            context.labels.take_text(&text);
            self.take_text(context, node, &text);
        }
    }

    /// Of consecutive bare fields, keeps only the last. Otherwise the text before a dropped field could count
    /// as the label of the next one.
    fn keep_the_last_bare(&mut self, field: Field) {
        match self.part.fields.last_mut() {
            Some(last) if last.is_bare() => *last = field,
            _ => self.part.fields.push(field),
        }
    }

    fn enter_field<'d>(
        &mut self,
        context: &mut ElementContext<'d>,
        node: NodeId,
        element: Element<'d>,
    ) -> Onward {
        if Field::is_by_editing(element) && context.is_in_other_editable() {
            return Onward::Inside;
        }
        let Some(mut field) = Field::of(element, context.looks.is_masked(node)) else {
            return Onward::Inside;
        };
        self.end_run_in(context);
        let region = context.region(node, &mut self.regions_seen);
        field.spot = context.spot(region);
        field.blocks_before = self.part.blocks.len();
        let is_input = matches!(element.name(), "input" | "select");
        if field.kind == Kind::Area && !is_input {
            let preset = context.document.text_below(node, LABEL_CHARS_MAX);
            // A longer text, or sample markup, is content that the visitor edits.
            if !preset.contains('<') && preset.split_whitespace().count() <= PRESET_WORDS_MAX {
                field.add_hint(&preset);
            }
            field.add_hint(context.looks.before(node).unwrap_or_default());
        }
        if self.part.fields.len() >= BARE_FIELDS_MAX && field.is_bare() && !context.labels.is_in_label() {
            self.keep_the_last_bare(field);
            return Onward::Inside;
        }
        if !self.around.budget.keep(FIELD_BYTES) {
            return Onward::Past;
        }
        context.want_form(element, self.part.fields.len());
        context.labels.want(element, self.part.fields.len());
        self.part.fields.push(field);
        match element.name() {
            "select" | "textarea" => {
                // The caller skips leaving a node that was not entered.
                self.leave(context, node);
                Onward::Past
            }
            _ => Onward::Inside,
        }
    }
}

/// Whether it is the first link to this style sheet. A second link changes nothing that matters.
fn is_new_sheet<'d>(link: Element<'d>, linked: &mut HashSet<&'d str>) -> bool {
    let is_sheet = link.text("rel").to_ascii_lowercase().contains("stylesheet");
    is_sheet && linked.insert(link.text("href"))
}
