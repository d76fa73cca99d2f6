//! Reports what a script would write to the page, from the recorded effects.

use std::collections::HashSet;

use serde::de::IgnoredAny;

use super::bound::Bound;
use super::budget::{ScriptBudget, allowance};
use super::encodings::{self, has_tag};
use super::eval::evaluate;
use super::memory::{Element, Memory, Record, Seen, TextId, Usage};
use super::syntax::{TOKENS_MAX, TokenKind, Tokens, lex};
use crate::budget::{Budget, steps};

/// The size of a report, in proportion to the source, and in addition. When it is used up, only unreported
/// parts of strings are added.
const REPORT_FACTOR: usize = 4;
const REPORT_BYTES_MORE: usize = 1 << 20;
/// The depth of scripts in scripts, as `eval` creates them.
const INNER_DEPTH_MAX: usize = 4;
/// Shorter strings cannot contain a page.
const HIDDEN_BYTES_MIN: usize = 24;
/// A script without any of these words does not use templates.
const TEMPLATE_WORDS: [&str; 4] = ["content", "cloneNode", "importNode", "template"];
/// Names by which scripts change existing content of the page.
#[rustfmt::skip]
const PAGE_WORDS: [&str; 20] = [
    "document", "style", "classList", "className", "hidden", "showModal", "showPopover", "show", "toggle", "fadeIn",
    "slideDown", "toggleClass", "removeClass", "css", "cloneNode", "removeAttribute", "innerHTML", "adoptedStyleSheets", "jQuery", "$",
];

/// The effects of a script on a page.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Script {
    /// Markup that is (or may be) written to the page, in the order of the source. It includes the markup of
    /// elements that are built by calls.
    pub(crate) markup: Vec<String>,
    /// Plain text that is shown on the page outside of a built element.
    pub(crate) texts: Vec<String>,
    /// What the title of the page is set to.
    pub(crate) titles: Vec<String>,
    /// Addresses that are fetched or imported.
    pub(crate) fetched: Vec<String>,
    /// Whether the script can show hidden content or use a template.
    pub(crate) changes_the_page: bool,
    /// Whether the script can copy a template to the page.
    pub(crate) uses_templates: bool,
}

pub(super) fn read(source: &str, bound: &Bound, budget: &Budget<'_>) -> Script {
    Report::of(source, bound, budget).finish(INNER_DEPTH_MAX)
}

/// The strings of a JSON text: those that contain markup, and the others, of which a script may make labels.
pub(super) fn json(source: &str) -> Script {
    let tokens = lex(source);
    let strings = (0..tokens.len()).filter(|&at| is_json_value(&tokens, at)).filter_map(|at| tokens.get(at));
    let texts = strings.map(|token| {
        let mut text = String::new();
        encodings::unescape(tokens.text(token), &mut text);
        text
    });
    let (markup, texts) = texts.partition(|text| has_tag(text));
    let mut script = Script { markup, texts, ..Script::default() };
    script.deduplicate();
    script
}

/// The forms that data describes, and the data that the page shows by name. Invalid JSON is ignored.
pub(super) fn data(sources: &[String], bound: &Bound, budget: &Budget<'_>) -> Script {
    let is_json = |source: &&String| serde_json::from_str::<IgnoredAny>(source).is_ok();
    let valid: Vec<&str> = sources.iter().filter(is_json).map(String::as_str).collect();
    // All data is read as one list, so that it has one allowance.
    let whole = format!("([{}])", valid.join(","));
    let mut report = Report::of(&whole, bound, budget);
    report.add_elements();
    let mut script =
        Script { texts: report.flat_all(&report.memory.page.shown.clone()), ..Script::default() };
    for (_, item) in report.script {
        script.take(item);
    }
    script.deduplicate();
    script
}

fn is_json_value(tokens: &Tokens, at: usize) -> bool {
    tokens.kind(at) == Some(TokenKind::Text) && tokens.kind(at + 1) != Some(TokenKind::Colon)
}

enum Item {
    Markup(String),
    /// Written, but without a tag in it.
    Text(String),
    /// Boxed, because most items are short strings and a hostile script has a million of them.
    Inner(Box<Script>),
}

struct Report<'s> {
    source_bytes: usize,
    memory: Memory<'s>,
    reported: Seen,
    script: Vec<(u32, Item)>,
    bytes_left: usize,
}

