//! How slow a connection may be: in asking, and in taking what it asked for.

use std::mem;
use std::time::Duration;

use config::ConnectionLimits;
use telemetry::{ConnectionMeter, Count};

use crate::connections::request_counter::CountedRequest;

/// How far ahead of the least pace a visitor may be. The kernels of both sides hold much for them and hand it on in
/// steps, which are a few hundred KiB at most: who is steady must never be behind for want of a step.
const AHEAD_BYTES_MAX: u64 = 1024 * 1024;

/// How slow the connections of a door may be, and what is counted of them.
#[derive(Clone)]
pub(crate) struct Pace {
    /// The head of its first request must have come over a connection by then: who sends it byte by byte is never idle.
    pub(super) first_request_within: Duration,
    pub(super) idle_timeout: Duration,
    pub(super) look_every: Duration,
    /// What a visitor must take of answers from one look to the next. 0: that is not looked at.
    taken_bytes_min: u64,
    bytes_per_second_min: u32,
    pub(super) sent_bytes: Count,
    pub(super) meter: ConnectionMeter,
}

impl Pace {
    pub(crate) fn of(limits: &ConnectionLimits, meter: ConnectionMeter) -> Self {
        let look_every = limits.idle_timeout / 2;
        let taken_bytes_min = look_every.as_secs_f64() * f64::from(limits.answer_bytes_per_second_min);
        Self {
            first_request_within: limits.head_timeout,
            idle_timeout: limits.idle_timeout,
            look_every,
            taken_bytes_min: taken_bytes_min as u64,
            bytes_per_second_min: limits.answer_bytes_per_second_min,
            sent_bytes: Count::default(),
            meter,
        }
    }

    /// Counts the bytes that go out.
    pub(crate) fn counting(self, sent_bytes: Count) -> Self {
        Self { sent_bytes, ..self }
    }

    /// How long one of several answers may last of which so much was handed out. It may rest while others are taken, as in a
    /// browser that pauses a film, and what was taken fast may rest for longer.
    pub(super) fn may_last(&self, bytes: u64) -> Duration {
        (bytes * 1_000)
            .checked_div(self.bytes_per_second_min.into())
            .map_or(Duration::MAX, |at_least_pace_ms| {
                self.idle_timeout + Duration::from_millis(at_least_pace_ms)
            })
    }
}

/// How far a visitor is ahead of the least pace with what they have to take. All answers of a connection count together
/// here: each for itself may last as long as `Pace::may_last` says.
#[derive(Default)]
pub(super) struct Lead {
    bytes: u64,
    seen: CountedRequest,
}

impl Lead {
    /// Whether they still are, at the next look. Whoever has just begun has until the look after it.
    pub(super) fn holds(&mut self, taken: CountedRequest, pace: &Pace) -> bool {
        let before = mem::replace(&mut self.seen, taken);
        if !taken.is_awaited {
            return true;
        }
        let has_just_begun = !before.is_awaited || taken.times_all != before.times_all;
        let (ahead, due) = if has_just_begun { (0, 0) } else { (self.bytes, pace.taken_bytes_min) };
        let ahead = (ahead + taken.bytes.saturating_sub(before.bytes)).min(AHEAD_BYTES_MAX.max(due));
        let left = ahead.checked_sub(due);
        self.bytes = left.unwrap_or(0);
        left.is_some()
    }
}
