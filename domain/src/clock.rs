//! The only source of the current time. Nothing else may read the system's clock, so that tests can move the
//! time.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use crate::Time;

/// The current time: the machine's clock or, once it was read, the database's, so that all processes of a
/// deployment agree. Between two readings a monotonic clock advances the database's time, so a step of the
/// machine's clock does not affect it. Clones share one clock. Tests use a clock that they move by hand.
#[derive(Clone, Debug)]
pub struct Clock {
    source: Source,
    /// The start of the monotonic clock.
    started: Instant,
    /// The database's time at the start of the monotonic clock, in milliseconds; [`NOT_READ`] before the
    /// first reading.
    database_start_ms: Arc<AtomicI64>,
}

const NOT_READ: i64 = i64::MIN;

#[derive(Clone, Debug)]
enum Source {
    System,
    Manual(Arc<Manual>),
    Test(Arc<TestShift>),
}

/// A clock that is moved by hand.
#[derive(Debug)]
struct Manual {
    /// The time when it was created.
    start_ms: i64,
    elapsed_ms: AtomicI64,
    /// How far the machine's clock was stepped.
    stepped_ms: AtomicI64,
}

/// How a test shifts the clocks of real processes.
#[derive(Debug)]
pub struct TestShift {
    /// Contains the number of milliseconds by which all processes and the database are ahead of real time.
    pub file: PathBuf,
    /// The additional error of this machine's clock.
    pub machine_ahead_ms: i64,
}

/// A reading of two clocks at nearly the same time.
#[derive(Clone, Copy, Debug)]
pub struct ClockReading {
    /// The result of [`Clock::elapsed`].
    pub elapsed: Duration,
    pub database: Time,
    pub off_by_at_most: Duration,
}

impl Clock {
    pub fn system() -> Self {
        Self::from(Source::System)
    }

    /// A clock that only [`Clock::advance`] moves.
    pub fn manual(start: Time) -> Self {
        Self::from(Source::Manual(Arc::new(Manual {
            start_ms: start.millis(),
            elapsed_ms: AtomicI64::new(0),
            stepped_ms: AtomicI64::new(0),
        })))
    }

    pub fn shifted(shift: TestShift) -> Self {
        Self::from(Source::Test(Arc::new(shift)))
    }

    pub fn now(&self) -> Time {
        let now = self.database_now().unwrap_or_else(|| self.machine_now()).millis();
        match &self.source {
            Source::System | Source::Manual(_) => Time::from_millis(now),
            Source::Test(shift) => {
                let text = std::fs::read_to_string(&shift.file).unwrap_or_default();
                Time::from_millis(now.saturating_add(text.trim().parse().unwrap_or(0)))
            }
        }
    }

    /// The monotonic clock: the time since this clock was created.
    pub fn elapsed(&self) -> Duration {
        match &self.source {
            Source::System | Source::Test(_) => self.started.elapsed(),
            Source::Manual(manual) => {
                let elapsed_ms = manual.elapsed_ms.load(Ordering::SeqCst);
                Duration::from_millis(u64::try_from(elapsed_ms).unwrap_or_default())
            }
        }
    }

    /// How far the machine's clock is ahead of the database's; 0 if the database's was never read.
    pub fn ahead_ms(&self) -> i64 {
        self.database_now()
            .map_or(0, |database| self.machine_now().millis().saturating_sub(database.millis()))
    }

    /// Follows the database's clock from now on. A reading that agrees with the current time, within its own
    /// uncertainty, changes nothing. Otherwise the time would jitter with every reading.
    pub fn follow(&self, reading: ClockReading) {
        let elapsed_ms = millis_of(reading.elapsed);
        let known = self.database_start().unwrap_or_else(|| {
            let now_elapsed_ms = millis_of(self.elapsed());
            self.machine_now().millis().saturating_sub(now_elapsed_ms)
        });
        let read = reading.database.millis().saturating_sub(elapsed_ms);
        let agrees = u128::from(read.abs_diff(known)) <= reading.off_by_at_most.as_millis();
        self.database_start_ms.store(if agrees { known } else { read }, Ordering::SeqCst);
    }

