//! The report of a torture run: the number of operations and faults, and the violations.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use handbill_tests::Mode;

use crate::journal::Journal;

const VIOLATIONS_LISTED_MAX: usize = 10;

#[derive(Debug)]
pub struct Report {
    mode: Mode,
    seed: u64,
    rounds: u64,
    operations: BTreeMap<(String, String), u64>,
    faults: BTreeMap<String, u64>,
    /// Each with its history.
    violations: Vec<(String, Vec<String>)>,
    pub took: Duration,
    /// The directory that was kept for inspection.
    pub kept: Option<PathBuf>,
}

impl Report {
    pub fn of(mode: Mode, seed: u64) -> Self {
        Self {
            mode,
            seed,
            rounds: 0,
            operations: BTreeMap::new(),
            faults: BTreeMap::new(),
            violations: Vec::new(),
            took: Duration::ZERO,
            kept: None,
        }
    }

    pub fn is_clean(&self) -> bool {
        self.violations.is_empty()
    }

    pub fn operations(&self) -> u64 {
        self.operations.values().sum()
    }

    pub fn faults(&self) -> u64 {
        self.faults.values().sum()
    }

    /// The number of operations of a kind.
    pub fn done(&self, kind: &str) -> u64 {
        self.operations.get(&(kind.to_owned(), "done".to_owned())).copied().unwrap_or(0)
    }

    pub fn add(&mut self, journal: &Journal, rounds: u64) {
        self.rounds = rounds;
        for (operation, count) in journal.operations() {
            *self.operations.entry(operation).or_default() += count;
        }
        for (fault, count) in journal.faults() {
            *self.faults.entry(fault).or_default() += count;
        }
        for violation in journal.violations() {
            let title = format!("{}: {}", violation.subject, violation.what);
            self.violations.push((title, journal.story_of(&violation)));
        }
    }

    fn mode_name(&self) -> &'static str {
        match self.mode {
            Mode::Embedded => "embedded",
            Mode::Production => "production",
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "── {} · seed {} · {} rounds · {:.0?}",
            self.mode_name(),
            self.seed,
            self.rounds,
            self.took
        )?;
        writeln!(f, "{} operations", self.operations())?;
        let mut last = "";
        for ((kind, answer), count) in &self.operations {
            let shown = if kind == last { "" } else { kind };
            writeln!(f, "  {shown:<14} {count:>7}  {answer}")?;
            last = kind;
        }
        writeln!(f, "{} faults", self.faults())?;
        for (fault, count) in &self.faults {
            writeln!(f, "  {fault:<22} {count:>5}")?;
        }
        writeln!(f, "{} violations", self.violations.len())?;
        for (violation, story) in self.violations.iter().take(VIOLATIONS_LISTED_MAX) {
            writeln!(f, "\nVIOLATION {violation}")?;
            story.iter().try_for_each(|line| writeln!(f, "  {line}"))?;
        }
        if let Some(kept) = &self.kept {
            writeln!(f, "\nkept: {}", kept.display())?;
        }
        if !self.is_clean() {
            let (mode, seed, rounds) = (self.mode_name(), self.seed, self.rounds);
            writeln!(f, "again: scripts/torture --mode {mode} --seed {seed} --rounds {rounds}")?;
        }
        Ok(())
    }
}