impl<'s> Report<'s> {
    fn of(source: &'s str, bound: &'s Bound, scan: &'s Budget<'s>) -> Self {
        let tokens = lex(source);
        if tokens.len() > TOKENS_MAX {
            scan.exhaust();
        }
        let budget = ScriptBudget::new(source.len(), tokens.len(), scan);
        Report {
            source_bytes: source.len(),
            memory: evaluate(tokens, Memory::new(bound, budget)),
            reported: Seen::default(),
            script: Vec::new(),
            bytes_left: allowance(source.len(), REPORT_FACTOR, REPORT_BYTES_MORE),
        }
    }

    fn finish(mut self, depth_left: usize) -> Script {
        if let Some(written) = self.memory.page.written {
            self.memory.texts.mark(written, Usage::Written);
        }
        self.add_texts();
        self.add_elements();
        let changes_the_page = PAGE_WORDS.iter().any(|word| self.memory.names.has(word));
        let uses_templates = TEMPLATE_WORDS.iter().any(|word| self.memory.names.has(word));
        let mut script = Script { changes_the_page, uses_templates, ..Script::default() };
        script.texts = self.flat_all(&self.memory.page.shown.clone());
        script.titles = self.flat_all(&self.memory.page.titles.clone());
        script.fetched = self.memory.page.fetched.drain(..).map(|(_, address)| address).collect();
        let Self { source_bytes, memory, script: mut items, .. } = self;
        Inner::of(memory, source_bytes).add_to(&mut items, depth_left);
        items.sort_by_key(|(order, _)| *order);
        for (_, item) in items {
            script.take(item);
        }
        script.deduplicate();
        script
    }

    fn flat_all(&mut self, ids: &[TextId]) -> Vec<String> {
        let mut seen = HashSet::new();
        let fresh: Vec<TextId> = ids.iter().copied().filter(|&id| seen.insert(id)).collect();
        fresh.into_iter().map(|id| self.take_text(id)).collect()
    }

    /// A string to report: whole while the allowance lasts, then only its new parts.
    fn take_text(&mut self, id: TextId) -> String {
        let len = self.memory.texts.len(id);
        if len > self.bytes_left {
            return self.memory.texts.fresh(id, &mut self.reported);
        }
        self.bytes_left -= len;
        self.memory.texts.flat(id, usize::MAX)
    }

    fn add_texts(&mut self) {
        let decodes = self.memory.names.has("atob");
        let unescapes = self.memory.names.has("unescape") || self.memory.names.has("decodeURIComponent");
        let mut given = Vec::new();
        for id in self.memory.texts.ids() {
            let Some(record) = self.memory.texts.record(id).copied() else { continue };
            let is_written = record.has(Usage::Written);
            if !self.memory.is_superseded(record.reader) && (is_written || self.goes_to_markup(&record)) {
                given.push((id, is_written));
            }
        }
        let continued = self.continued(&given);
        for (id, is_written) in given {
            if !continued.has(id) {
                self.add_text(id, is_written, decodes, unescapes);
            }
        }
    }

    /// Strings that a later one begins with. Of a text that is written repeatedly, only the last state is a
    /// page.
    fn continued(&self, given: &[(TextId, bool)]) -> Seen {
        let mut continued = Seen::default();
        for &(id, _) in given.iter().rev() {
            let mut next = self.memory.texts.left_part(id);
            while let Some(left) = next.filter(|&left| continued.note(left)) {
                next = self.memory.texts.left_part(left);
            }
        }
        continued
    }

    /// Whether a string with unknown use may be written as markup.
    fn goes_to_markup(&self, record: &Record) -> bool {
        if record.has(Usage::Unclear) {
            return true;
        }
        if record.has(Usage::Consumed) || record.has(Usage::Shown) {
            return false;
        }
        let early = record.held_by.and_then(|name| self.memory.early_uses.get(&name));
        !matches!(early, Some((true, false)))
    }

    fn add_text(&mut self, id: TextId, is_written: bool, decodes: bool, unescapes: bool) {
        let text = self.take_text(id);
        if has_tag(&text) || is_written && text.contains(['<', '&']) {
            return self.script.push((id.order(), Item::Markup(text)));
        }
        if is_written {
            return self.script.push((id.order(), Item::Text(text)));
        }
        if text.len() < HIDDEN_BYTES_MIN {
            return;
        }
        // The script decodes something, and this string decodes to markup.
        let hidden =
            if decodes && text.bytes().all(is_base64) { encodings::from_base64(&text) } else { None };
        let hidden =
            hidden.or_else(|| (unescapes && text.contains("%3")).then(|| encodings::from_percent(&text)));
        if let Some(hidden) = hidden.filter(|hidden| has_tag(hidden)) {
            self.script.push((id.order(), Item::Markup(hidden)));
        }
    }

