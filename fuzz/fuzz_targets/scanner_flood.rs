//! Little things, repeated: what costs more than its size shows only in number. See `judged` for what must hold.
//!
//! The input is the name of a file, a line end, and three pieces cut by the byte 0x1E: a beginning, a unit, an end. The
//! unit is repeated until the file is large; the byte 0x1F in it becomes its number.

#![no_main]

mod judged;

use libfuzzer_sys::{Corpus, fuzz_target};
use scanner::ScannedFile;

/// Enough for a square to show, little enough for many runs.
const FILE_BYTES: usize = 192 * 1024;
const INPUT_BYTES_MAX: usize = 600;

fuzz_target!(|input: &[u8]| -> Corpus {
    match flooded(input) {
        Some((path, bytes)) => {
            judged::scan(&[ScannedFile { path, bytes: &bytes }]);
            Corpus::Keep
        }
        None => Corpus::Reject,
    }
});

fn flooded(input: &[u8]) -> Option<(&str, Vec<u8>)> {
    if input.len() > INPUT_BYTES_MAX {
        return None;
    }
    let name_ends_at = input.iter().position(|byte| *byte == b'\n')?;
    let path = std::str::from_utf8(&input[..name_ends_at]).ok()?;
    let mut pieces = input[name_ends_at + 1..].splitn(3, |byte| *byte == 0x1e);
    let (before, unit, after) = (pieces.next()?, pieces.next()?, pieces.next()?);
    if unit.is_empty() {
        return None;
    }
    let mut bytes = before.to_vec();
    for number in 0_u32.. {
        if bytes.len() + unit.len() > FILE_BYTES {
            break;
        }
        append(&mut bytes, unit, number);
    }
    bytes.extend_from_slice(after);
    Some((path, bytes))
}

fn append(bytes: &mut Vec<u8>, unit: &[u8], number: u32) {
    let mut pieces = unit.split(|byte| *byte == 0x1f);
    bytes.extend_from_slice(pieces.next().unwrap_or_default());
    for piece in pieces {
        bytes.extend_from_slice(number.to_string().as_bytes());
        bytes.extend_from_slice(piece);
    }
}
