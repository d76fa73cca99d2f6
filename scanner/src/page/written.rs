//! Reads what scripts write, as parts of the page that runs them.

use super::reader::{Around, Reader, TITLES_MAX};
use super::{Flow, Reading, Reveals};
use crate::budget::steps;
use crate::script::{self, Script};

/// The output of a script may be longer than its source by this much, because loops repeat text.
const WRITTEN_BYTES_MORE: usize = 1 << 20;
/// The number of lines that are read of a text that a page fetches.
const TEXT_LINES_MAX: usize = 1_000;
/// The number of addresses that are followed from one page.
pub(super) const EMBEDDED_MAX: usize = 200;

impl Reading {
    /// Adds the output of a document's scripts. They share variables, so that they are read as one.
    pub(super) fn take_scripts(&mut self, sources: &[String], around: Around<'_>) {
        let source = sources.join("\n;\n");
        let written = if source.trim().is_empty() { None } else { read_source(&source, around) };
        self.join(written.unwrap_or_default());
        self.embedded.truncate(EMBEDDED_MAX);
    }

    /// Adds the forms that data describes, and the data that the page shows.
    pub(super) fn take_data(&mut self, sources: &[String], around: Around<'_>) {
        if !sources.is_empty() {
            self.join(read_data(sources, around).unwrap_or_default());
        }
    }
}

/// Reads what a script does to the page that runs it, if the budget allows it.
pub(crate) fn read_source(source: &str, around: Around<'_>) -> Option<Reading> {
    if !around.budget.take(source.len() * steps::SCRIPT_BYTE) {
        return None;
    }
    let script = script::read(source, around.bound, around.budget);
    let mut reading = read_script(script, source.len(), around);
    reading.flow = Flow::of_script(source);
    Some(reading)
}

/// Reads what a JSON file may contribute to a page.
pub(crate) fn read_json(source: &str, around: Around<'_>) -> Option<Reading> {
    if !around.budget.take(source.len() * steps::SCRIPT_BYTE) {
        return None;
    }
    let mut reading = read_script(script::read_json(source), source.len(), around);
    reading.join(read_data(&[source.to_owned()], around)?);
    Some(reading)
}

fn read_data(sources: &[String], around: Around<'_>) -> Option<Reading> {
    let bytes = sources.iter().map(String::len).sum();
    let is_granted = around.budget.take(bytes * steps::SCRIPT_BYTE);
    is_granted.then(|| read_script(script::read_data(sources, around.bound, around.budget), bytes, around))
}

/// Reads what a script of this size would write and fetch.
fn read_script(script: Script, bytes: usize, around: Around<'_>) -> Reading {
    let mut reader = Reader::new(around);
    let mut bytes_left = bytes + WRITTEN_BYTES_MORE;
    for text in script.texts.iter().take_while(|text| take_bytes(&mut bytes_left, text)) {
        reader.read_text(text);
    }
    for markup in script.markup.iter().take_while(|markup| take_bytes(&mut bytes_left, markup)) {
        let Some(document) = around.parse_html(markup) else { break };
        reader.read(&document, 1, None);
    }
    let (mut reading, _) = reader.finish();
    for part in &mut reading.parts {
        part.is_written = true;
        part.titles.extend(script.titles.iter().take(TITLES_MAX).cloned());
    }
    reading.embedded.extend(script.fetched);
    reading.embedded.truncate(EMBEDDED_MAX);
    reading.reveals.join(Reveals { elements: script.changes_the_page, templates: script.uses_templates });
    reading
}

/// Reads a text without markup, which a script may show unchanged.
pub(crate) fn read_text(text: &str, around: Around<'_>) -> Reading {
    let mut reader = Reader::new(around);
    text.lines().take(TEXT_LINES_MAX).for_each(|line| reader.read_text(line));
    reader.finish().0
}

fn take_bytes(bytes_left: &mut usize, text: &str) -> bool {
    let is_there = text.len() <= *bytes_left;
    *bytes_left = bytes_left.saturating_sub(text.len());
    is_there
}

pub(super) fn is_script_type(of_type: &str) -> bool {
    const KNOWN: [&str; 6] = ["javascript", "ecmascript", "module", "babel", "jsx", "typescript"];
    let of_type = of_type.trim().to_ascii_lowercase();
    of_type.is_empty() || KNOWN.iter().any(|known| of_type.contains(known))
}