    fn add_elements(&mut self) {
        let memory = &self.memory;
        let is_superseded = |element: &Element| memory.is_superseded(element.reader);
        for (id, element) in memory.page.elements.roots() {
            if is_superseded(element) || self.bytes_left == 0 {
                continue;
            }
            let markup = memory.page.elements.markup(id, &memory.texts, is_superseded, &mut self.bytes_left);
            self.script.push((element.order, Item::Markup(markup)));
        }
    }
}

/// Data and scripts inside of a script. They are read after the outer state was dropped, so that they can use
/// as much memory.
struct Inner<'s> {
    source_bytes: usize,
    scan: &'s Budget<'s>,
    bound: &'s Bound,
    data: Vec<(u32, String)>,
    scripts: Vec<(u32, String)>,
}

impl<'s> Inner<'s> {
    fn of(memory: Memory<'s>, source_bytes: usize) -> Self {
        let (scan, bound) = (memory.budget.scan(), memory.bound);
        Self { source_bytes, scan, bound, data: memory.page.data, scripts: memory.page.scripts }
    }

    fn add_to(self, items: &mut Vec<(u32, Item)>, depth_left: usize) {
        let (mut data_bytes, mut sources) = (0, Vec::new());
        for (order, source) in self.data {
            if !self.scan.take(source.len() * steps::SCRIPT_BYTE) {
                return;
            }
            data_bytes += source.len();
            let Script { markup, texts, .. } = json(&source);
            items.extend(markup.into_iter().map(|markup| (order, Item::Markup(markup))));
            items.extend(texts.into_iter().map(|text| (order, Item::Text(text))));
            if data_bytes <= self.source_bytes {
                sources.push(source);
            }
        }
        if !sources.is_empty() {
            items.push((0, Item::Inner(Box::new(data(&sources, self.bound, self.scan)))));
        }
        // All inner scripts are read as one. They are no longer than the outer one, so that reading them
        // takes no longer.
        let (mut inner, mut first) = (String::new(), None);
        for (order, source) in self.scripts {
            if inner.len() + source.len() <= self.source_bytes {
                first = first.or(Some(order));
                inner.push_str(&source);
                inner.push_str("\n;");
            }
        }
        if let Some(order) = first.filter(|_| depth_left > 0) {
            let script = Report::of(&inner, &Bound::default(), self.scan).finish(depth_left - 1);
            items.push((order, Item::Inner(Box::new(script))));
        }
    }
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'\n' | b'\r')
}

impl Script {
    fn take(&mut self, item: Item) {
        match item {
            Item::Markup(markup) => self.markup.push(markup),
            Item::Text(text) => self.texts.push(text),
            Item::Inner(inner) => {
                self.markup.extend(inner.markup);
                self.texts.extend(inner.texts);
                self.titles.extend(inner.titles);
                self.fetched.extend(inner.fetched);
                self.changes_the_page |= inner.changes_the_page;
                self.uses_templates |= inner.uses_templates;
            }
        }
    }

    /// Removes duplicates.
    fn deduplicate(&mut self) {
        for list in [&mut self.markup, &mut self.texts, &mut self.titles, &mut self.fetched] {
            let mut seen = HashSet::new();
            let is_new: Vec<bool> =
                list.iter().map(|text| !text.trim().is_empty() && seen.insert(text.as_str())).collect();
            let mut is_new = is_new.into_iter();
            list.retain(|_| is_new.next().unwrap_or_default());
        }
        drop_beginnings(&mut self.markup);
    }
}

/// Removes markup that is the beginning of other markup, because a page may be written again with more in it.
fn drop_beginnings(markup: &mut Vec<String>) {
    let mut sorted: Vec<usize> = (0..markup.len()).collect();
    sorted.sort_by_key(|&at| &markup[at]);
    let pairs = sorted.windows(2).map(|pair| (pair[0], pair[1]));
    let beginnings: HashSet<usize> =
        pairs.filter(|&(one, next)| markup[next].starts_with(&markup[one])).map(|(one, _)| one).collect();
    let mut at = 0;
    markup.retain(|_| {
        at += 1;
        !beginnings.contains(&(at - 1))
    });
}
