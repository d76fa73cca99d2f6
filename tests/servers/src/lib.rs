//! The servers and programs that a test needs. A test that needs one which is missing is skipped, and says so
//! on standard error. With `HANDBILL_TEST_REQUIRE_ALL` it fails instead, so that `scripts/test` never skips a
//! test.

// A test helper: a missing server ends the test.
#![allow(clippy::panic)]

use std::fs::File;
use std::io::Write;
use std::path::Path;

/// The address of the Postgres that tests share, or `None` after reporting that the test is skipped.
#[must_use]
pub fn postgres() -> Option<String> {
    address("HANDBILL_TEST_POSTGRES")
}

/// The address of the Redis that tests share, or `None` after reporting that the test is skipped.
#[must_use]
pub fn redis() -> Option<String> {
    address("HANDBILL_TEST_REDIS")
}

/// Whether a program is installed. If not, reports that the test is skipped.
#[must_use]
pub fn has_program(name: &str) -> bool {
    let is_installed = folders().iter().any(|folder| Path::new(folder).join(name).is_file());
    if !is_installed {
        report_skipped(&format!("{name} is not installed"));
    }
    is_installed
}

fn address(variable: &str) -> Option<String> {
    let address = std::env::var(variable).ok().filter(|address| !address.is_empty());
    if address.is_none() {
        report_skipped(&format!("{variable} is not set"));
    }
    address
}

// Debian installs Postgres outside of PATH, in a directory for each version.
fn folders() -> Vec<std::path::PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    std::env::split_paths(&path).chain(versions.map(|version| version.path().join("bin"))).collect()
}

// Written to the handle itself, because libtest shows nothing that a passing test prints. Nextest hides the
// handle too, so `scripts/test --quick` names a file, which it counts at the end.
fn report_skipped(reason: &str) {
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    assert!(std::env::var_os("HANDBILL_TEST_REQUIRE_ALL").is_none(), "{test} must not be skipped: {reason}");
    let _ = writeln!(std::io::stderr(), "SKIPPED {test}: {reason}");
    if let Some(path) = std::env::var_os("HANDBILL_TEST_SKIPPED") {
        let list = File::options().create(true).append(true).open(path);
        let _ = list.and_then(|mut list| list.write_all(format!("{reason}\t{test}\n").as_bytes()));
    }
}
