//! A clock that tests move by hand, in real processes. It moves forward only.

use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The machine's clock, since 1970.
#[expect(clippy::disallowed_methods, reason = "the one place where tests read the wall clock")]
pub fn system_time() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("a time after 1970")
}

/// The clock that all processes of a world share: a file with its offset from the system clock, in
/// milliseconds.
#[derive(Debug)]
pub struct WorldClock {
    path: PathBuf,
    ahead_ms: Mutex<u128>,
}

impl WorldClock {
    pub fn at(path: PathBuf) -> Self {
        fs::write(&path, "0").expect("the clock's file");
        Self { path, ahead_ms: Mutex::new(0) }
    }

    pub fn path(&self) -> String {
        self.path.display().to_string()
    }

    /// The current time in milliseconds since 1970.
    pub fn now_millis(&self) -> u128 {
        system_time().as_millis() + *self.ahead_ms.lock().unwrap()
    }

    /// Written to another file and renamed, so that no process reads half a number.
    pub fn advance(&self, by: Duration) {
        let mut ahead_ms = self.ahead_ms.lock().unwrap();
        *ahead_ms += by.as_millis();
        let draft = self.path.with_extension("draft");
        fs::write(&draft, ahead_ms.to_string()).expect("the clock's draft");
        fs::rename(&draft, &self.path).expect("the clock's file");
    }
}
