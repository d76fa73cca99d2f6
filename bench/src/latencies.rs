//! Times of many runs, and their percentiles.

use std::fmt;
use std::time::Duration;

/// The times of many runs, sorted.
pub struct Latencies(Vec<Duration>);

impl Latencies {
    pub fn of(mut taken: Vec<Duration>) -> Self {
        taken.sort_unstable();
        Self(taken)
    }

    /// The time that this percentage of the runs did not exceed.
    pub fn percentile(&self, percent: usize) -> Ms {
        let rank = (self.0.len() * percent).div_ceil(100).max(1);
        Ms(self.0.get(rank - 1).copied().unwrap_or_default())
    }

    pub fn count(&self) -> usize {
        self.0.len()
    }
}

/// A time as displayed in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ms(pub Duration);

impl Ms {
    pub fn ratio_to(self, floor: Ms) -> f64 {
        self.0.as_secs_f64() / floor.0.as_secs_f64()
    }
}

impl fmt::Display for Ms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2} ms", self.0.as_secs_f64() * 1e3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_a_time_that_was_measured() {
        let latencies = Latencies::of((1..=200).rev().map(Duration::from_millis).collect());
        assert_eq!(latencies.percentile(50), Ms(Duration::from_millis(100)));
        assert_eq!(latencies.percentile(99), Ms(Duration::from_millis(198)));
        assert_eq!(latencies.percentile(100), Ms(Duration::from_millis(200)));
        assert_eq!(Latencies::of(vec![]).percentile(50), Ms(Duration::ZERO));
    }
}
