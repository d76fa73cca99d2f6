//! Collects warnings, each once for a file and its target, or for a file and its line.

use std::collections::HashSet;

use domain::{SitePath, Warning, WarningCode};

/// The maximum number of references that are checked in a site. If there are more, they were certainly
/// generated, and checking them would take long.
const REFERENCES_MAX: usize = 20_000;

#[derive(Default)]
pub struct Report {
    pub warnings: Vec<Warning>,
    known: HashSet<(WarningCode, SitePath, Option<String>, Option<u32>)>,
    references: usize,
}

impl Report {
    pub fn add(&mut self, warning: Warning) {
        let line = warning.line.filter(|_| warning.target.is_none());
        let key = (warning.code, warning.path.clone(), warning.target.clone(), line);
        if self.warnings.len() < Warning::COUNT_MAX && self.known.insert(key) {
            self.warnings.push(warning);
        }
    }

    /// Counts a reference. False if no more are checked.
    pub fn takes_another(&mut self) -> bool {
        self.references += 1;
        !self.is_full()
    }

    pub fn is_full(&self) -> bool {
        self.warnings.len() >= Warning::COUNT_MAX || self.references > REFERENCES_MAX
    }
}
