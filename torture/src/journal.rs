//! The history of a run: the operations on each resource, and the faults between them. It explains a
//! violation.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Mutex;
use std::time::{Duration, Instant};

const LINES_LISTED_MAX: usize = 80;
const FAULTS: &str = "fault";

/// A broken promise of the program.
#[derive(Clone, Debug)]
pub struct Violation {
    pub subject: String,
    pub what: String,
    pub at: Duration,
}

#[derive(Debug)]
pub struct Journal {
    began: Instant,
    lines: Mutex<Vec<JournalEntry>>,
    operations: Mutex<BTreeMap<(String, String), u64>>,
    faults: Mutex<BTreeMap<String, u64>>,
    violations: Mutex<Vec<Violation>>,
}

#[derive(Clone, Debug)]
struct JournalEntry {
    at: Duration,
    subject: String,
    text: String,
}

impl fmt::Display for JournalEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:9.3} s  {}: {}", self.at.as_secs_f64(), self.subject, self.text)
    }
}

impl Default for Journal {
    fn default() -> Self {
        Self {
            began: Instant::now(),
            lines: Mutex::default(),
            operations: Mutex::default(),
            faults: Mutex::default(),
            violations: Mutex::default(),
        }
    }
}

impl Journal {
    /// Records an operation on a resource.
    pub fn record(&self, subject: &str, text: impl Into<String>) {
        let line = JournalEntry { at: self.began.elapsed(), subject: subject.to_owned(), text: text.into() };
        self.lines.lock().unwrap().push(line);
    }

    pub fn count_operation(&self, kind: &str, answer: &str) {
        *self.operations.lock().unwrap().entry((kind.to_owned(), answer.to_owned())).or_default() += 1;
    }

    pub fn fault(&self, kind: &str, text: &str) {
        self.record(FAULTS, format!("{kind}: {text}"));
        *self.faults.lock().unwrap().entry(kind.to_owned()).or_default() += 1;
    }

    /// Records the course of a fault.
    pub fn fault_goes_on(&self, text: &str) {
        self.record(FAULTS, text);
    }

    pub fn violation(&self, subject: &str, what: impl Into<String>) {
        let what = what.into();
        self.record(subject, format!("VIOLATION: {what}"));
        let at = self.began.elapsed();
        self.violations.lock().unwrap().push(Violation { subject: subject.to_owned(), what, at });
    }

    pub fn violations(&self) -> Vec<Violation> {
        self.violations.lock().unwrap().clone()
    }

    pub fn operations(&self) -> BTreeMap<(String, String), u64> {
        self.operations.lock().unwrap().clone()
    }

    pub fn faults(&self) -> BTreeMap<String, u64> {
        self.faults.lock().unwrap().clone()
    }

    /// The operations on the resource up to its violation, with the faults meanwhile.
    pub fn story_of(&self, violation: &Violation) -> Vec<String> {
        let lines = self.lines.lock().unwrap();
        let is_of = |line: &&JournalEntry| line.subject == violation.subject || line.subject == FAULTS;
        let story: Vec<_> = lines.iter().filter(|line| line.at <= violation.at).filter(is_of).collect();
        let skipped = story.len().saturating_sub(LINES_LISTED_MAX);
        story[skipped..].iter().map(ToString::to_string).collect()
    }

    /// The whole history, for the folder that is kept.
    pub fn whole(&self) -> String {
        self.lines.lock().unwrap().iter().map(|line| format!("{line}\n")).collect()
    }
}
