//! Times, days and months in UTC.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use jiff::SignedDuration;
use jiff::civil::DateTime;
use jiff::fmt::temporal::Pieces;
use serde::{Deserialize, Serialize};

/// A time in UTC, to the millisecond, as the database stores it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Time(i64);

impl Time {
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    pub const fn millis(self) -> i64 {
        self.0
    }

    pub fn plus(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)))
    }

    pub fn minus(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)))
    }

    /// The time that has passed since `earlier`; zero when `earlier` is in the future.
    pub fn since(self, earlier: Time) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// The UTC calendar month of this time.
    pub fn month(self) -> Month {
        let date = self.timestamp().to_zoned(jiff::tz::TimeZone::UTC).date();
        Month { year: date.year(), month: date.month() }
    }

    /// The UTC day of this time.
    pub fn day(self) -> Day {
        Day(self.0.div_euclid(DAY_MILLIS))
    }

    /// RFC 3339 in UTC with `Z`, as on the wire.
    pub fn rfc3339(self) -> String {
        match EPOCH.checked_add(SignedDuration::from_millis(self.0)) {
            Ok(at) => format!("{at}Z"),
            Err(_) => self.timestamp().to_string(),
        }
    }

    /// Parses RFC 3339 and nothing else. People write the end of the year 9999 for "never", which exceeds the
    /// range of jiff's timestamps but not of its dates.
    pub fn parse_rfc3339(text: &str) -> Option<Self> {
        if !is_rfc3339(text) {
            return None;
        }
        match text.parse::<jiff::Timestamp>() {
            Ok(at) => Some(Self(at.as_millisecond())),
            Err(_) => {
                let pieces = Pieces::parse(text).ok()?;
                let offset = SignedDuration::from_secs(pieces.to_numeric_offset()?.seconds().into());
                let in_utc = pieces.date().to_datetime(pieces.time()?).checked_sub(offset).ok()?;
                i64::try_from(in_utc.duration_since(EPOCH).as_millis()).ok().map(Self)
            }
        }
    }

    fn timestamp(self) -> jiff::Timestamp {
        let fallback = if self.0 < 0 { jiff::Timestamp::MIN } else { jiff::Timestamp::MAX };
        jiff::Timestamp::from_millisecond(self.0).unwrap_or(fallback)
    }
}

const EPOCH: DateTime = jiff::civil::date(1970, 1, 1).at(0, 0, 0, 0);

/// The length of `2026-01-31T12:00:00`.
const LOCAL_LENGTH: usize = 19;

/// `2026-01-31T12:00:00`, an optional fraction, and `Z` or an offset in hours and minutes.
fn is_rfc3339(text: &str) -> bool {
    let Some((local, rest)) = text.split_at_checked(LOCAL_LENGTH) else { return false };
    let fits = |text: &str, pattern: &str| {
        text.len() == pattern.len()
            && text.bytes().zip(pattern.bytes()).all(|(byte, wanted)| match wanted {
                b'0' => byte.is_ascii_digit(),
                b'T' => matches!(byte, b'T' | b't' | b' '),
                _ => byte == wanted,
            })
    };
    let offset = match rest.strip_prefix('.') {
        Some(fraction) => {
            let digits = fraction.trim_start_matches(|character: char| character.is_ascii_digit());
            if digits.len() == fraction.len() {
                return false;
            }
            digits
        }
        None => rest,
    };
    let is_zulu = offset.eq_ignore_ascii_case("z");
    fits(local, "0000-00-00T00:00:00") && (is_zulu || fits(offset, "+00:00") || fits(offset, "-00:00"))
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.rfc3339())
    }
}

/// A UTC calendar month, written `YYYY-MM`: the key of usage and monthly charges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Month {
    year: i16,
    month: i8,
}

impl Month {
    /// Midnight UTC at the start of the month.
    pub fn start(self) -> Time {
        let first = jiff::civil::Date::new(self.year, self.month, 1);
        let midnight = first.and_then(|date| date.to_zoned(jiff::tz::TimeZone::UTC));
        Time(midnight.map_or(0, |midnight| midnight.timestamp().as_millisecond()))
    }

    /// The days of the month, in order.
    pub fn days(self) -> impl Iterator<Item = Day> {
        let (first, next) = (self.start().day(), self.next().start().day());
        (first.0..next.0).map(Day)
    }

    #[must_use]
    pub fn next(self) -> Month {
        match self.month {
            12 => Month { year: self.year + 1, month: 1 },
            month => Month { year: self.year, month: month + 1 },
        }
    }

    #[must_use]
    pub fn previous(self) -> Month {
        match self.month {
            1 => Month { year: self.year - 1, month: 12 },
            month => Month { year: self.year, month: month - 1 },
        }
    }
}

impl fmt::Display for Month {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}", self.year, self.month)
    }
}

