//! From what was noted while a script was read to what it would put on the page.

use std::collections::HashSet;

use serde::de::IgnoredAny;

use super::effects::elements::Built;
use super::encodings::{self, has_tag};
use super::eval::evaluator::{Evaluator, allowance};
use super::memory::texts::{Record, Seen, TextId, Usage};
use super::syntax::lexer::lex;
use super::syntax::tokens::{Kind, Tokens};
use super::{Bound, Script};
use crate::budget::Budget;

/// What is handed out at most, as a multiple of the source and beyond it. Past it only parts that were not handed
/// out before still are.
const REPORT_FACTOR: usize = 4;
const REPORT_BYTES_MORE: usize = 1 << 20;
/// Shorter strings hide no page.
const HIDDEN_BYTES_MIN: usize = 24;
/// Without one of these a template stays what it is.
const TEMPLATE_WORDS: [&str; 4] = ["content", "cloneNode", "importNode", "template"];
/// How scripts touch what is on the page already.
const PAGE_WORDS: [&str; 20] = [
    "document",
    "style",
    "classList",
    "className",
    "hidden",
    "showModal",
    "showPopover",
    "show",
    "toggle",
    "fadeIn",
    "slideDown",
    "toggleClass",
    "removeClass",
    "css",
    "cloneNode",
    "removeAttribute",
    "innerHTML",
    "adoptedStyleSheets",
    "jQuery",
    "$",
];

pub(crate) fn read(source: &str, bound: &Bound, budget: &Budget<'_>, depth_left: usize) -> Script {
    let tokens = lex(source);
    let mut evaluator = Evaluator::new(source, tokens, bound, budget);
    evaluator.run();
    Report::of(evaluator).finish(depth_left)
}

/// The strings of a JSON text: those that hold markup, and the others, of which a script may make labels.
pub(crate) fn json(source: &str) -> Script {
    let tokens = lex(source);
    let strings = (0..tokens.len()).filter(|&at| is_json_value(&tokens, at)).filter_map(|at| tokens.get(at));
    let texts = strings.map(|token| {
        let mut text = String::new();
        encodings::unescape(token.text(source), &mut text);
        text
    });
    let (markup, texts) = texts.partition(|text| has_tag(text));
    let mut script = Script { markup, texts, ..Script::default() };
    script.deduplicate();
    script
}

/// What data tells by itself: the forms that it describes, and what the page shows of it by name. A text that is no
/// JSON tells nothing.
pub(crate) fn data(sources: &[String], bound: &Bound, budget: &Budget<'_>) -> Script {
    let is_json = |source: &&String| serde_json::from_str::<IgnoredAny>(source).is_ok();
    let valid: Vec<&str> = sources.iter().filter(is_json).map(String::as_str).collect();
    // In one list, so that all of it has one allowance.
    let whole = format!("([{}])", valid.join(","));
    let tokens = lex(&whole);
    let mut evaluator = Evaluator::new(&whole, tokens, bound, budget);
    evaluator.run();
    let mut report = Report::of(evaluator);
    report.bytes_left = allowance(whole.len(), REPORT_FACTOR, REPORT_BYTES_MORE);
    report.add_elements();
    let mut script =
        Script { texts: report.flat_all(&report.evaluator.page.shown.clone()), ..Script::default() };
    for (_, item) in report.script {
        script.take(item);
    }
    script.deduplicate();
    script
}

fn is_json_value(tokens: &Tokens, at: usize) -> bool {
    tokens.kind(at) == Some(Kind::Text) && tokens.kind(at + 1) != Some(Kind::Colon)
}

enum Item {
    Markup(String),
    /// Written, but without a tag in it.
    Text(String),
    Inner(Script),
}

struct Report<'s> {
    evaluator: Evaluator<'s>,
    reported: Seen,
    script: Vec<(u32, Item)>,
    bytes_left: usize,
}

impl<'s> Report<'s> {
    fn of(evaluator: Evaluator<'s>) -> Self {
        Report { evaluator, reported: Seen::default(), script: Vec::new(), bytes_left: 0 }
    }

