//! Hostile publishes of the largest accepted size: repetitions of one thing, made to cost more time than
//! their size justifies. Most end with a field that asks for a seed phrase, because a flood may also be there
//! to hide one.

mod files;
mod markup;
mod script;
mod style;
mod text;

use domain::FileSet;

/// One publish, and its purpose.
pub struct Flood {
    pub what: &'static str,
    make: Make,
}

/// Files by name.
pub type Files = Vec<(String, Vec<u8>)>;

enum Make {
    /// One file: a beginning, a unit as often as it fits, and an end. `{n}` in a unit is its number, `{m}`
    /// the number before.
    Repeated { path: &'static str, before: &'static str, unit: &'static str, after: &'static str },
    /// Files that need code.
    Built(fn() -> Files),
}

/// Floods of one kind.
pub struct Kind {
    pub name: &'static str,
    pub floods: Vec<Flood>,
}

pub fn kinds() -> Vec<Kind> {
    vec![
        Kind { name: "markup", floods: markup::elements() },
        Kind { name: "attributes", floods: markup::attributes() },
        Kind { name: "style", floods: style::floods() },
        Kind { name: "script", floods: script::floods() },
        Kind { name: "text", floods: text::floods() },
        Kind { name: "files", floods: files::floods() },
    ]
}

impl Flood {
    pub fn files(&self) -> Files {
        match self.make {
            Make::Repeated { path, before, unit, after } => {
                let bytes_left = SIZE_BYTES.saturating_sub(before.len() + after.len());
                vec![(path.to_owned(), [before, &filled(unit, bytes_left), after].concat().into_bytes())]
            }
            Make::Built(build) => build(),
        }
    }
}

/// The maximum size of one publish.
const SIZE_BYTES: usize = FileSet::BYTES_MAX as usize;
/// Half of that, for two floods at once.
const HALF_BYTES: usize = SIZE_BYTES / 2 - 1_000;

/// The content that a flood may hide.
const ASK: &str = "<form><label>Enter your seed phrase <textarea name=seed></textarea></label></form>";

fn page(what: &'static str, before: &'static str, unit: &'static str, after: &'static str) -> Flood {
    Flood { what, make: Make::Repeated { path: "index.html", before, unit, after } }
}

fn file(what: &'static str, path: &'static str, unit: &'static str) -> Flood {
    Flood { what, make: Make::Repeated { path, before: "", unit, after: "" } }
}

fn built(what: &'static str, build: fn() -> Files) -> Flood {
    Flood { what, make: Make::Built(build) }
}

fn index(pieces: &[&str]) -> Files {
    vec![("index.html".to_owned(), pieces.concat().into_bytes())]
}

/// The unit as often as it fits into this many bytes, each with its number.
fn filled(unit: &str, bytes: usize) -> String {
    if !unit.contains("{n}") && !unit.contains("{m}") {
        return unit.repeat(bytes / unit.len());
    }
    let mut text = String::with_capacity(bytes);
    for number in 1.. {
        let piece = numbered(unit, number);
        if text.len() + piece.len() > bytes {
            break;
        }
        text.push_str(&piece);
    }
    text
}

fn numbered(unit: &str, number: usize) -> String {
    unit.replace("{n}", &number.to_string()).replace("{m}", &(number - 1).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hostile_page_is_nearly_as_large_as_the_publish_limit() {
        for flood in kinds().into_iter().flat_map(|kind| kind.floods) {
            let files = flood.files();
            let bytes: usize = files.iter().map(|(_, bytes)| bytes.len()).sum();
            assert!((SIZE_BYTES * 9 / 10..=SIZE_BYTES).contains(&bytes), "{}: {bytes}", flood.what);
            assert!(files.len() <= FileSet::FILES_MAX, "{}", flood.what);
        }
    }

    #[test]
    fn fill_units_get_their_number_and_the_previous_one() {
        assert_eq!(filled("a{n}={m};", 14), "a1=0;a2=1;");
        assert_eq!(filled("ab", 5), "abab");
    }
}
