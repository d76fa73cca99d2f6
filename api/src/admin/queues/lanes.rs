//! The attempts of a job as lanes: how long it waited, ran, and waited again. The table below has the same
//! facts as text.

use domain::Time;
use service::{JobEvent, JobEventKind, JobState};

use super::span::Span;

/// The width of a lane in its own units.
const WIDTH: u64 = 1_000;
/// Lanes that are drawn. A job that was retried often has more.
const LANES_MAX: usize = 24;
/// The end of an attempt whose worker stopped before the job was done.
const INTERRUPTED: &str = "interrupted";

/// One attempt, with the time before it.
pub struct Lane {
    /// Such as `Attempt 2: waited 4 s, ran 120 s, failed`.
    pub text: String,
    pub label: String,
    pub parts: Vec<Part>,
}

pub struct Part {
    pub x: u64,
    pub width: u64,
    /// The style: `waiting`, `backoff`, `running`, `interrupted`, `failed`, `died` or `done`.
    pub kind: &'static str,
}

struct AttemptSpan {
    number: u32,
    /// Since when the job waited for it.
    waits_since: Time,
    is_backoff: bool,
    began_at: Time,
    ended_at: Time,
    end: &'static str,
}

/// The lanes of the latest attempts, oldest first. A running attempt lasts until now.
pub fn lanes_of(timeline: &[JobEvent], state: JobState, now: Time) -> Vec<Lane> {
    let mut spans = attempts_in(timeline, now);
    if state != JobState::Running
        && let Some(began_at) = spans.last().map(|span| span.began_at)
    {
        end(&mut spans, began_at, INTERRUPTED);
    }
    let spans = spans.get(spans.len().saturating_sub(LANES_MAX)..).unwrap_or_default();
    let Some(from) = spans.first().map(|span| span.waits_since) else { return Vec::new() };
    let until = spans.iter().map(|span| span.ended_at).max().unwrap_or(from);
    let whole_ms = until.since(from).as_millis().max(1);
    let x = |at: Time| (at.since(from).as_millis() * u128::from(WIDTH) / whole_ms) as u64;
    spans.iter().map(|span| span.lane(x)).collect()
}

fn attempts_in(timeline: &[JobEvent], now: Time) -> Vec<AttemptSpan> {
    let mut spans: Vec<AttemptSpan> = Vec::new();
    let Some(first) = timeline.first() else { return spans };
    let (mut waits_since, mut is_backoff) = (first.at, false);
    for event in timeline {
        match &event.what {
            JobEventKind::Began { attempt, .. } => {
                // A worker that stops gives its job back, which is not an event.
                end(&mut spans, event.at, INTERRUPTED);
                spans.push(AttemptSpan {
                    number: *attempt,
                    waits_since,
                    is_backoff,
                    began_at: event.at,
                    ended_at: now.max(event.at),
                    end: "running",
                });
            }
            JobEventKind::Failed { .. } => end(&mut spans, event.at, "failed"),
            JobEventKind::Died { .. } => end(&mut spans, event.at, "died"),
            JobEventKind::Done { .. } => end(&mut spans, event.at, "done"),
            JobEventKind::Pushed | JobEventKind::Retried { .. } | JobEventKind::Cancelled { .. } => {}
        }
        if !matches!(event.what, JobEventKind::Began { .. }) {
            (waits_since, is_backoff) = (event.at, matches!(event.what, JobEventKind::Failed { .. }));
        }
    }
    spans
}

fn end(spans: &mut [AttemptSpan], at: Time, how: &'static str) {
    if let Some(span) = spans.last_mut().filter(|span| span.end == "running") {
        (span.ended_at, span.end) = (at, how);
    }
}

impl AttemptSpan {
    fn lane(&self, x: impl Fn(Time) -> u64) -> Lane {
        let (from, began, ended) = (x(self.waits_since), x(self.began_at), x(self.ended_at));
        let wait = if self.is_backoff { "backoff" } else { "waiting" };
        let ran = Part { x: began.min(WIDTH - 4), width: (ended - began).max(4), kind: self.end };
        let waited = Part { x: from, width: began - from, kind: wait };
        let (waited_for, ran_for) =
            (Span(self.began_at.since(self.waits_since)), Span(self.ended_at.since(self.began_at)));
        let outcome = if self.end == "running" { "is running".to_owned() } else { self.end.to_owned() };
        Lane {
            text: format!("Attempt {}: waited {waited_for}, ran {ran_for}, {outcome}", self.number),
            label: format!("{}", self.number),
            parts: [waited, ran].into_iter().filter(|part| part.width > 0).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(second: i64, what: JobEventKind) -> JobEvent {
        JobEvent { at: Time::from_millis(second * 1_000), what }
    }

    fn began(second: i64, attempt: u32) -> JobEvent {
        event(second, JobEventKind::Began { attempt, worker: "one".into() })
    }

    #[test]
    fn lanes_show_waiting_running_and_backoff_of_each_attempt() {
        let failed = JobEventKind::Failed { attempt: 1, error: "no".into(), retry_at: None };
        let timeline = [event(0, JobEventKind::Pushed), began(10, 1), event(20, failed), began(60, 2)];
        let lanes = lanes_of(&timeline, JobState::Running, Time::from_millis(100_000));
        let texts: Vec<_> = lanes.iter().map(|lane| lane.text.as_str()).collect();
        let expected =
            ["Attempt 1: waited 10 s, ran 10 s, failed", "Attempt 2: waited 40 s, ran 40 s, is running"];
        assert_eq!(texts, expected);
        let parts: Vec<_> =
            lanes.iter().flat_map(|lane| &lane.parts).map(|part| (part.x, part.width, part.kind)).collect();
        let expected =
            [(0, 100, "waiting"), (100, 100, "failed"), (200, 400, "backoff"), (600, 400, "running")];
        assert_eq!(parts, expected);
    }

    #[test]
    fn job_without_attempts_has_no_lanes_and_a_short_attempt_is_visible() {
        let lanes_of =
            |timeline: &[JobEvent]| super::lanes_of(timeline, JobState::Done, Time::from_millis(0));
        assert!(lanes_of(&[event(0, JobEventKind::Pushed)]).is_empty());
        let done = event(100, JobEventKind::Done { attempt: 1 });
        let lanes = lanes_of(&[event(0, JobEventKind::Pushed), began(100, 1), done]);
        assert_eq!(lanes[0].parts[1].width, 4);
        assert!(lanes[0].parts[1].x + 4 <= WIDTH);
    }

    #[test]
    fn attempt_of_a_stopped_worker_is_interrupted() {
        let done = event(40, JobEventKind::Done { attempt: 1 });
        let timeline = [event(0, JobEventKind::Pushed), began(10, 1), began(30, 1), done];
        let ends = |timeline: &[JobEvent], state| -> Vec<_> {
            let lanes = lanes_of(timeline, state, Time::from_millis(90_000));
            lanes.iter().filter_map(|lane| lane.parts.last()).map(|part| part.kind).collect()
        };
        assert_eq!(ends(&timeline, JobState::Done), [INTERRUPTED, "done"]);
        assert_eq!(ends(&timeline[..2], JobState::Waiting), [INTERRUPTED]);
        assert_eq!(ends(&timeline[..2], JobState::Running), ["running"]);
    }
}
