//! Attempts that ended in this process and are not written yet. Each is counted twice: in its minute, for the
//! charts, and in a short interval, for the rates of the last 60 seconds. The heartbeat adds the counts to
//! the table of all processes, so a figure of the board costs no query on the jobs.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use domain::{Queue, Time};

/// The width of the intervals of the charts.
pub(crate) const MINUTE_S: i64 = 60;
/// The width of the intervals of the rates: that of a heartbeat.
pub(crate) const RECENT_S: i64 = 2;
/// The upper bounds of the histogram of attempt times. A last bucket holds what takes longer.
pub(crate) const BOUNDS_MS: [u64; 13] =
    [5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000];
pub(crate) const BUCKETS: usize = BOUNDS_MS.len() + 1;
/// While the database does not respond, counts are kept for as many intervals. More do not fit into one
/// statement: SQLite binds 32,766 values, and an interval has 19.
const UNWRITTEN_MAX: usize = 1_500;

/// An interval of one queue. In this order, processes lock the rows of the table without deadlocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Interval {
    pub(crate) width_s: i64,
    /// Its start, in seconds since 1970.
    pub(crate) at_s: i64,
    pub(crate) queue: Queue,
}

/// The attempts that ended in an interval.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) done: u64,
    pub(crate) failed: u64,
    /// How many of them took how long.
    pub(crate) took: [u64; BUCKETS],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AttemptEnd {
    Done,
    Failed,
}

/// The attempts of one process that are not written yet.
#[derive(Default)]
pub(crate) struct Rates(Mutex<BTreeMap<Interval, Tally>>);

impl Tally {
    pub(crate) fn add(&mut self, other: &Tally) {
        self.done = self.done.saturating_add(other.done);
        self.failed = self.failed.saturating_add(other.failed);
        for (sum, more) in self.took.iter_mut().zip(other.took) {
            *sum = sum.saturating_add(more);
        }
    }

    /// A quantile of the attempt times, in milliseconds, interpolated within its bucket. `None` without
    /// attempts.
    pub(crate) fn quantile_ms(&self, quantile: f64) -> Option<u64> {
        let all: u64 = self.took.iter().sum();
        let wanted = (all as f64 * quantile).max(1.0);
        let mut below = 0;
        for (bucket, count) in self.took.iter().copied().enumerate() {
            if count > 0 && (below + count) as f64 >= wanted {
                let from = bucket.checked_sub(1).and_then(|last| BOUNDS_MS.get(last)).copied().unwrap_or(0);
                let Some(to) = BOUNDS_MS.get(bucket) else { return Some(from) };
                let share = (wanted - below as f64) / count as f64;
                return Some(from + ((to - from) as f64 * share).round() as u64);
            }
            below += count;
        }
        None
    }
}

impl Interval {
    pub(crate) fn of(width_s: i64, queue: Queue, at: Time) -> Self {
        Self { width_s, at_s: start_of(width_s, at), queue }
    }
}

impl Rates {
    pub(crate) fn count(&self, queue: Queue, end: AttemptEnd, took: Duration, at: Time) {
        let (done, failed) = match end {
            AttemptEnd::Done => (1, 0),
            AttemptEnd::Failed => (0, 1),
        };
        let mut tally = Tally { done, failed, ..Tally::default() };
        let took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        tally.took[BOUNDS_MS.partition_point(|bound| *bound < took_ms)] = 1;
        let intervals = [MINUTE_S, RECENT_S].map(|width_s| (Interval::of(width_s, queue, at), tally.clone()));
        self.add(intervals.into());
    }

    /// The unwritten counts, which the caller writes, or puts back with [`Self::add`].
    pub(crate) fn take(&self) -> BTreeMap<Interval, Tally> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn add(&self, counted: BTreeMap<Interval, Tally>) {
        let mut unwritten = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (interval, tally) in counted {
            unwritten.entry(interval).or_default().add(&tally);
        }
        while unwritten.len() > UNWRITTEN_MAX {
            // The oldest of the shortest first: nobody will read them any more.
            unwritten.pop_first();
        }
    }
}

/// The start of the interval that contains a time, in seconds since 1970.
pub(crate) fn start_of(width_s: i64, at: Time) -> i64 {
    at.millis().div_euclid(width_s * 1000) * width_s
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Time {
        Time::from_millis(seconds * 1000)
    }

    #[test]
    fn attempt_counts_in_its_minute_and_in_its_short_interval() {
        let rates = Rates::default();
        for (second, end) in [(59, AttemptEnd::Done), (60, AttemptEnd::Failed), (61, AttemptEnd::Done)] {
            rates.count(Queue::Scan, end, Duration::from_millis(7), at(second));
        }
        let counted: Vec<_> = rates
            .take()
            .into_iter()
            .map(|(interval, tally)| (interval.width_s, interval.at_s, tally.done, tally.failed))
            .collect();
        assert_eq!(counted, [(2, 58, 1, 0), (2, 60, 1, 1), (60, 0, 1, 0), (60, 60, 1, 1)]);
        assert!(rates.take().is_empty());
    }

    #[test]
    fn counts_that_were_put_back_are_added_to_later_ones_and_bounded() {
        let rates = Rates::default();
        let count = |second| {
            rates.count(Queue::Views, AttemptEnd::Done, Duration::ZERO, at(second));
        };
        count(0);
        let failed_to_write = rates.take();
        count(1);
        rates.add(failed_to_write);
        assert!(rates.take().values().all(|tally| tally.done == 2));
        (0..30_000).for_each(|second| count(second * 2));
        let kept = rates.take();
        assert_eq!(kept.len(), UNWRITTEN_MAX);
        assert_eq!(kept.keys().filter(|interval| interval.width_s == MINUTE_S).count(), 1_000);
    }

    #[test]
    fn quantiles_are_within_the_bucket_of_the_attempt() {
        let rates = Rates::default();
        for took_ms in (0..100).map(|number| if number < 90 { 80 } else { 2_000 }) {
            rates.count(Queue::Scan, AttemptEnd::Done, Duration::from_millis(took_ms), at(0));
        }
        let tally = rates.take().into_values().next().unwrap();
        assert!((50..=100).contains(&tally.quantile_ms(0.5).unwrap()), "{tally:?}");
        assert!((1_000..=2_500).contains(&tally.quantile_ms(0.95).unwrap()), "{tally:?}");
        assert_eq!(Tally::default().quantile_ms(0.5), None);
        let mut slow = Tally::default();
        slow.took[BUCKETS - 1] = 3;
        assert_eq!(slow.quantile_ms(0.95), Some(60_000), "longer attempts count as the last bound");
    }
}