    /// Moves a manual clock forward. Has no effect on other clocks.
    pub fn advance(&self, by: Duration) {
        if let Source::Manual(manual) = &self.source {
            manual.elapsed_ms.fetch_add(millis_of(by), Ordering::SeqCst);
        }
    }

    /// The time of this machine's clock, which may be wrong.
    fn machine_now(&self) -> Time {
        match &self.source {
            Source::System => system_now(),
            Source::Manual(manual) => {
                let moved_ms = [&manual.elapsed_ms, &manual.stepped_ms].map(|by| by.load(Ordering::SeqCst));
                Time::from_millis(moved_ms.into_iter().fold(manual.start_ms, i64::saturating_add))
            }
            Source::Test(shift) => {
                Time::from_millis(system_now().millis().saturating_add(shift.machine_ahead_ms))
            }
        }
    }

    fn database_now(&self) -> Option<Time> {
        Some(Time::from_millis(self.database_start()?.saturating_add(millis_of(self.elapsed()))))
    }

    fn database_start(&self) -> Option<i64> {
        Some(self.database_start_ms.load(Ordering::SeqCst)).filter(|start| *start != NOT_READ)
    }
}

impl From<Source> for Clock {
    fn from(source: Source) -> Self {
        Self { source, started: Instant::now(), database_start_ms: Arc::new(AtomicI64::new(NOT_READ)) }
    }
}

fn millis_of(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

#[expect(clippy::disallowed_methods, reason = "the only place that reads the wall clock")]
fn system_now() -> Time {
    Time::from_millis(jiff::Timestamp::now().as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manual_clock_moves_only_by_hand() {
        let clock = Clock::manual(Time::from_millis(1000));
        clock.clone().advance(Duration::from_secs(2));
        assert_eq!(clock.now(), Time::from_millis(3000));
    }

    #[test]
    fn clock_follows_the_database_and_ignores_jitter() {
        let clock = Clock::manual(Time::from_millis(100_000));
        let read = |database: i64, off_by_at_most: u64| {
            clock.follow(ClockReading {
                elapsed: clock.elapsed(),
                database: Time::from_millis(database),
                off_by_at_most: Duration::from_millis(off_by_at_most),
            });
            (clock.clone().now().millis(), clock.ahead_ms())
        };
        assert_eq!(read(100_004, 5), (100_000, 0));
        assert_eq!(read(10_000, 5), (10_000, 90_000));
        assert_eq!(read(10_005, 5), (10_000, 90_000));
        assert_eq!(read(10_006, 5), (10_006, 89_994));
        assert_eq!(read(190_000, 500), (190_000, -90_000));
    }

    #[test]
    fn system_clock_steps_have_no_effect_after_the_first_database_reading() {
        let clock = Clock::manual(Time::from_millis(100_000));
        let step = |by_ms| match &clock.source {
            Source::Manual(manual) => manual.stepped_ms.fetch_add(by_ms, Ordering::SeqCst),
            _ => unreachable!(),
        };
        step(7_000);
        assert_eq!(clock.now().millis(), 107_000, "there is no other clock yet");
        clock.follow(ClockReading {
            elapsed: clock.elapsed(),
            database: Time::from_millis(50_000),
            off_by_at_most: Duration::from_millis(5),
        });
        for by_ms in [3_600_000, -7_200_000] {
            step(by_ms);
            assert_eq!(clock.now().millis(), 50_000);
        }
        assert_eq!(clock.ahead_ms(), 57_000 + 3_600_000 - 7_200_000, "the skew is known at once");
        clock.advance(Duration::from_secs(2));
        assert_eq!(clock.clone().now().millis(), 52_000);
    }
}
