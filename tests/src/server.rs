//! The servers of the production mode: a database and a Redis number for each world, an S3 server inside the
//! test, and separate servers for worlds that stop them. In both modes, also a card processor or a trace
//! collector on request.

pub mod cable;
pub mod card;
pub mod otlp;
pub mod outage;
pub mod postgres;
pub mod redis;
pub mod s3;
pub mod sqlite;

/// Whether the servers of the production mode are available. If not, reports that the test is skipped.
#[must_use]
pub fn has_servers() -> bool {
    test_servers::postgres().is_some() && test_servers::redis().is_some()
}

/// Skips a running test after it was reported that something is missing. Nextest runs each test in a process
/// of its own, which ends here as passed. Other runners share a process, so that the test fails there.
pub(crate) fn skip_test() -> ! {
    if std::env::var("NEXTEST_EXECUTION_MODE").is_ok_and(|mode| mode == "process-per-test") {
        std::process::exit(0);
    }
    panic!("this test needs servers: run it by scripts/test or scripts/test --quick");
}
