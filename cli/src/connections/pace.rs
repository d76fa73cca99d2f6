//! How slow the requests and reads of a connection may be.

use std::mem;
use std::time::Duration;

use config::ConnectionLimits;
use telemetry::{ConnectionMeter, Count};

use crate::connections::request_counter::CountedRequest;

/// The largest lead over the minimum rate. The kernels on both sides buffer data and pass it on in steps of
/// up to a few hundred KiB, so a steady client must not fall behind between steps.
const AHEAD_BYTES_MAX: u64 = 1024 * 1024;

/// The limits of a listener's connections, and their metrics.
#[derive(Clone)]
pub(crate) struct Pace {
    /// The deadline of the first request's head. A client that sends it byte by byte is never idle.
    pub(super) first_request_within: Duration,
    pub(super) idle_timeout: Duration,
    pub(super) check_every: Duration,
    /// How many bytes of responses a client must read between two checks. 0: no minimum.
    taken_bytes_min: u64,
    bytes_per_second_min: u32,
    pub(super) sent_bytes: Count,
    pub(super) meter: ConnectionMeter,
}

impl Pace {
    pub(crate) fn of(limits: &ConnectionLimits, meter: ConnectionMeter) -> Self {
        let check_every = limits.idle_timeout / 2;
        let taken_bytes_min = check_every.as_secs_f64() * f64::from(limits.answer_bytes_per_second_min);
        Self {
            first_request_within: limits.head_timeout,
            idle_timeout: limits.idle_timeout,
            check_every,
            taken_bytes_min: taken_bytes_min as u64,
            bytes_per_second_min: limits.answer_bytes_per_second_min,
            sent_bytes: Count::default(),
            meter,
        }
    }

    /// Counts the bytes that are sent.
    pub(crate) fn counting(self, sent_bytes: Count) -> Self {
        Self { sent_bytes, ..self }
    }

    /// How long one of several concurrent responses may take, given how much of it was handed out. It may
    /// stall while others are read, as when a browser pauses a video, and a fast start allows a longer stall.
    pub(super) fn may_last(&self, bytes: u64) -> Duration {
        (bytes * 1_000)
            .checked_div(self.bytes_per_second_min.into())
            .map_or(Duration::MAX, |at_least_pace_ms| {
                self.idle_timeout + Duration::from_millis(at_least_pace_ms)
            })
    }
}

/// How far a client is ahead of the minimum rate. All responses of a connection count together here. Each by
/// itself may take as long as `Pace::may_last` allows.
#[derive(Default)]
pub(super) struct Lead {
    bytes: u64,
    seen: CountedRequest,
}

impl Lead {
    /// Returns whether the client is still ahead at this check. A client that has just started has until the
    /// next check.
    pub(super) fn holds(&mut self, taken: CountedRequest, pace: &Pace) -> bool {
        let before = mem::replace(&mut self.seen, taken);
        if !taken.is_pending {
            return true;
        }
        let has_just_begun = !before.is_pending || taken.completions != before.completions;
        let (lead, due) = if has_just_begun { (0, 0) } else { (self.bytes, pace.taken_bytes_min) };
        let lead = (lead + taken.bytes.saturating_sub(before.bytes)).min(AHEAD_BYTES_MAX.max(due));
        let left = lead.checked_sub(due);
        self.bytes = left.unwrap_or(0);
        left.is_some()
    }
}
