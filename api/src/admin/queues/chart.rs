//! Small charts of the last hour of a queue, drawn by the server, each with the same facts as text.

use std::time::Duration;

use service::QueueMinute;

use super::span::Second;
use crate::html::figures::Count;

/// The height of a chart in its own units. Its width is one unit per minute.
const HEIGHT: u64 = 24;

/// A chart with a bar for each minute, and perhaps a second one in front.
pub struct Chart {
    pub name: &'static str,
    /// The facts of the chart as text.
    pub text: String,
    /// The class and the value of each colour, if there are two.
    pub key: Vec<(&'static str, String)>,
    pub minutes: usize,
    pub bars: Vec<Bar>,
}

pub struct Bar {
    /// The position from the left, in minutes.
    pub x: usize,
    pub top: u64,
    pub height: u64,
    /// Whether the bar is the one in front.
    pub is_front: bool,
}

/// A minute as a row of the table.
pub struct MinuteRow {
    pub at: Second,
    pub depth: Option<Count>,
    pub done: Count,
    pub failed: Count,
    pub took: Option<(Millis, Millis)>,
}

/// A duration of an attempt: `40 ms`, `2.5 s`.
#[derive(Clone, Copy, Debug)]
pub struct Millis(pub u64);

impl std::fmt::Display for Millis {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            ms @ 0..1_000 => write!(f, "{ms} ms"),
            ms @ 1_000..10_000 => write!(f, "{}.{} s", ms / 1_000, ms % 1_000 / 100),
            ms => write!(f, "{} s", Duration::from_millis(ms).as_secs()),
        }
    }
}

/// The charts of a queue: depth, throughput with failures, and time per attempt.
pub fn charts_of(minutes: &[QueueMinute], open_now: u64) -> Vec<Chart> {
    if minutes.is_empty() {
        return Vec::new();
    }
    vec![depth(minutes, open_now), throughput(minutes), failures(minutes), latency(minutes)]
}

/// A minute's depth is counted at its start. The last bar is the depth now.
fn depth(minutes: &[QueueMinute], open_now: u64) -> Chart {
    let mut values: Vec<u64> = minutes.iter().map(|minute| minute.depth.unwrap_or(0)).collect();
    if let Some(last) = values.last_mut() {
        *last = open_now;
    }
    let text = format!("{} now, up to {}", Count(open_now), Count(largest(&values)));
    chart("Open jobs", text, &values, None)
}

fn throughput(minutes: &[QueueMinute]) -> Chart {
    let values: Vec<u64> = minutes.iter().map(|minute| minute.done).collect();
    let text = format!("{}, up to {} a minute", Count(values.iter().sum()), Count(largest(&values)));
    chart("Completed", text, &values, None)
}

fn failures(minutes: &[QueueMinute]) -> Chart {
    let values: Vec<u64> = minutes.iter().map(|minute| minute.failed).collect();
    let text = match values.iter().sum() {
        0 => "none".to_owned(),
        all => format!("{}, up to {} a minute", Count(all), Count(largest(&values))),
    };
    chart("Failed attempts", text, &values, None)
}

fn latency(minutes: &[QueueMinute]) -> Chart {
    let (p50, p95): (Vec<_>, Vec<_>) = minutes
        .iter()
        .map(|minute| (minute.took_p50_ms.unwrap_or(0), minute.took_p95_ms.unwrap_or(0)))
        .unzip();
    let latest = minutes.iter().rev().find_map(|minute| minute.took_p50_ms.zip(minute.took_p95_ms));
    let text = match latest {
        Some((p50, p95)) => {
            format!("p50 {}, p95 {} in the last minute with attempts", Millis(p50), Millis(p95))
        }
        None => "no attempts".to_owned(),
    };
    let key = latest.map(|(p50, p95)| {
        [("front", format!("p50 {}", Millis(p50))), ("back", format!("p95 {}", Millis(p95)))]
    });
    Chart { key: key.into_iter().flatten().collect(), ..chart("Time per attempt", text, &p95, Some(&p50)) }
}

