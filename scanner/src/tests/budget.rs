//! A scan is bounded, and reports when its budget was exhausted.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::Status::{Blocked, Pass, Review};
use super::*;

const PAGE: &str = "<form><label>Enter your seed phrase<textarea name=seed></textarea></label></form>";

fn file(html: &str) -> [ScannedFile<'_>; 1] {
    [ScannedFile { path: "index.html", bytes: html.as_bytes(), content_type: "text/html" }]
}

#[test]
fn version_that_exceeds_its_step_budget_is_reviewed() {
    let plain = "<p>Hello, world.</p>".repeat(100);
    let terms = |steps_max| Terms { steps_max, ..Terms::default() };
    let found = scan(&file(&plain), &terms(1_000)).unwrap();
    assert_eq!((found.status, found.findings[0].rule), (Review, Rule::TooComplex));
    assert_eq!(scan(&file(&plain), &terms(1_000_000)).unwrap().status, Pass);
    assert_eq!(scan(&file(PAGE), &terms(1_000_000)).unwrap().status, Blocked);
}

#[test]
fn a_cancelled_scan_has_no_verdict() {
    let cancelled = AtomicBool::new(true);
    let terms = Terms { is_cancelled: &cancelled, ..Terms::default() };
    assert_eq!(scan(&file(PAGE), &terms), Err(Cancelled));
}

#[test]
fn a_scan_that_is_cancelled_while_it_runs_stops_soon() {
    let flood = "<p>x<input><script>e.innerHTML='<p>'</script>".repeat(200_000);
    let cancelled = AtomicBool::new(false);
    let terms = Terms { is_cancelled: &cancelled, ..Terms::default() };
    std::thread::scope(|scope| {
        let running = scope.spawn(|| scan(&file(&flood), &terms));
        cancelled.store(true, Ordering::Relaxed);
        let since = Instant::now();
        assert_eq!(running.join().unwrap(), Err(Cancelled));
        assert!(since.elapsed() < Duration::from_secs(5), "{:?}", since.elapsed());
    });
}

/// Ten megabytes of pages that show each other in frames, each read in two encodings.
#[test]
fn pages_that_frame_each_other_do_not_multiply_the_work() {
    for unit in ["<label>PIN<input>", "<label>Card number<input></label>", "<p>x<input type=password>"] {
        let frames: String = (0..50).map(|page| format!("<iframe src={page}.html></iframe>")).collect();
        let flood = unit.repeat(195_000 / unit.len());
        let page = format!("<meta charset=windows-1252>{frames}{flood}");
        let bytes = [page.as_bytes(), b"\xe4"].concat();
        let paths: Vec<String> = (0..50).map(|page| format!("{page}.html")).collect();
        let files: Vec<_> =
            paths.iter().map(|path| ScannedFile { path, bytes: &bytes, content_type: "text/html" }).collect();
        let began = Instant::now();
        let found = scan(&files, &Terms::default()).unwrap();
        assert!(found.findings.iter().any(|finding| finding.rule == Rule::TooComplex), "{unit}");
        assert!(began.elapsed() < Duration::from_secs(20), "{unit}: {:?}", began.elapsed());
    }
}
