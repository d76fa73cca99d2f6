//! The remaining time of something, as text and in seconds for the script's countdown.

use std::time::Duration;

/// A remaining time. The text is rounded down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeLeft(pub Duration);

impl TimeLeft {
    /// Rounded up and at least 1, so that the page does not reload before the time is over.
    pub fn countdown_seconds(self) -> u64 {
        (self.0.as_secs() + u64::from(self.0.subsec_nanos() > 0)).max(1)
    }

    pub fn text(self) -> String {
        const MINUTE_SECONDS: u64 = 60;
        const HOUR_SECONDS: u64 = 60 * MINUTE_SECONDS;
        const DAY_SECONDS: u64 = 24 * HOUR_SECONDS;
        let (count, unit) = match self.0.as_secs() {
            seconds @ 0..MINUTE_SECONDS => (seconds, "second"),
            seconds @ MINUTE_SECONDS..HOUR_SECONDS => (seconds / MINUTE_SECONDS, "minute"),
            seconds @ HOUR_SECONDS..DAY_SECONDS => (seconds / HOUR_SECONDS, "hour"),
            seconds => (seconds / DAY_SECONDS, "day"),
        };
        let plural = if count == 1 { "" } else { "s" };
        format!("{count} {unit}{plural}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_countdown_never_ends_before_the_time_does() {
        for (millis, seconds) in [(0, 1), (1, 1), (999, 1), (1_000, 1), (1_001, 2), (59_500, 60)] {
            assert_eq!(TimeLeft(Duration::from_millis(millis)).countdown_seconds(), seconds, "{millis}");
        }
    }

    #[test]
    fn remaining_time_is_written_in_words_and_rounded_down() {
        for (seconds, text) in [
            (0, "0 seconds"),
            (59, "59 seconds"),
            (60, "1 minute"),
            (1_799, "29 minutes"),
            (3_600, "1 hour"),
            (200_000, "2 days"),
        ] {
            assert_eq!(TimeLeft(Duration::from_secs(seconds)).text(), text);
        }
    }
}
