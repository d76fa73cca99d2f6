//! Gauges that are read for each scrape, such as queue lengths and connection counts. A value that could not
//! be read is dropped, never reported stale.

use std::time::Duration;

use domain::{Queue, Time};

use crate::meters::declared;

/// The state of a queue.
#[derive(Clone, Copy, Debug)]
pub struct QueueLevel {
    pub queue: Queue,
    pub waiting: u64,
    pub running: u64,
    pub failed: u64,
    pub dead: u64,
    pub cancelled: u64,
    pub oldest_waiting: Duration,
    pub is_paused: bool,
    /// Running processes that take its jobs.
    pub workers: u64,
}

/// The state of the review queue.
#[derive(Clone, Copy, Debug)]
pub struct ModerationLevel {
    pub waiting: u64,
    pub oldest_waiting: Duration,
    pub open_reports: u64,
}

/// The state of a connection pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolLevel {
    pub pool: &'static str,
    pub open: u32,
    pub idle: u32,
    pub max: u32,
}

impl PoolLevel {
    /// sqlx counts a returned connection as idle a moment after it can be taken. If it is taken before, the
    /// count is below zero for that moment, which reads as a huge number.
    pub fn new(pool: &'static str, open: u32, idle: usize, max: u32) -> Self {
        let idle = u32::try_from(idle).ok().filter(|idle| *idle <= max).unwrap_or(0);
        Self { pool, open, idle, max }
    }
}

pub fn set_queue(level: &QueueLevel) {
    let Some(metrics) = declared() else { return };
    let queue = level.queue.name();
    let jobs = [
        ("waiting", level.waiting),
        ("running", level.running),
        ("failed", level.failed),
        ("dead", level.dead),
        ("cancelled", level.cancelled),
    ];
    for (state, count) in jobs {
        metrics.queue_jobs.with_label_values(&[queue, state]).set(whole(count));
    }
    metrics.queue_oldest_waiting.with_label_values(&[queue]).set(level.oldest_waiting.as_secs_f64());
    metrics.queue_paused.with_label_values(&[queue]).set(i64::from(level.is_paused));
    metrics.queue_workers.with_label_values(&[queue]).set(whole(level.workers));
}

/// The number of running processes of a role.
pub fn set_processes(role: &'static str, alive: u64) {
    if let Some(metrics) = declared() {
        metrics.processes.with_label_values(&[role]).set(whole(alive));
    }
}

/// When a schedule's work was last done, if ever.
pub fn set_schedule(schedule: &'static str, last_done: Option<Time>) {
    if let Some(metrics) = declared() {
        let seconds = last_done.map_or(0, |done| done.millis() / 1000);
        metrics.schedule_last_done.with_label_values(&[schedule]).set(seconds);
    }
}

/// Drops the values of schedules, which could not be read.
pub fn forget_schedules() {
    if let Some(metrics) = declared() {
        metrics.schedule_last_done.reset();
    }
}

pub fn set_moderation(level: &ModerationLevel) {
    let Some(metrics) = declared() else { return };
    metrics.moderation_waiting.with_label_values::<&str>(&[]).set(whole(level.waiting));
    let oldest = metrics.moderation_oldest_waiting.with_label_values::<&str>(&[]);
    oldest.set(level.oldest_waiting.as_secs_f64());
    metrics.reports_open.with_label_values::<&str>(&[]).set(whole(level.open_reports));
}

/// Drops the values of the review queue, which could not be read.
pub fn forget_moderation() {
    let Some(metrics) = declared() else { return };
    metrics.moderation_waiting.reset();
    metrics.moderation_oldest_waiting.reset();
    metrics.reports_open.reset();
}

/// Whether a dependency of this process responds.
pub(crate) fn set_part(part: &'static str, is_ready: bool) {
    if let Some(metrics) = declared() {
        metrics.part_ready.with_label_values(&[part]).set(i64::from(is_ready));
    }
}

/// Drops the values of queues and processes, which could not be read.
pub fn forget_queues() {
    let Some(metrics) = declared() else { return };
    metrics.queue_jobs.reset();
    metrics.queue_oldest_waiting.reset();
    metrics.queue_paused.reset();
    metrics.queue_workers.reset();
    metrics.processes.reset();
}

pub fn set_pool(level: &PoolLevel) {
    let Some(metrics) = declared() else { return };
    let in_use = level.open.saturating_sub(level.idle);
    for (state, count) in [("in_use", in_use), ("idle", level.idle)] {
        metrics.database_connections.with_label_values(&[level.pool, state]).set(i64::from(count));
    }
    metrics.database_connections_max.with_label_values(&[level.pool]).set(i64::from(level.max));
}

pub fn set_dev_mode(is_dev_mode: bool) {
    if let Some(metrics) = declared() {
        metrics.dev_mode.set(i64::from(is_dev_mode));
    }
}

pub fn set_redis_connected(is_connected: bool) {
    if let Some(metrics) = declared() {
        metrics.redis_connected.with_label_values::<&str>(&[]).set(i64::from(is_connected));
    }
}

/// How far this machine's clock is ahead of the database's.
pub fn set_clock_skew(ahead_ms: i64) {
    if let Some(metrics) = declared() {
        metrics.clock_skew.with_label_values::<&str>(&[]).set(ahead_ms as f64 / 1000.0);
    }
}

fn whole(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_of_idle_connections_below_zero_is_none() {
        let idle = |count| PoolLevel::new("queue", 1, count, 1).idle;
        assert_eq!([idle(0), idle(1), idle(usize::MAX), idle(u32::MAX as usize)], [0, 1, 0, 0]);
    }
}
