//! A measured figure and its goal.

use std::fmt;
use std::time::Duration;

use crate::latencies::Ms;

/// A measured value with its unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Figure {
    Time(Duration),
    PerSecond(f64),
    Count(usize),
    Megabytes(f64),
    /// The measurement was cancelled.
    NotEnded,
}

/// The goal for a figure or for its ratio to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Goal {
    /// In the figure's own unit, as displayed.
    AtMost(f64),
    AtLeast(f64),
    RatioAtMost(f64),
    RatioAtLeast(f64),
}

impl Figure {
    /// In the displayed unit.
    fn number(self) -> f64 {
        match self {
            Self::Time(time) => time.as_secs_f64() * 1e3,
            Self::PerSecond(number) | Self::Megabytes(number) => number,
            Self::Count(count) => count as f64,
            Self::NotEnded => f64::INFINITY,
        }
    }

    /// The median. `figures` must not be empty.
    pub fn median(mut figures: Vec<Figure>) -> Self {
        figures.sort_by(|one, other| one.number().total_cmp(&other.number()));
        figures[figures.len() / 2]
    }

    fn unit(self) -> &'static str {
        match self {
            Self::Time(_) | Self::NotEnded => " ms",
            Self::PerSecond(_) => " /s",
            Self::Count(_) => "",
            Self::Megabytes(_) => " MB",
        }
    }

    pub fn ratio_to(self, other: Figure) -> f64 {
        self.number() / other.number()
    }
}

impl From<Ms> for Figure {
    fn from(Ms(time): Ms) -> Self {
        Self::Time(time)
    }
}

impl From<Duration> for Figure {
    fn from(time: Duration) -> Self {
        Self::Time(time)
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, unit) = (self.number(), self.unit());
        match self {
            Self::NotEnded => f.write_str("not ended"),
            Self::Count(count) => write!(f, "{count}"),
            Self::PerSecond(_) if number >= 100.0 => write!(f, "{number:.0}{unit}"),
            Self::PerSecond(_) | Self::Megabytes(_) => write!(f, "{number:.1}{unit}"),
            Self::Time(_) => write!(f, "{number:.2}{unit}"),
        }
    }
}

impl Goal {
    /// `None` if the goal is about a ratio that could not be measured.
    pub fn is_met(self, figure: Figure, ratio: Option<f64>) -> Option<bool> {
        match self {
            Self::AtMost(bound) => Some(figure.number() <= bound),
            Self::AtLeast(bound) => Some(figure.number() >= bound),
            Self::RatioAtMost(bound) => ratio.map(|ratio| ratio <= bound),
            Self::RatioAtLeast(bound) => ratio.map(|ratio| ratio >= bound),
        }
    }

    /// Formats the goal for the table, in the unit of a figure.
    pub fn beside(self, figure: Figure) -> String {
        let unit = figure.unit();
        match self {
            Self::AtMost(bound) => format!("≤ {bound}{unit}"),
            Self::AtLeast(bound) => format!("≥ {bound}{unit}"),
            Self::RatioAtMost(bound) => format!("≤ {bound} ×"),
            Self::RatioAtLeast(bound) => format!("≥ {bound} ×"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_shown_in_its_unit() {
        let shown = [
            (Figure::Time(Duration::from_micros(4_567)), "4.57 ms"),
            (Figure::PerSecond(512.4), "512 /s"),
            (Figure::PerSecond(5.46), "5.5 /s"),
            (Figure::Count(0), "0"),
            (Figure::Megabytes(30.04), "30.0 MB"),
            (Figure::NotEnded, "not ended"),
        ];
        for (figure, text) in shown {
            assert_eq!(figure.to_string(), text);
        }
    }

    #[test]
    fn a_goal_is_met_at_its_bound_and_missed_beyond_it() {
        let time = |ms| Figure::Time(Duration::from_millis(ms));
        assert_eq!(Goal::AtMost(300.0).is_met(time(300), None), Some(true));
        assert_eq!(Goal::AtMost(300.0).is_met(time(301), None), Some(false));
        assert_eq!(Goal::AtMost(300.0).is_met(Figure::NotEnded, None), Some(false));
        assert_eq!(Goal::AtLeast(500.0).is_met(Figure::PerSecond(499.9), None), Some(false));
        assert_eq!(Goal::RatioAtMost(0.2).is_met(time(9), Some(0.2)), Some(true));
        assert_eq!(Goal::RatioAtLeast(10.0).is_met(time(9), Some(9.9)), Some(false));
        assert_eq!(Goal::RatioAtLeast(10.0).is_met(time(9), None), None);
    }
}
