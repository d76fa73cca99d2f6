//! A rate on the command line, such as `50/s`.

use std::str::FromStr;

/// No deployment that this program was estimated for has more.
const PER_SECOND_MAX: f64 = 10_000_000.0;
const SECONDS_PER_DAY: f64 = 86_400.0;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rate {
    per_second: f64,
}

impl Rate {
    pub(crate) fn per_second(self) -> f64 {
        self.per_second
    }
}

/// A rate in the unit in which it is at least 1.
pub(super) fn shown(per_second: f64) -> String {
    let units = [(1.0, "s"), (60.0, "min"), (3600.0, "h"), (SECONDS_PER_DAY, "day")];
    let (seconds, unit) = match units.into_iter().find(|(seconds, _)| per_second * seconds >= 1.0) {
        Some(unit) => unit,
        None if per_second == 0.0 => (1.0, "s"),
        None => (SECONDS_PER_DAY, "day"),
    };
    let number = format!("{:.3}", per_second * seconds);
    let number = number.trim_end_matches('0').trim_end_matches('.');
    if number == "0" && per_second > 0.0 { format!("0.001/{unit}") } else { format!("{number}/{unit}") }
}

impl FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (number, unit) = text.split_once('/').unwrap_or((text, "s"));
        let seconds = match unit {
            "s" | "sec" | "second" => 1.0,
            "min" | "minute" => 60.0,
            "h" | "hour" => 3600.0,
            "d" | "day" => SECONDS_PER_DAY,
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
        for (text, per_second) in [
            ("50/s", 50.0),
            ("50", 50.0),
            ("600/min", 10.0),
            ("0/hour", 0.0),
            ("86400/day", 1.0),
            ("0.5/sec", 0.5),
        ] {
            assert_eq!(text.parse(), Ok(Rate { per_second }), "{text}");
        }
        for (text, fault) in [
            ("", "is not a number"),
            ("many/s", "is not a number"),
            ("5/week", "is not a unit of time"),
            ("-1/s", "is not between"),
            ("NaN/s", "is not between"),
            ("inf", "is not between"),
            ("50/s/s", "is not a unit of time"),
            ("1,000/s", "is not a number"),
            ("50s", "is not a number"),
            ("99999999/s", "is not between"),
        ] {
            assert!(text.parse::<Rate>().unwrap_err().contains(fault), "{text}");
        }
    }

    #[test]
    fn rates_are_shown_in_a_unit_that_reads_well() {
        for (per_second, text) in [
            (50.0, "50/s"),
            (1_000_000.0, "1000000/s"),
            (0.0, "0/s"),
            (0.5 / 60.0, "30/h"),
            (20_000.0 / 86_400.0, "13.889/min"),
            (1.5 / 3600.0, "1.5/h"),
            (1e-9, "0.001/day"),
        ] {
            assert_eq!(shown(per_second), text);
        }
    }
}
