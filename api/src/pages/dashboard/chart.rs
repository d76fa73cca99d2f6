//! A chart with one bar for each day, as SVG in the page. It has a scale, gridlines and the number of each
//! day on hover. A table with the same numbers stands behind it.

use domain::Day;

use crate::html::figures::{Count, DayOfMonth};

/// The chart is one unit wide for each day, and 100 units high.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chart {
    pub name: &'static str,
    /// The number of days.
    pub width: usize,
    pub bars: Vec<Bar>,
    /// The numbers at the gridlines, from the top to the bottom.
    pub scale: [String; 3],
    /// The first and the last day.
    pub ends: [String; 2],
    /// The chart's data as text.
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bar {
    pub left: usize,
    pub top: u64,
    pub height: u64,
    /// Such as `21 Nov: 1,234`.
    pub label: String,
}

/// The count of a day.
#[derive(Clone, Copy, Debug)]
pub struct OnDay {
    pub day: Day,
    pub count: u64,
}

const HEIGHT: u64 = 100;
/// Keeps a day with few events visible beside one with many.
const BAR_HEIGHT_MIN: u64 = 2;

impl Chart {
    /// A chart of consecutive days. Days after `today` have no bar.
    pub fn new(name: &'static str, days: &[OnDay], today: Day) -> Self {
        let most = days.iter().max_by_key(|one| one.count).filter(|one| one.count > 0);
        let total: u64 = days.iter().map(|one| one.count).sum();
        let text = match most {
            Some(one) => {
                format!("{} in total, most on {}: {}", Count(total), DayOfMonth(one.day), Count(one.count))
            }
            None => "none yet".to_owned(),
        };
        let top = scale_end(most.map_or(0, |one| one.count));
        let bars = days.iter().enumerate().filter(|(_, one)| one.day <= today);
        let ends = [days.first(), days.last()];
        Self {
            name,
            width: days.len(),
            bars: bars.map(|(left, one)| Bar::new(left, *one, top)).collect(),
            scale: [top, top / 2, 0].map(|number| Count(number).to_string()),
            ends: ends.map(|end| end.map(|one| DayOfMonth(one.day).to_string()).unwrap_or_default()),
            text,
        }
    }
}

impl Bar {
    fn new(left: usize, on: OnDay, scale_end: u64) -> Self {
        let part = u128::from(on.count) * u128::from(HEIGHT) / u128::from(scale_end.max(1));
        let height = match on.count {
            0 => 0,
            _ => u64::try_from(part).unwrap_or(HEIGHT).max(BAR_HEIGHT_MIN),
        };
        let label = format!("{}: {}", DayOfMonth(on.day), Count(on.count));
        Self { left, top: HEIGHT - height, height, label }
    }
}

/// The end of a scale that fits the highest count: 2, 4, 6, 8 or 10 times a power of ten, so that its half is
/// a whole number.
fn scale_end(most: u64) -> u64 {
    let mut unit: u64 = 1;
    while unit.saturating_mul(10) < most {
        unit = unit.saturating_mul(10);
    }
    most.max(1).div_ceil(unit).next_multiple_of(2).saturating_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn days(counts: &[u64]) -> Vec<OnDay> {
        let on = |(at, count): (usize, &u64)| OnDay { day: Day::from_number(at as i64), count: *count };
        counts.iter().enumerate().map(on).collect()
    }

    #[test]
    fn the_highest_bar_fits_the_scale_and_the_lowest_can_be_seen() {
        let chart = Chart::new("Views", &days(&[0, 1, 1_000, 500]), Day::from_number(3));
        let heights: Vec<_> = chart.bars.iter().map(|bar| (bar.left, bar.top, bar.height)).collect();
        assert_eq!(heights, [(0, 100, 0), (1, 98, 2), (2, 0, 100), (3, 50, 50)]);
        assert_eq!(chart.bars[2].label, "3 Jan: 1,000");
        assert_eq!((chart.width, chart.text.as_str()), (4, "1,501 in total, most on 3 Jan: 1,000"));
        assert_eq!(
            (chart.scale.join(" "), chart.ends.join(" ")),
            ("1,000 500 0".into(), "1 Jan 4 Jan".into())
        );
    }

    #[test]
    fn days_to_come_have_no_bar() {
        let chart = Chart::new("Publishes", &days(&[0, 0, 0]), Day::from_number(1));
        assert_eq!((chart.bars.len(), chart.text.as_str(), chart.scale[0].as_str()), (2, "none yet", "2"));
    }

    #[test]
    fn scale_ends_at_an_even_number_above_the_highest_count() {
        let ends = [0, 1, 2, 3, 9, 10, 11, 41, 1_000, 1_501].map(scale_end);
        assert_eq!(ends, [2, 2, 2, 4, 10, 10, 20, 60, 1_000, 2_000]);
        assert_eq!(scale_end(u64::MAX), u64::MAX);
    }
}