fn chart(name: &'static str, text: String, values: &[u64], front: Option<&[u64]>) -> Chart {
    let scale = largest(values).max(front.map_or(0, largest));
    let bars_of = |values: &[u64], is_front: bool| -> Vec<Bar> {
        values
            .iter()
            .enumerate()
            .filter(|(_, value)| **value > 0)
            .map(|(x, value)| bar(x, *value, scale, is_front))
            .collect()
    };
    let mut bars = bars_of(values, false);
    bars.extend(front.map(|values| bars_of(values, true)).unwrap_or_default());
    Chart { name, text, key: Vec::new(), minutes: values.len(), bars }
}

/// A value that is not zero is always visible.
fn bar(x: usize, value: u64, scale: u64, is_front: bool) -> Bar {
    let height = (u128::from(value) * u128::from(HEIGHT) / u128::from(scale.max(1))) as u64;
    let height = height.clamp(1, HEIGHT);
    Bar { x, top: HEIGHT - height, height, is_front }
}

fn largest(values: &[u64]) -> u64 {
    values.iter().copied().max().unwrap_or(0)
}

/// The minutes in which something happened, newest first.
pub fn rows_of(minutes: &[QueueMinute]) -> Vec<MinuteRow> {
    let is_eventful = |minute: &&QueueMinute| minute.depth.unwrap_or(0) + minute.done + minute.failed > 0;
    minutes.iter().rev().filter(is_eventful).map(MinuteRow::from).collect()
}

impl From<&QueueMinute> for MinuteRow {
    fn from(minute: &QueueMinute) -> Self {
        Self {
            at: Second(minute.at),
            depth: minute.depth.map(Count),
            done: Count(minute.done),
            failed: Count(minute.failed),
            took: minute.took_p50_ms.zip(minute.took_p95_ms).map(|(p50, p95)| (Millis(p50), Millis(p95))),
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::Time;

    use super::*;

    fn minute(number: i64, done: u64) -> QueueMinute {
        QueueMinute {
            at: Time::from_millis(number * 60_000),
            depth: (number > 0).then_some(3),
            done,
            failed: 0,
            took_p50_ms: (done > 0).then_some(40),
            took_p95_ms: (done > 0).then_some(2_500),
        }
    }

    #[test]
    fn charts_draw_a_bar_for_each_eventful_minute_and_say_the_same_in_words() {
        let minutes = [minute(0, 0), minute(1, 1_000), minute(2, 1)];
        let charts = charts_of(&minutes, 2);
        let texts: Vec<_> = charts.iter().map(|chart| (chart.name, chart.text.as_str())).collect();
        let expected = [
            ("Open jobs", "2 now, up to 3"),
            ("Completed", "1,001, up to 1,000 a minute"),
            ("Failed attempts", "none"),
            ("Time per attempt", "p50 40 ms, p95 2.5 s in the last minute with attempts"),
        ];
        assert_eq!(texts, expected);
        let done: Vec<_> = charts[1].bars.iter().map(|bar| (bar.x, bar.top, bar.height)).collect();
        assert_eq!(done, [(1, 0, 24), (2, 23, 1)], "the smallest value is visible");
        let key = [("front", "p50 40 ms".to_owned()), ("back", "p95 2.5 s".to_owned())];
        assert_eq!(charts[3].key, key);
        assert_eq!(charts[3].bars.iter().filter(|bar| bar.is_front).count(), 2);
        assert_eq!(rows_of(&minutes).len(), 2);
        assert!(charts_of(&[], 0).is_empty());
    }

    #[test]
    fn largest_numbers_do_not_overflow_the_chart() {
        let minutes = [minute(0, u64::MAX)];
        assert_eq!(charts_of(&minutes, 0)[1].bars[0].height, HEIGHT);
    }
}
