//! Formats values for people: money, sizes, times, properties. Machine-readable output never comes from here.

use std::time::Duration;

use domain::{Micro, Time};
use indicatif::DecimalBytes;

pub use crate::table::{Fit, harmless, paragraph, table};
use crate::table::{plain, trimmed};

const NOTHING: &str = "-";

/// Dollars with a sign and at least two decimals: `$0.50`, `-$0.005`.
pub fn dollars(amount: Micro) -> String {
    let (sign, amount) = if amount.is_negative() { ("-", -amount) } else { ("", amount) };
    let digits = amount.to_string();
    let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    match decimals {
        0 => format!("{sign}${digits}.00"),
        1 => format!("{sign}${digits}0"),
        _ => format!("{sign}${digits}"),
    }
}

/// Dollars from the API's number.
pub fn usd(amount: f64) -> String {
    Micro::from_usd(amount).map_or_else(|| format!("${amount}"), dollars)
}

/// A number with thousands separators: `20,000`.
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

pub fn bytes(count: u64) -> String {
    DecimalBytes(count).to_string()
}

/// An API time relative to now: `in 24 min`, `3 days ago`.
pub fn when(moment: &str, now: Time) -> String {
    let Some(at) = Time::parse_rfc3339(moment) else { return moment.to_owned() };
    if at > now { format!("in {}", span(at.since(now))) } else { ago(now.since(at)) }
}

/// Whether an API time is in the past.
pub fn has_passed(moment: &str, now: Time) -> bool {
    Time::parse_rfc3339(moment).is_some_and(|at| at <= now)
}

/// [`when`] for an optional time.
pub fn when_ever(moment: Option<&str>, now: Time) -> String {
    moment.map_or_else(|| "never".to_owned(), |moment| when(moment, now))
}

fn ago(passed: Duration) -> String {
    if passed < Duration::from_secs(5) { "just now".to_owned() } else { format!("{} ago", span(passed)) }
}

/// A duration in its most suitable unit.
fn span(length: Duration) -> String {
    let seconds = length.as_secs();
    match seconds {
        0..=99 => format!("{seconds} s"),
        100..=5_999 => format!("{} min", (seconds + 30) / 60),
        6_000..=172_799 => format!("{} h", (seconds + 1_800) / 3_600),
        _ => format!("{} days", (seconds + 43_200) / 86_400),
    }
}

/// `1 file`, `2 files`.
pub fn count(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// The properties of one thing, one per line.
pub fn facts<'a>(facts: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let mut table = plain();
    table.add_rows(facts.into_iter().map(|(name, value)| [name.to_owned(), harmless(&value)]));
    trimmed(&table)
}

/// The value, or a dash.
pub fn or_nothing(value: Option<impl ToString>) -> String {
    value.map_or_else(|| NOTHING.to_owned(), |value| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_thousands_separators() {
        for (count, text) in [(0, "0"), (999, "999"), (20_000, "20,000"), (1_000_000, "1,000,000")] {
            assert_eq!(grouped(count), text);
        }
    }

    #[test]
    fn money_has_cents_and_no_more_digits_than_it_needs() {
        for (micro, api_error) in [
            (5_000, "$0.005"),
            (500_000, "$0.50"),
            (5_000_000, "$5.00"),
            (-20_000, "-$0.02"),
            (0, "$0.00"),
            (1_234_500, "$1.2345"),
            (4_995_000, "$4.995"),
        ] {
            assert_eq!(dollars(Micro::new(micro)), api_error);
        }
        assert_eq!((usd(0.1), usd(4.995)), ("$0.10".to_owned(), "$4.995".to_owned()));
    }

    #[test]
    fn timestamps_are_shown_relative_to_now() {
        let now = Time::parse_rfc3339("2026-01-31T12:00:00Z").unwrap();
        for (moment, api_error) in [
            ("2026-01-31T12:24:10Z", "in 24 min"),
            ("2026-01-31T12:00:42Z", "in 42 s"),
            ("2026-02-03T12:00:00Z", "in 3 days"),
            ("2026-01-31T11:59:58Z", "just now"),
            ("2026-01-31T11:50:00Z", "10 min ago"),
            ("2026-01-30T12:00:00Z", "24 h ago"),
            ("soon", "soon"),
        ] {
            assert_eq!(when(moment, now), api_error, "{moment}");
        }
        assert_eq!(when_ever(None, now), "never");
    }

    #[test]
    fn control_characters_in_server_text_are_removed() {
        let text = facts([("name", "\u{1b}[2Jgone\u{7}".to_owned())]);
        assert_eq!(text, "name  [2Jgone");
    }
}
