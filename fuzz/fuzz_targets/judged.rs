//! What must hold of every verdict, whatever was scanned: it comes in time, it is no more than evidence, it names what
//! is there, and it is the same again.

use std::sync::Once;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use scanner::{ScannedFile, Verdict};

/// Generous: in this slow build a scan takes far less than a microsecond for a byte. What is out of line with its size
/// is soon beyond it.
const TIME_AT_LEAST: Duration = Duration::from_millis(150);
const TIME_PER_BYTE: Duration = Duration::from_micros(3);

/// Evidence is kept in the database with every version.
const FINDINGS_MAX: usize = 20;
const EVIDENCE_BYTES_MAX: usize = 64 * 1024;

/// The first page that is read has the tables of words made, which is not its doing.
static TABLES: Once = Once::new();

pub fn scan(files: &[ScannedFile<'_>]) {
    TABLES.call_once(|| {
        scanner::scan(&[ScannedFile { path: "index.html", bytes: b"<p>Bank</p><input type=password>" }]);
    });
    let began = processor_time();
    let verdict = scanner::scan(files);
    let took = processor_time() - began;
    let bytes: usize = files.iter().map(|file| file.bytes.len()).sum();
    let allowed = TIME_AT_LEAST + TIME_PER_BYTE * u32::try_from(bytes).unwrap_or(u32::MAX);
    assert!(took <= allowed, "{bytes} bytes took {took:?}, more than {allowed:?}");
    check(&verdict, files);
    // A verdict without evidence has nothing that could come in another order.
    if !verdict.findings.is_empty() {
        assert_eq!(scanner::scan(files), verdict, "the same files were judged in two ways");
    }
}

fn check(verdict: &Verdict, files: &[ScannedFile<'_>]) {
    let worst = verdict.findings.iter().map(|finding| finding.rule.status().as_str());
    // In the order of the alphabet "blocked" comes before "review".
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
