//! Durations and times to the second, as text that is quick to read.

use std::fmt;
use std::time::Duration;

use domain::Time;

use crate::html::figures::DayOfMonth;

/// A duration in its most useful unit: `42 s`, `5 min`.
#[derive(Clone, Copy, Debug)]
pub struct Span(pub Duration);

/// A time: `21 Nov, 14:05:07 UTC`.
#[derive(Clone, Copy, Debug)]
pub struct Second(pub Time);

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_secs() {
            seconds @ 0..120 => write!(f, "{seconds} s"),
            seconds @ 120..7_200 => write!(f, "{} min", seconds / 60),
            seconds @ 7_200..172_800 => write!(f, "{} h", seconds / 3_600),
            seconds => write!(f, "{} days", seconds / 86_400),
        }
    }
}

impl Second {
    /// For the `datetime` attribute.
    pub fn exact(&self) -> String {
        self.0.rfc3339()
    }
}

impl fmt::Display for Second {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.rfc3339();
        match text.get(11..19) {
            Some(second) => write!(f, "{}, {second} UTC", DayOfMonth(self.0.day())),
            None => f.write_str(&text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_and_timestamps_are_formatted_briefly() {
        for (seconds, text) in [
            (0, "0 s"),
            (119, "119 s"),
            (120, "2 min"),
            (7_199, "119 min"),
            (7_200, "2 h"),
            (200_000, "2 days"),
        ] {
            assert_eq!(Span(Duration::from_secs(seconds)).to_string(), text);
        }
        let moment = Second(Time::parse_rfc3339("2026-11-01T04:05:59.999Z").unwrap());
        assert_eq!(moment.to_string(), "1 Nov, 04:05:59 UTC");
        assert_eq!(moment.exact(), "2026-11-01T04:05:59.999Z");
    }
}
