//! How long ago something happened, as people say it.

use std::fmt;

use domain::Time;

use super::figures::Moment;

/// A moment as seen from now: `5 min ago`, and its date after a month.
#[derive(Clone, Copy, Debug)]
pub struct Ago {
    pub at: Moment,
    now: Time,
}

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;
const DAYS_MAX: u64 = 30;

impl Ago {
    pub fn new(at: Time, now: Time) -> Self {
        Self { at: Moment(at), now }
    }
}

impl fmt::Display for Ago {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.now.since(self.at.0).as_secs();
        match seconds {
            0..MINUTE => f.write_str("just now"),
            MINUTE..HOUR => write!(f, "{} min ago", seconds / MINUTE),
            HOUR..DAY => write!(f, "{} h ago", seconds / HOUR),
            _ if seconds < 2 * DAY => f.write_str("yesterday"),
            _ if seconds < DAYS_MAX * DAY => write!(f, "{} days ago", seconds / DAY),
            _ => {
                let text = self.at.to_string();
                f.write_str(text.split_once(',').map_or(text.as_str(), |(date, _)| date))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_since_is_rounded_down_to_its_largest_unit() {
        let now = Time::parse_rfc3339("2026-11-21T14:05:00Z").unwrap();
        for (at, text) in [
            ("2026-11-21T14:05:01Z", "just now"),
            ("2026-11-21T14:04:01Z", "just now"),
            ("2026-11-21T14:04:00Z", "1 min ago"),
            ("2026-11-21T13:05:01Z", "59 min ago"),
            ("2026-11-20T14:05:01Z", "23 h ago"),
            ("2026-11-20T14:05:00Z", "yesterday"),
            ("2026-11-19T14:05:00Z", "2 days ago"),
            ("2026-10-22T14:05:01Z", "29 days ago"),
            ("2026-10-22T14:05:00Z", "22 Oct 2026"),
        ] {
            assert_eq!(Ago::new(Time::parse_rfc3339(at).unwrap(), now).to_string(), text, "{at}");
        }
    }
}