    fn finish(mut self, depth_left: usize) -> Script {
        self.bytes_left = allowance(self.evaluator.source.len(), REPORT_FACTOR, REPORT_BYTES_MORE);
        if let Some(written) = self.evaluator.page.written {
            self.evaluator.texts.mark(written, Usage::Written);
        }
        self.add_texts();
        self.add_elements();
        self.add_inner(depth_left);
        let changes_the_page = PAGE_WORDS.iter().any(|word| self.evaluator.names.has(word));
        let uses_templates = TEMPLATE_WORDS.iter().any(|word| self.evaluator.names.has(word));
        let mut script = Script { changes_the_page, uses_templates, ..Script::default() };
        script.texts = self.flat_all(&self.evaluator.page.shown.clone());
        script.titles = self.flat_all(&self.evaluator.page.titles.clone());
        script.fetched = self.evaluator.page.fetched.drain(..).map(|(_, address)| address).collect();
        self.script.sort_by_key(|(order, _)| *order);
        for (_, item) in self.script {
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

    /// A string to hand out: whole while the allowance lasts, then only what is new in it.
    fn take_text(&mut self, id: TextId) -> String {
        let len = self.evaluator.texts.len(id);
        if len > self.bytes_left {
            return self.evaluator.texts.fresh(id, &mut self.reported);
        }
        self.bytes_left -= len;
        self.evaluator.texts.flat(id, usize::MAX)
    }

    fn add_texts(&mut self) {
        let decodes = self.evaluator.names.has("atob");
        let unescapes =
            self.evaluator.names.has("unescape") || self.evaluator.names.has("decodeURIComponent");
        let mut given = Vec::new();
        for id in self.evaluator.texts.ids() {
            let Some(record) = self.evaluator.texts.record(id).copied() else { continue };
            let is_written = record.has(Usage::Written);
            if !self.evaluator.is_superseded(record.reader) && (is_written || self.goes_to_markup(&record)) {
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

    /// Strings that a later one begins with: of what is written again and again only the last is a page.
    fn continued(&self, given: &[(TextId, bool)]) -> Seen {
        let mut continued = Seen::default();
        for &(id, _) in given.iter().rev() {
            let mut next = self.evaluator.texts.left_part(id);
            while let Some(left) = next.filter(|&left| continued.note(left)) {
                next = self.evaluator.texts.left_part(left);
            }
        }
        continued
    }

    /// Whether a string that is not known to be written may yet be.
    fn goes_to_markup(&self, record: &Record) -> bool {
        if record.has(Usage::Unclear) {
            return true;
        }
        if record.has(Usage::Consumed) || record.has(Usage::Shown) {
            return false;
        }
        let early = record.held_by.and_then(|name| self.evaluator.early_uses.get(&name));
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
        // The script decodes something, and this is something that decodes to markup.
        let hidden =
            if decodes && text.bytes().all(is_base64) { encodings::from_base64(&text) } else { None };
        let hidden =
            hidden.or_else(|| (unescapes && text.contains("%3")).then(|| encodings::from_percent(&text)));
        if let Some(hidden) = hidden.filter(|hidden| has_tag(hidden)) {
            self.script.push((id.order(), Item::Markup(hidden)));
        }
    }

    fn add_elements(&mut self) {
        let evaluator = &self.evaluator;
        let is_superseded = |built: &Built| evaluator.is_superseded(built.reader);
        for (id, built) in evaluator.elements.roots() {
            if is_superseded(built) || self.bytes_left == 0 {
                continue;
            }
            let markup = evaluator.elements.markup(id, &evaluator.texts, is_superseded, &mut self.bytes_left);
            self.script.push((built.order, Item::Markup(markup)));
        }
    }

    fn add_inner(&mut self, depth_left: usize) {
        let page = &mut self.evaluator.page;
        let (mut data_bytes, mut sources) = (0, Vec::new());
        for (order, source) in std::mem::take(&mut page.data) {
            data_bytes += source.len();
            self.script.push((order, Item::Inner(json(&source))));
            if data_bytes <= self.evaluator.source.len() {
                sources.push(source);
            }
        }
        if !sources.is_empty() {
            self.script.push((0, Item::Inner(data(&sources, self.evaluator.bound, self.evaluator.budget))));
        }
        // All scripts within the script are read as one, and are no longer than it, so that reading them takes no longer.
        let (mut inner, mut first) = (String::new(), None);
        for (order, source) in std::mem::take(&mut page.scripts) {
            if inner.len() + source.len() <= self.evaluator.source.len() {
                first = first.or(Some(order));
                inner.push_str(&source);
                inner.push_str("\n;");
            }
        }
        if let Some(order) = first.filter(|_| depth_left > 0) {
            let script = read(&inner, &Bound::default(), self.evaluator.budget, depth_left - 1);
            self.script.push((order, Item::Inner(script)));
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

    /// The same thing twice says nothing new.
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

/// Of markup that begins with other markup, as a page does that is made again with more in it, the longer stays.
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
