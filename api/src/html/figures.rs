//! Amounts, sizes, counts and times as people read them. They are for display only and are never parsed.

use std::fmt;

use domain::{Day, Micro, Month, Suspension, Time};

/// US dollars, to the cent or as exactly as needed: `$1.50`, `−$0.005`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dollars(pub Micro);

/// A number of bytes: `812 bytes`, `1.2 kB`. A kilobyte is 1,000 bytes, as on the bill.
#[derive(Clone, Copy, Debug)]
pub struct Size(pub u64);

/// A number with thousands separators: `1,234`.
#[derive(Clone, Copy, Debug)]
pub struct Count(pub u64);

/// A moment: `21 Nov 2026, 14:05 UTC`.
#[derive(Clone, Copy, Debug)]
pub struct Moment(pub Time);

/// When and why an account was suspended.
#[derive(Clone, Debug)]
pub struct SuspendedSince {
    pub at: Moment,
    pub reason: String,
}

impl From<&Suspension> for SuspendedSince {
    fn from(suspension: &Suspension) -> Self {
        Self { at: Moment(suspension.at), reason: suspension.reason.as_str().to_owned() }
    }
}

/// A month: `November 2026`.
#[derive(Clone, Copy, Debug)]
pub struct MonthName(pub Month);

/// A day: `21 Nov`.
#[derive(Clone, Copy, Debug)]
pub struct DayOfMonth(pub Day);

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
/// The length of an abbreviated month in a date, such as `Nov`.
const MONTH_LENGTH: usize = 3;
const MICRO_PER_USD: u64 = 1_000_000;
const MICRO_PER_CENT: i64 = 10_000;
const CENT_DIGITS: usize = 2;

impl Dollars {
    /// An estimate, rounded up to the cent.
    pub fn estimate(amount: Micro) -> Self {
        let cents = amount.get().saturating_add(MICRO_PER_CENT - 1).div_euclid(MICRO_PER_CENT);
        Self(Micro::new(cents * MICRO_PER_CENT))
    }
}

impl fmt::Display for Dollars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micro = self.0.get().unsigned_abs();
        let decimals = format!("{:06}", micro % MICRO_PER_USD);
        let needed = decimals.trim_end_matches('0').len().max(CENT_DIGITS);
        let sign = if self.0.is_negative() { "−" } else { "" };
        write!(f, "{sign}${}.{}", Count(micro / MICRO_PER_USD), &decimals[..needed])
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let in_unit = |unit: u64| format!("{}.{}", Count(self.0 / unit), self.0 % unit * 10 / unit);
        match self.0 {
            1 => f.write_str("1 byte"),
            0..1_000 => write!(f, "{} bytes", self.0),
            1_000..1_000_000 => write!(f, "{} kB", in_unit(1_000)),
            1_000_000..1_000_000_000 => write!(f, "{} MB", in_unit(1_000_000)),
            _ => write!(f, "{} GB", in_unit(1_000_000_000)),
        }
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        for (at, digit) in digits.chars().enumerate() {
            if at > 0 && (digits.len() - at).is_multiple_of(3) {
                f.write_str(",")?;
            }
            write!(f, "{digit}")?;
        }
        Ok(())
    }
}

impl Moment {
    /// For the `datetime` attribute.
    pub fn exact(&self) -> String {
        self.0.rfc3339()
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.rfc3339();
        match (text.get(..4), text.get(11..16)) {
            (Some(year), Some(minute)) => {
                write!(f, "{} {year}, {minute} UTC", DayOfMonth(self.0.day()))
            }
            _ => f.write_str(&text),
        }
    }
}

impl fmt::Display for DayOfMonth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // `YYYY-MM-DD`
        let text = self.0.to_string();
        match (month_in(&text), text.get(8..10)) {
            (Some(month), Some(day)) => {
                write!(f, "{} {}", day.trim_start_matches('0'), &month[..MONTH_LENGTH])
            }
            _ => f.write_str(&text),
        }
    }
}

impl fmt::Display for MonthName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // `YYYY-MM`
        let text = self.0.to_string();
        match (month_in(&text), text.get(..4)) {
            (Some(month), Some(year)) => write!(f, "{month} {year}"),
            _ => f.write_str(&text),
        }
    }
}

/// The name of the month in a date of ISO 8601.
fn month_in(date: &str) -> Option<&'static str> {
    let number: usize = date.get(5..7)?.parse().ok()?;
    MONTHS.get(number.checked_sub(1)?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_formatted_to_the_cent_or_exactly() {
        for (micro, text) in [
            (0, "$0.00"),
            (500_000, "$0.50"),
            (-20_000, "−$0.02"),
            (5_000, "$0.005"),
            (-1, "−$0.000001"),
            (1_234_567_890_000, "$1,234,567.89"),
        ] {
            assert_eq!(Dollars(Micro::new(micro)).to_string(), text);
        }
        for (micro, text) in [(12_500_489, "$12.51"), (12_510_000, "$12.51"), (4_999, "$0.01"), (0, "$0.00")]
        {
            assert_eq!(Dollars::estimate(Micro::new(micro)).to_string(), text);
        }
    }

    #[test]
    fn sizes_and_counts_are_short() {
        for (bytes, text) in [
            (0, "0 bytes"),
            (1, "1 byte"),
            (999, "999 bytes"),
            (1_000, "1.0 kB"),
            (1_999, "1.9 kB"),
            (12_345_678, "12.3 MB"),
            (3_000_000_000_000, "3,000.0 GB"),
        ] {
            assert_eq!(Size(bytes).to_string(), text);
        }
        assert_eq!(
            (Count(999).to_string(), Count(1_000_000).to_string()),
            ("999".into(), "1,000,000".into())
        );
    }

    #[test]
    fn timestamps_are_formatted_to_the_minute_in_utc() {
        let moment = Moment(Time::parse_rfc3339("2026-11-01T04:05:59.999Z").unwrap());
        assert_eq!(moment.to_string(), "1 Nov 2026, 04:05 UTC");
        assert_eq!(moment.exact(), "2026-11-01T04:05:59.999Z");
        assert_eq!(DayOfMonth(moment.0.day()).to_string(), "1 Nov");
        assert_eq!(MonthName(moment.0.month()).to_string(), "November 2026");
    }
}