impl FromStr for Month {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (year, month) = text.split_once('-').ok_or(())?;
        if year.len() != 4 || month.len() != 2 || !text.bytes().all(|b| b.is_ascii_digit() || b == b'-') {
            return Err(());
        }
        let month: i8 = month.parse().map_err(|_| ())?;
        if !(1..=12).contains(&month) {
            return Err(());
        }
        Ok(Self { year: year.parse().map_err(|_| ())?, month })
    }
}

/// A day in UTC, as the number of days since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(i64);

const DAY_MILLIS: i64 = 24 * 3600 * 1000;

impl Day {
    pub const fn from_number(number: i64) -> Self {
        Self(number)
    }

    pub const fn number(self) -> i64 {
        self.0
    }

    /// Midnight UTC at the start of the day.
    pub fn start(self) -> Time {
        Time(self.0.saturating_mul(DAY_MILLIS))
    }
}

/// `YYYY-MM-DD`
impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.start().timestamp().to_zoned(jiff::tz::TimeZone::UTC).date())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_have_the_right_number_of_days() {
        let days = |month: &str| {
            let days: Vec<_> = month.parse::<Month>().unwrap().days().map(|day| day.to_string()).collect();
            (days.len(), days[0].clone(), days[days.len() - 1].clone())
        };
        assert_eq!(days("2024-02"), (29, "2024-02-01".into(), "2024-02-29".into()));
        assert_eq!(days("2026-12"), (31, "2026-12-01".into(), "2026-12-31".into()));
        let last_moment = Time::from_millis(-1);
        assert_eq!(last_moment.day().to_string(), "1969-12-31");
        assert_eq!(Day::from_number(0).start(), Time::from_millis(0));
    }

    #[test]
    fn time_is_formatted_in_utc_and_parsed_back() {
        let moment = Time::from_millis(1_767_225_599_250);
        assert_eq!(moment.rfc3339(), "2025-12-31T23:59:59.25Z");
        assert_eq!(Time::parse_rfc3339("2026-01-01T00:59:59.25+01:00"), Some(moment));
    }

    #[test]
    fn only_rfc_3339_is_parsed() {
        for good in ["2030-01-31T12:00:00Z", "2030-01-31t12:00:00z", "2030-01-31 12:00:00.5-02:00"] {
            assert!(Time::parse_rfc3339(good).is_some(), "{good}");
        }
        for kept in [
            "9999-12-31T23:59:59Z",
            "9999-12-31T23:59:59.999Z",
            "9999-12-30T22:00:00Z",
            "0001-01-01T00:00:00Z",
        ] {
            assert_eq!(Time::parse_rfc3339(kept).unwrap().rfc3339(), kept);
        }
        for (with_offset, in_utc) in [
            ("9999-12-31T23:59:59+00:00", "9999-12-31T23:59:59Z"),
            ("9999-12-31t23:59:59.999999+02:00", "9999-12-31T21:59:59.999Z"),
        ] {
            assert_eq!(Time::parse_rfc3339(with_offset).unwrap().rfc3339(), in_utc);
        }
        for bad in [
            "",
            "2030-01-31",
            "20300131T120000Z",
            "2030-01-31T12Z",
            "2030-01-31T12:00:00",
            "2030-01-31T12:00:00.Z",
            "2030-01-31T12:00:00Z[Europe/Paris]",
            "2030-01-31T12:00:00+02:00:30",
            "+002030-01-31T12:00:00Z",
            "2030-02-31T12:00:00Z",
            "9999-12-32T00:00:00Z",
            "9999-12-31T23:59:59-01:00",
            "2030-01-31T12:00:0üZ",
        ] {
            assert!(Time::parse_rfc3339(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn the_month_turns_at_midnight_utc() {
        let last = Time::from_millis(1_767_225_599_999);
        assert_eq!(last.month().to_string(), "2025-12");
        assert_eq!(last.plus(Duration::from_millis(1)).month().to_string(), "2026-01");
    }

    #[test]
    fn a_month_is_read_strictly() {
        assert_eq!("2026-02".parse::<Month>().map(|m| m.to_string()), Ok("2026-02".to_owned()));
        for bad in ["2026-13", "2026-00", "2026-2", "26-02", "2026/02", "+026-01", ""] {
            assert!(bad.parse::<Month>().is_err(), "{bad}");
        }
    }

    #[test]
    fn month_starts_at_the_end_of_the_previous_one() {
        let month: Month = "2026-01".parse().unwrap();
        assert_eq!(month.start().rfc3339(), "2026-01-01T00:00:00Z");
        assert_eq!(month.previous().to_string(), "2025-12");
        assert_eq!(month.previous().previous().to_string(), "2025-11");
        assert_eq!(month.start().minus(Duration::from_millis(1)).month(), month.previous());
        assert_eq!(month.start().month(), month);
    }
}
