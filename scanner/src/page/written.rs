//! What scripts write, read as stretches of the page that runs them.

use super::reader::{Around, Reader, TITLES_MAX};
use super::{Reading, Reveals};
use crate::document;
use crate::script::{self, Script};

/// What a script writes may be longer than itself by so much: loops repeat what they hold.
const WRITTEN_BYTES_MORE: usize = 1 << 20;
/// Lines of a text that are read where a page fetches it.
const TEXT_LINES_MAX: usize = 1_000;
/// Addresses of other files that are followed from one page.
pub(super) const EMBEDDED_MAX: usize = 200;

impl Reading {
    /// Adds what the scripts of a document write. They share their variables, so they are read as one.
    pub(super) fn take_scripts(&mut self, sources: &[String], around: Around<'_>) {
        let source = sources.join("\n;\n");
        if !source.trim().is_empty() {
            self.join(read_script(script::read(&source, around.bound, around.budget), source.len(), around));
        }
        self.embedded.truncate(EMBEDDED_MAX);
    }
}

impl Reading {
    /// Adds the forms that data describes, and what the page shows of it.
    pub(super) fn take_data(&mut self, sources: &[String], around: Around<'_>) {
        if !sources.is_empty() {
            let bytes = sources.iter().map(String::len).sum();
            self.join(read_script(script::read_data(sources, around.bound, around.budget), bytes, around));
        }
    }
}

/// What one script of so many bytes would write, and what it would fetch.
pub(crate) fn read_script(script: Script, bytes: usize, around: Around<'_>) -> Reading {
    let mut reader = Reader::new(around);
    let mut room = bytes + WRITTEN_BYTES_MORE;
    for text in script.texts.iter().take_while(|text| take_room(&mut room, text)) {
        reader.read_text(text);
    }
    for markup in script.markup.iter().take_while(|markup| take_room(&mut room, markup)) {
        reader.read(&document::parse_html(markup), 1, None);
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

/// A text without markup, which a script may show as it is.
pub(crate) fn read_text(text: &str, around: Around<'_>) -> Reading {
    let mut reader = Reader::new(around);
    text.lines().take(TEXT_LINES_MAX).for_each(|line| reader.read_text(line));
    reader.finish().0
}

fn take_room(room: &mut usize, text: &str) -> bool {
    let is_there = text.len() <= *room;
    *room = room.saturating_sub(text.len());
    is_there
}

pub(super) fn is_script_type(of_type: &str) -> bool {
    const KNOWN: [&str; 6] = ["javascript", "ecmascript", "module", "babel", "jsx", "typescript"];
    let of_type = of_type.trim().to_ascii_lowercase();
    of_type.is_empty() || KNOWN.iter().any(|known| of_type.contains(known))
}
