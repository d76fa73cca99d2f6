//! How often a process sends heartbeats, and when it counts as lost.

use std::time::Duration;

/// How often a worker sends a heartbeat.
pub(crate) const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(2);
/// After this many missed heartbeats, another worker takes the jobs over.
const HEARTBEATS_MISSED_MAX: u32 = 3;
pub(crate) const LOST_AFTER_S: u64 = HEARTBEAT_INTERVAL.as_secs() * HEARTBEATS_MISSED_MAX as u64;
