//! Scheduled jobs. Every process with workers runs this. Each fire time fires once in the whole deployment,
//! because the job's id is made of the schedule and the fire time. After a downtime only the last missed fire
//! time fires, which is enough, since every job here does all that is due.

use std::time::Duration;

use anyhow::Context;
use croner::Cron;
use domain::{Job, Time};
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use service::{Planned, Service};
use tokio_util::sync::CancellationToken;

/// How often the clock is compared with the schedules.
const TICK: Duration = Duration::from_secs(1);

pub(crate) struct Schedule {
    name: &'static str,
    /// Minute, hour, day of month, month, day of week; UTC. With six fields, the first is the second.
    cron: &'static str,
    job: Job,
}

impl Schedule {
    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// The kind of its jobs.
    pub(crate) fn kind(&self) -> &'static str {
        self.job.kind()
    }
}

/// The schedules, each with the reason for its interval.
pub(crate) const SCHEDULES: [Schedule; 5] = [
    // A lost scan leaves a page `pending`. A version may wait a minute for its own scan, and a sweep every
    // minute would make it two. The same sweep queues rescans with newer rules.
    Schedule { name: "sweep-scans", cron: "*/15 * * * * *", job: Job::SweepScans },
    // Expired accounts respond with 410 for a day, whatever this does; deleting their rows is not urgent.
    // Neither is the deletion of versions that no rule of retention keeps.
    Schedule { name: "cleanup", cron: "7 * * * *", job: Job::Cleanup },
    // The month's pass is due on the 1st at 00:05. An hourly run makes up for a lost one, and the job knows
    // when the pass was done.
    Schedule { name: "metering", cron: "5 * * * *", job: Job::Meter },
    // Frees disk space, and retries failed deletions: a content is closed to publishes until it is deleted.
    Schedule { name: "sweep-blobs", cron: "23 * * * *", job: Job::SweepBlobs },
    // Keeps the tables of outcomes and finished jobs small.
    Schedule { name: "sweep-records", cron: "41 * * * *", job: Job::SweepRecords },
];

/// Fires due schedules until cancelled.
pub async fn run_schedule(service: Service, cancel: CancellationToken) {
    let mut tick = tokio::time::interval(TICK);
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = cancel.cancelled() => return,
            _ = tick.tick() => {}
        }
        for schedule in &SCHEDULES {
            if let Err(error) = fire_if_due(&service, schedule).await {
                tracing::warn!(
                    schedule.name = schedule.name,
                    error = format!("{error:#}"),
                    "a schedule could not be fired"
                );
            }
        }
    }
}

async fn fire_if_due(service: &Service, schedule: &Schedule) -> anyhow::Result<()> {
    let now = service.clock().now();
    let fire_time = latest_fire_time(schedule.cron, now)?;
    if service.last_fire_time(schedule.name).await?.is_some_and(|last| last >= fire_time) {
        return Ok(());
    }
    tracing::debug!(schedule.name = schedule.name, schedule.slot = %fire_time, "schedule fires");
    service.fire(schedule.name, fire_time, schedule.job.clone()).await
}

/// A schedule with its next fire time, for the board.
pub(crate) fn planned(schedule: &Schedule, now: Time) -> anyhow::Result<Planned> {
    let Schedule { name, cron, job } = schedule;
    Ok(Planned { name, cron, job: job.clone(), next: next_fire_time(cron, now)? })
}

/// The last fire time at or before a moment.
fn latest_fire_time(cron: &str, now: Time) -> anyhow::Result<Time> {
    let fire_time =
        parsed(cron)?.find_previous_occurrence(&in_utc(now)?, true).context("a schedule without a past")?;
    Ok(Time::from_millis(fire_time.timestamp().as_millisecond()))
}

/// The first fire time after a moment.
fn next_fire_time(cron: &str, now: Time) -> anyhow::Result<Time> {
    let fire_time =
        parsed(cron)?.find_next_occurrence(&in_utc(now)?, false).context("a schedule without a future")?;
    Ok(Time::from_millis(fire_time.timestamp().as_millisecond()))
}

fn parsed(cron: &str) -> anyhow::Result<Cron> {
    cron.parse().with_context(|| format!("the cron expression {cron:?}"))
}

fn in_utc(now: Time) -> anyhow::Result<Zoned> {
    let moment = Timestamp::from_millisecond(now.millis()).context("the clock is out of range")?;
    Ok(moment.to_zoned(TimeZone::UTC))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latest_fire_time_is_the_last_one_at_or_before_now() {
        let at = |text: &str| Time::parse_rfc3339(text).unwrap();
        let noon = at("2026-03-05T12:07:00Z");
        assert_eq!(latest_fire_time("7 * * * *", noon).unwrap(), noon);
        assert_eq!(
            latest_fire_time("7 * * * *", at("2026-03-05T12:06:59.9Z")).unwrap(),
            at("2026-03-05T11:07:00Z")
        );
        let quarter = latest_fire_time("*/15 * * * * *", at("2026-03-05T12:06:59.9Z")).unwrap();
        assert_eq!(quarter, at("2026-03-05T12:06:45Z"));
        assert_eq!(latest_fire_time("5 0 1 * *", noon).unwrap(), at("2026-03-01T00:05:00Z"));
    }

    #[test]
    fn next_fire_time_is_strictly_after_now() {
        let at = |text: &str| Time::parse_rfc3339(text).unwrap();
        let noon = at("2026-03-05T12:07:00Z");
        assert_eq!(next_fire_time("7 * * * *", noon).unwrap(), at("2026-03-05T13:07:00Z"));
        assert_eq!(next_fire_time("7 * * * *", at("2026-03-05T12:06:59.9Z")).unwrap(), noon);
        assert_eq!(next_fire_time("*/15 * * * * *", noon).unwrap(), at("2026-03-05T12:07:15Z"));
    }

    #[test]
    fn every_schedule_has_a_fire_time_and_a_unique_name() {
        let names: std::collections::HashSet<_> = SCHEDULES.iter().map(|schedule| schedule.name).collect();
        assert_eq!(names.len(), SCHEDULES.len());
        for schedule in &SCHEDULES {
            assert!(
                latest_fire_time(schedule.cron, Time::from_millis(1_790_000_000_000)).is_ok(),
                "{}",
                schedule.name
            );
        }
    }
}
