//! Sites of a few files that meet: frames, scripts, styles, texts. See `judged` for what must hold of each.
//!
//! The input is its files, one after the other, cut by the byte 0x1E, which no honest text has. The first line of each
//! is its name. So a page of the corpus with a name above it is a seed, and the dictionary's names cut new files.

#![no_main]

mod judged;

use libfuzzer_sys::{Corpus, fuzz_target};
use scanner::ScannedFile;

const FILES_MAX: usize = 4;
const NAME_BYTES_MAX: usize = 100;

fuzz_target!(|input: &[u8]| -> Corpus {
    let named: Vec<_> = input.split(|byte| *byte == 0x1e).take(FILES_MAX).filter_map(named).collect();
    if named.is_empty() {
        return Corpus::Reject;
    }
    let files: Vec<_> = named.iter().map(|(path, bytes)| ScannedFile { path, bytes }).collect();
    judged::scan(&files);
    Corpus::Keep
});

fn named(piece: &[u8]) -> Option<(&str, &[u8])> {
    let end = piece.iter().take(NAME_BYTES_MAX).position(|byte| *byte == b'\n')?;
    let path = std::str::from_utf8(&piece[..end]).ok()?;
    Some((path, &piece[end + 1..]))
}
