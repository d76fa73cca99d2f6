//! The language files in `scanner/languages`, and their loader.

use std::collections::HashSet;
use std::fmt;

use super::class::Class;
use super::pattern::Pattern;

macro_rules! files {
    ($($language:literal)*) => {
        [$(File {
            name: concat!($language, ".txt"),
            text: include_str!(concat!("../../languages/", $language, ".txt")),
        }),*]
    };
}

/// If a phrase names several things or several lures, the first counts.
pub(super) static FILES: [File; 13] =
    files!["en" "de" "fr" "es" "pt" "it" "nl" "pl" "ru" "tr" "ja" "zh" "more"];

pub(super) struct File {
    pub(super) name: &'static str,
    pub(super) text: &'static str,
}

/// A pattern and the classes of its phrases.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) pattern: Pattern,
    pub(super) classes: Vec<Class>,
}

/// An invalid line.
#[derive(Debug)]
pub(super) struct Fault {
    file: &'static str,
    line: usize,
    problem: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}: {}", self.file, self.line, self.problem)
    }
}

impl File {
    /// The entries of the file, with a fault for each invalid line.
    pub(super) fn entries(&self) -> impl Iterator<Item = Result<Entry, Fault>> {
        let mut parser = Parser::default();
        joined_lines(self.text).into_iter().filter_map(move |(line, text)| {
            let entry = parser.parse(&text).transpose()?;
            Some(entry.map_err(|problem| Fault { file: self.name, line, problem }))
        })
    }
}

/// The lines that are neither blank nor comments, each with its number. A line that ends with `|` is joined
/// to the next.
fn joined_lines(text: &str) -> Vec<(usize, String)> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    for (number, line) in (1..).zip(text.lines().map(str::trim)) {
        match lines.last_mut() {
            _ if line.is_empty() || line == "#" || line.starts_with("# ") => {}
            Some((_, open)) if open.ends_with('|') => open.push_str(line),
            _ => lines.push((number, line.to_owned())),
        }
    }
    lines
}

#[derive(Default)]
struct Parser {
    /// The classes of the current section's patterns.
    classes: Vec<Class>,
    known: HashSet<(Class, String)>,
}

impl Parser {
    /// Parses a line. A header yields no entry.
    fn parse(&mut self, line: &str) -> Result<Option<Entry>, String> {
        if let Some(header) = line.strip_prefix('[') {
            self.classes.clear();
            let header = header.strip_suffix(']').ok_or("a section header ends with `]`")?;
            self.classes = Class::of_header(header)?;
            return Ok(None);
        }
        if self.classes.is_empty() {
            return Err(format!("`{line}` is in no section"));
        }
        for class in &self.classes {
            if !self.known.insert((*class, line.to_owned())) {
                return Err(format!("`{line}` is repeated"));
            }
        }
        Ok(Some(Entry { pattern: Pattern::parse(line)?, classes: self.classes.clone() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(file: &File) -> Vec<String> {
        file.entries().filter_map(Result::err).map(|fault| fault.to_string()).collect()
    }

    /// Otherwise the lexicon would silently leave out invalid entries.
    #[test]
    fn the_language_files_have_no_faults() {
        let faults: Vec<String> = FILES.iter().flat_map(faults).collect();
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }

    #[test]
    fn every_language_file_is_embedded() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/languages");
        for entry in std::fs::read_dir(folder).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert!(name == "README.md" || FILES.iter().any(|file| file.name == name), "{name}");
        }
    }

    #[test]
    fn patterns_may_continue_on_the_next_line() {
        let file =
            File { name: "xx.txt", text: "# Words.\n[role give, keep]\n\nenter|\n  # Rarely.\n  type it?\n" };
        let entries: Vec<Entry> = file.entries().map(Result::unwrap).collect();
        assert_eq!(entries.len(), 1);
        assert_eq!(entries[0].classes, Class::of_header("role give, keep").unwrap());
        let slots = &entries[0].pattern.slots;
        assert_eq!(slots[0].choices, [["enter"], ["type"]]);
        assert!(slots[1].is_optional);
    }

    #[test]
    fn language_file_error_names_file_and_line() {
        for (text, fault) in [
            ("[verb give]", "unknown kind of section `verb`"),
            ("[thing wand]", "unknown thing `wand`"),
            ("[thing]", "unknown thing ``"),
            ("[not_thing pin]", "unknown not_thing `pin`"),
            ("[role give, take]", "unknown role `take`"),
            ("[hint rain]", "unknown hint `rain`"),
            ("[lure goggle]", "unknown lure `goggle`"),
            ("[role give", "a section header ends with `]`"),
            ("enter", "`enter` is in no section"),
            ("[role give]\nenter|\n[role keep]", "`[role` is no word"),
            ("[role give]\nenter it\nenter it", "`enter it` is repeated"),
            ("[role give]\nenter|type|Énter", "the choice `Énter` repeats another"),
            ("[role give]\nenter? it?", "all words of `enter? it?` are optional"),
            ("[role give]\nenter||type", "empty choice"),
            ("[role give]\nenter  it", "empty choice"),
            ("[role give]\nenter|", "empty choice"),
            ("[role give]\nin*put", "`in*put` is no word"),
            ("[role give]\nenter?|type", "`enter?` is no word"),
            ("[role give]\nen*", "the stem `en*` is too short"),
        ] {
            let line = if text.matches("enter it").count() == 2 { 3 } else { text.lines().count().min(2) };
            let text = format!("\n{text}").leak();
            assert_eq!(faults(&File { name: "xx.txt", text }), [format!("xx.txt:{}: {fault}", line + 1)]);
        }
    }
}
