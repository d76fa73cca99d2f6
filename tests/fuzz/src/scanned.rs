//! The scanner's verdicts: each comes in time, has bounded evidence, names existing files and is
//! deterministic.

use std::sync::Once;
use std::time::Duration;

use domain::{SitePath, content_type_of};
use rustix::time::{ClockId, clock_gettime};
use scanner::{ScannedFile, Terms, Verdict};

use crate::SEPARATOR;

const FILES_MAX: usize = 4;
const NAME_BYTES_MAX: usize = 100;

/// Large enough to reveal quadratic time, and small enough for many runs.
const FLOOD_BYTES: usize = 192 * 1024;
const FLOOD_INPUT_BYTES_MAX: usize = 600;
/// In the unit of a flood, this byte is replaced by the number of the repetition.
const NUMBER: u8 = 0x1f;

/// Generous: even in a debug build a scan takes far less than a microsecond for a byte. Superlinear time soon
/// exceeds it.
const TIME_AT_LEAST: Duration = Duration::from_millis(150);
const TIME_PER_BYTE: Duration = Duration::from_micros(3);

/// The database stores the evidence with every version.
const FINDINGS_MAX: usize = 20;
const EVIDENCE_BYTES_MAX: usize = 64 * 1024;

/// The first scan builds the tables of words, which does not count as its time.
static TABLES: Once = Once::new();

/// A site of a few files that may frame, run, style and fetch each other. The first line of each is its name.
pub fn judge_site(input: &[u8]) -> bool {
    let named: Vec<_> = input.split(|byte| *byte == SEPARATOR).take(FILES_MAX).filter_map(named).collect();
    if !named.is_empty() {
        scan(&named);
    }
    !named.is_empty()
}

/// A small unit, repeated, because superlinear cost shows only in number. The input is a file name in a line,
/// then the text before, the unit, and the text after.
pub fn judge_flood(input: &[u8]) -> bool {
    let flooded = flooded(input);
    if let Some((path, bytes)) = &flooded {
        scan(&[(path, bytes)]);
    }
    flooded.is_some()
}

fn named(piece: &[u8]) -> Option<(&str, &[u8])> {
    let end = piece.iter().take(NAME_BYTES_MAX).position(|byte| *byte == b'\n')?;
    let path = std::str::from_utf8(&piece[..end]).ok()?;
    Some((path, &piece[end + 1..]))
}

fn flooded(input: &[u8]) -> Option<(&str, Vec<u8>)> {
    if input.len() > FLOOD_INPUT_BYTES_MAX {
        return None;
    }
    let name_ends_at = input.iter().position(|byte| *byte == b'\n')?;
    let path = std::str::from_utf8(&input[..name_ends_at]).ok()?;
    let mut pieces = input[name_ends_at + 1..].splitn(3, |byte| *byte == SEPARATOR);
    let (before, unit, after) = (pieces.next()?, pieces.next()?, pieces.next()?);
    if unit.is_empty() {
        return None;
    }
    let mut bytes = before.to_vec();
    for number in 0_u32.. {
        if bytes.len() + unit.len() > FLOOD_BYTES {
            break;
        }
        append(&mut bytes, unit, number);
    }
    bytes.extend_from_slice(after);
    Some((path, bytes))
}

fn append(bytes: &mut Vec<u8>, unit: &[u8], number: u32) {
    let mut pieces = unit.split(|byte| *byte == NUMBER);
    bytes.extend_from_slice(pieces.next().unwrap_or_default());
    for piece in pieces {
        bytes.extend_from_slice(number.to_string().as_bytes());
        bytes.extend_from_slice(piece);
    }
}

fn scan(named: &[(&str, &[u8])]) {
    TABLES.call_once(|| {
        verdict(&[ScannedFile {
            path: "index.html",
            bytes: b"<p>Bank</p><input type=password>",
            content_type: "text/html",
        }]);
    });
    let content_types: Vec<_> = named.iter().map(|(path, _)| served_as(path)).collect();
    let files = named.iter().zip(&content_types).map(|((path, bytes), content_type)| ScannedFile {
        path,
        bytes,
        content_type,
    });
    let files: &[_] = &files.collect::<Vec<_>>();
    let began = processor_time();
    let found = verdict(files);
    let took = processor_time() - began;
    let bytes: usize = files.iter().map(|file| file.bytes.len()).sum();
    let allowed = TIME_AT_LEAST + TIME_PER_BYTE * u32::try_from(bytes).unwrap_or(u32::MAX);
    assert!(took <= allowed, "{bytes} bytes took {took:?}, more than {allowed:?}");
    check(&found, files);
    // Without evidence there is nothing whose order could differ.
    if !found.findings.is_empty() {
        assert_eq!(verdict(files), found, "the same files were judged in two ways");
    }
}

fn verdict(files: &[ScannedFile<'_>]) -> Verdict {
    scanner::scan(files, &Terms::default()).unwrap()
}

/// Names that no site can have get the default content type.
fn served_as(path: &str) -> String {
    path.parse::<SitePath>()
        .map_or_else(|_| "application/octet-stream".to_owned(), |path| content_type_of(&path))
}

fn check(verdict: &Verdict, files: &[ScannedFile<'_>]) {
    let worst = verdict.findings.iter().map(|finding| finding.rule.status().as_str());
    // In alphabetical order "blocked" comes before "review".
    assert_eq!(verdict.status.as_str(), worst.min().unwrap_or("pass"));
    assert!(verdict.findings.len() <= FINDINGS_MAX);
    let mut evidence_bytes = 0;
    for finding in &verdict.findings {
        assert!(files.iter().any(|file| file.path == finding.file), "{} is no file", finding.file);
        let words: usize = finding.words.iter().map(String::len).sum();
        evidence_bytes += finding.file.len() + finding.field.len() + words;
    }
    assert!(evidence_bytes <= EVIDENCE_BYTES_MAX, "{evidence_bytes} bytes of evidence");
}

fn processor_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or(0))
}
