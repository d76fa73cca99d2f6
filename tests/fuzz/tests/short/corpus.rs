//! The stored seeds and the dictionary of a target, as the fuzzer reads them.

use std::fs;
use std::path::{Path, PathBuf};

const SEPARATOR: u8 = judges::SEPARATOR;

pub struct Corpus {
    /// Sorted by name, so that the mutations are deterministic.
    pub seeds: Vec<(String, Vec<u8>)>,
    pub words: Vec<Vec<u8>>,
}

impl Corpus {
    pub fn of(target: &str) -> Self {
        let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
        let mut seeds: Vec<_> = files_in(&fuzz.join("seeds").join(target)).into_iter().map(named).collect();
        if target == "scanner" {
            seeds.extend(labelled_sites());
        }
        // The scanner's two targets share a dictionary.
        let dictionary = target.split('_').next().filter(|name| *name == "scanner").unwrap_or(target);
        let dictionary = fuzz.join("dictionaries").join(format!("{dictionary}.dict"));
        let words = fs::read_to_string(dictionary).map(|text| words_of(&text)).unwrap_or_default();
        Self { seeds, words }
    }
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn named(path: PathBuf) -> (String, Vec<u8>) {
    let content = fs::read(&path).unwrap();
    (path.display().to_string(), content)
}

/// The labelled pages of the scanner's own tests: each page by itself, a folder as one site.
fn labelled_sites() -> Vec<(String, Vec<u8>)> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scanner/corpus");
    let pages =
        files_in(&corpus).into_iter().flat_map(|label| files_in(&label)).flat_map(|kind| files_in(&kind));
    pages
        .map(|page| {
            let files = if page.is_dir() { files_in(&page) } else { vec![page.clone()] };
            let pieces = files.into_iter().filter(|file| file.is_file()).flat_map(|file| {
                let name = file.file_name().unwrap().to_string_lossy().into_owned();
                [&[SEPARATOR], name.as_bytes(), b"\n", &fs::read(&file).unwrap()].concat()
            });
            (page.display().to_string(), pieces.collect())
        })
        .collect()
}

/// The entries of a libFuzzer dictionary: `"word"` or `name="word"` in a line, with `\xNN`, `\\` and `\"`.
fn words_of(text: &str) -> Vec<Vec<u8>> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| unescaped(line.split_once('"').unwrap().1.strip_suffix('"').unwrap())).collect()
}

fn unescaped(word: &str) -> Vec<u8> {
    let (mut bytes, mut rest) = (Vec::new(), word.as_bytes());
    while let Some((first, after)) = rest.split_first() {
        (bytes, rest) = match (first, after) {
            (b'\\', [b'x', high, low, after @ ..]) => {
                let digits = [*high, *low];
                let digits = std::str::from_utf8(&digits).unwrap();
                bytes.push(u8::from_str_radix(digits, 16).unwrap());
                (bytes, after)
            }
            (b'\\', [letter, after @ ..]) => {
                bytes.push(*letter);
                (bytes, after)
            }
            (letter, after) => {
                bytes.push(*letter);
                (bytes, after)
            }
        };
    }
    bytes
}

#[test]
fn dictionaries_are_parsed_as_by_the_fuzzer() {
    let text = "# names\n\"plain\"\nseparator=\"\\x1e\\x0a\"\n\n\"a\\\"b\\\\c\"\n";
    assert_eq!(words_of(text), [&b"plain"[..], b"\x1e\n", b"a\"b\\c"]);
}
