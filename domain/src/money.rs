//! Money as integers. A float may represent an amount on the wire, where it is exact; calculations must never
//! use one.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, Neg, Sub};

use serde::{Deserialize, Serialize};

const MICRO_PER_USD: i64 = 1_000_000;
const MICRO_PER_CENT: i64 = 10_000;

/// An amount of money in integer micro-dollars (1 USD = 1,000,000). No other type holds money.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Micro(i64);

impl Micro {
    pub const ZERO: Micro = Micro(0);

    pub const fn new(micro: i64) -> Self {
        Self(micro)
    }

    pub const fn get(self) -> i64 {
        self.0
    }

    pub const fn is_negative(self) -> bool {
        self.0 < 0
    }

    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// From cents, as cards are charged.
    pub const fn from_cents(cents: u32) -> Self {
        Self(cents as i64 * MICRO_PER_CENT)
    }

    /// The amount in cents; `None` when it is negative, not in whole cents, or out of range.
    pub fn cents(self) -> Option<u32> {
        let is_whole = self.0 % MICRO_PER_CENT == 0;
        u32::try_from(self.0 / MICRO_PER_CENT).ok().filter(|_| is_whole && !self.is_negative())
    }

    /// The amount as a JSON number. The division of an integer by a million is rounded once, so the shortest
    /// text of the result is the exact decimal: `0.005`, never `0.005000000000000001`.
    pub fn usd(self) -> f64 {
        self.0 as f64 / MICRO_PER_USD as f64
    }

    /// Parses a JSON number of dollars; `None` when it has more than six decimals or is out of range.
    pub fn from_usd(usd: f64) -> Option<Self> {
        if !usd.is_finite() {
            return None;
        }
        Self::parse_usd(&format!("{usd}"))
    }

    /// Parses dollars in plain decimal notation, exactly: an optional sign, digits, at most six significant
    /// decimals, and then only zeros.
    pub fn parse_usd(text: &str) -> Option<Self> {
        let (negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
        let all_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        if !all_digits(whole) || !all_digits(fraction) {
            return None;
        }
        let fraction = fraction.trim_end_matches('0');
        if fraction.len() > 6 {
            return None;
        }
        let scale = 10_i64.pow(u32::try_from(6 - fraction.len()).ok()?);
        let micro = whole.parse::<i64>().ok()?.checked_mul(MICRO_PER_USD)?;
        let fraction = if fraction.is_empty() { 0 } else { fraction.parse::<i64>().ok()? };
        let micro = micro.checked_add(fraction * scale)?;
        Some(Self(if negative { -micro } else { micro }))
    }
}

impl fmt::Display for Micro {
    /// Dollars without trailing zeros, as in `X-PAYMENT`. It is exact where a float is not.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sign, micro) = (if self.is_negative() { "-" } else { "" }, self.0.unsigned_abs());
        let scale = MICRO_PER_USD.unsigned_abs();
        match micro % scale {
            0 => write!(f, "{sign}{}", micro / scale),
            fraction => {
                let decimals = format!("{fraction:06}");
                write!(f, "{sign}{}.{}", micro / scale, decimals.trim_end_matches('0'))
            }
        }
    }
}

impl Add for Micro {
    type Output = Micro;

    fn add(self, other: Micro) -> Micro {
        Micro(self.0.saturating_add(other.0))
    }
}

impl Sub for Micro {
    type Output = Micro;

    fn sub(self, other: Micro) -> Micro {
        Micro(self.0.saturating_sub(other.0))
    }
}

impl Neg for Micro {
    type Output = Micro;

    fn neg(self) -> Micro {
        Micro(self.0.saturating_neg())
    }
}

impl Sum for Micro {
    fn sum<I: Iterator<Item = Micro>>(amounts: I) -> Micro {
        amounts.fold(Micro::ZERO, Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dollar_amounts_are_serialized_exactly() {
        for micro in [0, 1, 5_000, 123_456, 500_000, 999_999, 1_000_001, 99_999_999_999, -5_000] {
            let amount = Micro::new(micro);
            assert_eq!(Micro::from_usd(amount.usd()), Some(amount));
            assert_eq!(Micro::parse_usd(&amount.to_string()), Some(amount));
        }
        assert_eq!(Micro::new(5_000).to_string(), "0.005");
        assert_eq!(serde_json::to_string(&Micro::new(15_000).usd()).unwrap(), "0.015");
    }

    #[test]
    fn amounts_beyond_float_precision_are_written_exactly() {
        for micro in [9_007_199_254_740_993, i64::MAX, -i64::MAX, -1, -1_000_000, 10] {
            let amount = Micro::new(micro);
            assert_eq!(Micro::parse_usd(&amount.to_string()), Some(amount), "{amount}");
        }
        assert_eq!(Micro::new(i64::MAX).to_string(), "9223372036854.775807");
        assert_eq!(Micro::new(-i64::MAX).to_string(), "-9223372036854.775807");
    }

    #[test]
    fn equal_amounts_are_parsed_from_different_notations() {
        for same in ["0.005", "0.0050000", "0.0050", "00.005"] {
            assert_eq!(Micro::parse_usd(same), Some(Micro::new(5_000)), "{same}");
        }
        assert_eq!(Micro::parse_usd("5.000000000000"), Some(Micro::new(5_000_000)));
        assert_eq!(Micro::parse_usd("0.00"), Some(Micro::ZERO));
    }

    #[test]
    fn cents_are_returned_only_for_whole_cents() {
        assert_eq!(Micro::from_cents(1_999), Micro::new(19_990_000));
        assert_eq!(Micro::new(19_990_000).cents(), Some(1_999));
        for bad in [19_990_001, 5_000, -10_000, -1, i64::MAX] {
            assert_eq!(Micro::new(bad).cents(), None, "{bad}");
        }
    }

    #[test]
    fn non_decimal_dollar_amounts_are_refused() {
        for bad in [
            "",
            ".",
            "1.",
            ".5",
            "1e3",
            "0.0000001",
            "0.00000010",
            "1,5",
            "--1",
            "+1",
            " 1",
            "99999999999999999999",
        ] {
            assert_eq!(Micro::parse_usd(bad), None, "{bad}");
        }
        assert_eq!(Micro::from_usd(f64::NAN), None);
        assert_eq!(Micro::from_usd(0.000_000_1), None);
    }
}
