//! Money and moments in the one form that the wire has for each. No other shape may write either by itself.

use domain::{Micro, Time};
use poem_openapi::NewType;

/// US dollars with at most six decimals.
#[derive(Clone, Copy, Debug, PartialEq, NewType)]
pub struct Usd(f64);

/// A moment, RFC 3339 in UTC with `Z`.
#[derive(Clone, Debug, PartialEq, Eq, NewType)]
pub struct Timestamp(String);

impl From<Micro> for Usd {
    fn from(amount: Micro) -> Self {
        Self(amount.usd())
    }
}

impl From<Time> for Timestamp {
    fn from(moment: Time) -> Self {
        Self(moment.rfc3339())
    }
}

#[cfg(test)]
mod tests {
    use poem_openapi::types::ToJSON;

    use super::*;

    #[test]
    fn money_on_the_wire_is_a_number_without_artefacts() {
        for (micro, text) in [
            (5_000, "0.005"),
            (15_000, "0.015"),
            (-20_000, "-0.02"),
            (1, "1e-6"),
            (99_999_999_999, "99999.999999"),
        ] {
            let json = Usd::from(Micro::new(micro)).to_json_string();
            assert_eq!(json.parse::<f64>(), text.parse::<f64>(), "{json}");
            assert!(json.len() <= text.len() + 1, "{json}");
        }
    }

    #[test]
    fn a_moment_is_written_in_utc() {
        assert_eq!(Timestamp::from(Time::from_millis(0)).to_json_string(), r#""1970-01-01T00:00:00Z""#);
    }
}
