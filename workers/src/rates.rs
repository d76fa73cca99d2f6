//! How many attempts succeed and fail per minute. Each process counts its own and reports the full minutes;
//! the board adds them up. So a rate costs no query on the jobs.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use domain::{Queue, Time};
use serde::{Deserialize, Serialize};

const MINUTE_MS: i64 = 60_000;
/// The current minute and the two before it.
const MINUTES_KEPT: usize = 3;
/// Every process has reported a minute this long after its end: one heartbeat, and as much again for clocks
/// that differ.
const REPORTED_AFTER: Duration = Duration::from_secs(4);

/// The attempts of one process.
#[derive(Default)]
pub(crate) struct Rates(Mutex<VecDeque<MinuteCount>>);

/// The attempts in one minute.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MinuteCount {
    /// Minutes since 1970.
    minute: i64,
    /// Succeeded and failed attempts by queue name. A newer release may have queues that this one does not
    /// know.
    ended: BTreeMap<String, (u64, u64)>,
}

impl MinuteCount {
    /// Succeeded and failed attempts.
    pub(crate) fn of(&self, queue: Queue) -> (u64, u64) {
        self.ended.get(queue.name()).copied().unwrap_or_default()
    }

    fn add(&mut self, other: &MinuteCount) {
        for (queue, (done, failed)) in &other.ended {
            let sum = self.ended.entry(queue.clone()).or_default();
            *sum = (sum.0.saturating_add(*done), sum.1.saturating_add(*failed));
        }
    }
}

impl Rates {
    pub(crate) fn count_done(&self, queue: Queue, at: Time) {
        self.count(queue, at, (1, 0));
    }

    pub(crate) fn count_failed(&self, queue: Queue, at: Time) {
        self.count(queue, at, (0, 1));
    }

    fn count(&self, queue: Queue, at: Time, (done, failed): (u64, u64)) {
        let mut minutes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let minute = minute_of(at);
        if minutes.back().is_none_or(|latest| latest.minute < minute) {
            minutes.push_back(MinuteCount { minute, ..MinuteCount::default() });
            let surplus = minutes.len().saturating_sub(MINUTES_KEPT);
            minutes.drain(..surplus);
        }
        // If the clock was set back, attempts count into the latest minute.
        if let Some(latest) = minutes.back_mut() {
            let sum = latest.ended.entry(queue.name().to_owned()).or_default();
            *sum = (sum.0 + done, sum.1 + failed);
        }
    }

    /// The full minutes, as a heartbeat reports them.
    pub(crate) fn full_minutes(&self, at: Time) -> Vec<MinuteCount> {
        let minutes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        minutes.iter().filter(|count| count.minute < minute_of(at)).cloned().collect()
    }
}

/// The sum over all processes for the last minute that all have reported.
pub(crate) fn sum<'a>(reported: impl Iterator<Item = &'a MinuteCount>, at: Time) -> MinuteCount {
    let minute = minute_of(at.minus(REPORTED_AFTER)) - 1;
    let mut sum = MinuteCount { minute, ..MinuteCount::default() };
    reported.filter(|count| count.minute == minute).for_each(|count| sum.add(count));
    sum
}

fn minute_of(at: Time) -> i64 {
    at.millis().div_euclid(MINUTE_MS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(minute: i64, second: i64) -> Time {
        Time::from_millis(minute * MINUTE_MS + second * 1000)
    }

    #[test]
    fn last_full_minute_counts_once_all_processes_have_reported_it() {
        let (one, two) = (Rates::default(), Rates::default());
        one.count_done(Queue::Scan, at(100, 59));
        one.count_failed(Queue::Scan, at(101, 0));
        two.count_done(Queue::Scan, at(101, 30));
        two.count_done(Queue::Publish, at(101, 59));
        two.count_done(Queue::Scan, at(102, 1));
        let shown = |now| {
            let reported = [one.full_minutes(now), two.full_minutes(now)].concat();
            let sum = sum(reported.iter(), now);
            (sum.of(Queue::Scan), sum.of(Queue::Publish))
        };
        assert_eq!(shown(at(102, 3)), ((1, 0), (0, 0)), "not every process has reported the minute before");
        assert_eq!(shown(at(102, 4)), ((1, 1), (1, 0)));
        assert_eq!(shown(at(103, 3)), ((1, 1), (1, 0)));
        assert_eq!(shown(at(103, 4)), ((1, 0), (0, 0)));
        assert_eq!(shown(at(104, 4)), ((0, 0), (0, 0)));
    }

    #[test]
    fn only_the_reported_minutes_are_kept() {
        let rates = Rates::default();
        for minute in 0..1_000 {
            rates.count_done(Queue::Views, at(minute, 0));
        }
        rates.count_done(Queue::Views, at(3, 0));
        let reported = rates.full_minutes(at(1_000, 0));
        assert_eq!(reported.len(), MINUTES_KEPT);
        assert_eq!(reported[2].of(Queue::Views), (2, 0), "a clock that was set back loses nothing");
    }

    #[test]
    fn counts_of_unknown_queues_are_ignored() {
        let reported: MinuteCount =
            serde_json::from_str(r#"{"minute": 5, "ended": {"later": [1, 2]}}"#).unwrap();
        assert_eq!(Queue::ALL.map(|queue| reported.of(queue)), [(0, 0); Queue::ALL.len()]);
    }
}
