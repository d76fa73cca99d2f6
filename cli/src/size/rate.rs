//! A rate on the command line, such as `50/s`.

use std::str::FromStr;

/// No deployment that this program was estimated for has more.
const PER_SECOND_MAX: f64 = 10_000_000.0;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rate {
    per_second: f64,
}

impl Rate {
    pub(crate) fn per_second(self) -> f64 {
        self.per_second
    }
}

impl FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (number, unit) = text.split_once('/').unwrap_or((text, "s"));
        let seconds = match unit {
            "s" => 1.0,
            "min" => 60.0,
            "h" => 3600.0,
            "day" => 86_400.0,
            _ => return Err(format!("{unit:?} is not a unit of time; the units are s, min, h and day")),
        };
        let number: f64 = number
            .parse()
            .map_err(|_| format!("{number:?} is not a number; expected a rate such as 50/s or 600/min"))?;
        let per_second = number / seconds;
        if !(0.0..=PER_SECOND_MAX).contains(&per_second) {
            return Err(format!("{text} is not between 0/s and {PER_SECOND_MAX}/s"));
        }
        Ok(Self { per_second })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_have_a_unit_of_time() {
        for (text, per_second) in
            [("50/s", 50.0), ("50", 50.0), ("600/min", 10.0), ("0/h", 0.0), ("86400/day", 1.0)]
        {
            assert_eq!(text.parse(), Ok(Rate { per_second }), "{text}");
        }
        for (text, fault) in [
            ("", "is not a number"),
            ("many/s", "is not a number"),
            ("5/week", "is not a unit of time"),
            ("-1/s", "is not between"),
            ("NaN/s", "is not between"),
            ("inf", "is not between"),
        ] {
            assert!(text.parse::<Rate>().unwrap_err().contains(fault), "{text}");
        }
    }
}
