//! Splits a file with rules into lines, and collects the faults of the lines.

use super::{RuleFault, SiteRules};
use crate::Warning;

/// The faults of one file, as many as a response has warnings.
pub(super) struct Faults {
    file: &'static str,
    pub list: Vec<RuleFault>,
}

/// What is wrong with a line, and what to do about it.
pub(super) struct LineFault {
    pub message: String,
    pub hint: String,
}

/// A line that is neither empty nor a comment, without the space around it.
pub(super) struct Line<'t> {
    pub number: u32,
    pub text: &'t str,
}

const LINE_BYTES_MAX: usize = 2_000;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl Faults {
    pub fn of(file: &'static str) -> Self {
        Self { file, list: Vec::new() }
    }

    pub fn add(&mut self, line: u32, fault: LineFault) {
        if self.list.len() < Warning::COUNT_MAX {
            let LineFault { message, hint } = fault;
            self.list.push(RuleFault { file: self.file, line, message, hint });
        }
    }
}

impl LineFault {
    pub fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into() }
    }
}

/// The lines of a file, up to its maximum size. Lines that cannot be read become faults.
pub(super) fn read<'t>(bytes: &'t [u8], faults: &mut Faults) -> Vec<Line<'t>> {
    let whole = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    let bytes = within_limit(whole);
    let mut lines = Vec::new();
    let mut number = 0;
    for line in bytes.split(|byte| *byte == b'\n') {
        number += 1;
        match read_line(line) {
            Ok("") => {}
            Ok(text) => lines.push(Line { number, text }),
            Err(fault) => faults.add(number, fault),
        }
    }
    if bytes.len() < whole.len() {
        let kib = SiteRules::BYTES_MAX >> 10;
        let fault = LineFault::new(
            format!("the file is longer than {kib} KiB; this line and the following lines are ignored"),
            "shorten the file, for example with placeholders and *",
        );
        faults.add(number + 1, fault);
    }
    lines
}

/// All of it, or the lines that end within the limit.
fn within_limit(bytes: &[u8]) -> &[u8] {
    match bytes.get(..SiteRules::BYTES_MAX) {
        Some(start) if start.len() < bytes.len() => {
            let end = start.iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
            &start[..end]
        }
        _ => bytes,
    }
}

/// The text of a line, empty if it is a comment.
fn read_line(line: &[u8]) -> Result<&str, LineFault> {
    let line = line.trim_ascii();
    if line.starts_with(b"#") {
        return Ok("");
    }
    if line.len() > LINE_BYTES_MAX {
        let message = format!("the line is longer than {LINE_BYTES_MAX} bytes and is ignored");
        return Err(LineFault::new(message, "shorten the line"));
    }
    let text = str::from_utf8(line)
        .map_err(|_| LineFault::new("the line is not UTF-8 and is ignored", "save the file as UTF-8"))?;
    if text.chars().any(|character| character.is_control() && character != '\t') {
        let message = "the line contains a control character and is ignored";
        return Err(LineFault::new(message, "remove the control character"));
    }
    Ok(text)
}

/// A text from the file in a message: of limited length, and without what may be a secret.
pub(super) fn shown(text: &str) -> String {
    const LENGTH_MAX: usize = 60;
    let text = text.split(['?', '#']).next().unwrap_or_default();
    match text.char_indices().nth(LENGTH_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
