//! How long ago something happened or how soon it will happen, as people say it.

use std::fmt;

use domain::Time;

use super::figures::Moment;

/// A moment as seen from now: `5 min ago`, `in 5 min`, and its date if it is a month away.
#[derive(Clone, Copy, Debug)]
pub struct Ago {
    pub at: Moment,
    now: Time,
}

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;
const DAYS_MAX: u64 = 30;
/// What another process has just done may be this many seconds ahead.
const CLOCKS_APART_MAX: u64 = 5;

impl Ago {
    pub fn new(at: Time, now: Time) -> Self {
        Self { at: Moment(at), now }
    }
}

impl fmt::Display for Ago {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ahead = self.at.0.since(self.now).as_secs();
        let is_ahead = ahead > CLOCKS_APART_MAX;
        let seconds = if is_ahead { ahead } else { self.now.since(self.at.0).as_secs() };
        let (number, unit) = match seconds {
            0..MINUTE => return f.write_str(if is_ahead { "in less than 1 min" } else { "just now" }),
            MINUTE..HOUR => (seconds / MINUTE, "min"),
            HOUR..DAY => (seconds / HOUR, "h"),
            _ if seconds < 2 * DAY => (1, "day"),
            _ if seconds < DAYS_MAX * DAY => (seconds / DAY, "days"),
            _ => {
                let text = self.at.to_string();
                return f.write_str(text.split_once(',').map_or(text.as_str(), |(date, _)| date));
            }
        };
        if is_ahead { write!(f, "in {number} {unit}") } else { write!(f, "{number} {unit} ago") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_between_is_rounded_down_to_its_largest_unit() {
        let now = Time::parse_rfc3339("2026-11-21T14:05:00Z").unwrap();
        for (at, text) in [
            ("2026-12-21T14:05:00Z", "21 Dec 2026"),
            ("2026-12-21T14:04:59Z", "in 29 days"),
            ("2026-11-23T14:05:00Z", "in 2 days"),
            ("2026-11-23T14:04:59Z", "in 1 day"),
            ("2026-11-22T14:05:00Z", "in 1 day"),
            ("2026-11-22T14:04:59Z", "in 23 h"),
            ("2026-11-21T14:25:30Z", "in 20 min"),
            ("2026-11-21T14:05:59Z", "in less than 1 min"),
            ("2026-11-21T14:05:05Z", "just now"),
            ("2026-11-21T14:05:00Z", "just now"),
            ("2026-11-21T14:04:01Z", "just now"),
            ("2026-11-21T14:04:00Z", "1 min ago"),
            ("2026-11-21T13:05:01Z", "59 min ago"),
            ("2026-11-20T14:05:01Z", "23 h ago"),
            ("2026-11-20T14:05:00Z", "1 day ago"),
            ("2026-11-19T14:05:00Z", "2 days ago"),
            ("2026-10-22T14:05:01Z", "29 days ago"),
            ("2026-10-22T14:05:00Z", "22 Oct 2026"),
        ] {
            assert_eq!(Ago::new(Time::parse_rfc3339(at).unwrap(), now).to_string(), text, "{at}");
        }
    }
}
