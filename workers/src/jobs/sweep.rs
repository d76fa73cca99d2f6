//! Sweeps: queue lost work again, and delete expired data. All are idempotent.

use std::collections::BTreeMap;
use std::sync::Once;
use std::time::Duration;

use domain::{Queue, Time};
use service::{JobCounts, Service};

use crate::Queues;

/// How long finished jobs are kept, and so how long a repeated push of an id is recognized.
const FINISHED_KEPT: Duration = Duration::from_secs(48 * 3600);
const FINISHED_AT_ONCE: u32 = 5_000;
/// Rescans that wait in their queue: one page at most.
const RESCANS_WAITING_MAX: u64 = 1_000;
/// While this many first scans wait, no rescans are queued.
const SCANS_WAITING_MAX: u64 = 100;
/// The store may be slow or away. The next sweep continues.
const ERASURE_TIME_MAX: Duration = Duration::from_secs(60);
/// A page of rescans takes minutes if a worker takes them.
const UNSERVED_AFTER: Duration = Duration::from_secs(3600);

pub(super) async fn scans(service: &Service, queues: &Queues) -> anyhow::Result<()> {
    let queued = service.sweep_scans().await?;
    if queued > 0 {
        tracing::warn!(scans.queued = queued, "scans of versions without a verdict were queued again");
    }
    if service.has_rescans().await? {
        let counts = queues.job_counts().await?;
        if let Some(rescans) = counts.get(&Queue::Rescan) {
            warn_if_unserved(rescans, service.clock().now());
        }
        let budget = rescan_budget(&counts);
        if budget > 0 {
            service.queue_rescans(budget).await?;
        }
    }
    erase_purged(service).await;
    Ok(())
}

/// Erases what the process of a purge could not erase, because it was killed or the file store was slow. This
/// sweep is the one that runs most often.
async fn erase_purged(service: &Service) {
    match tokio::time::timeout(ERASURE_TIME_MAX, service.erase_purged()).await {
        Ok(Ok(0)) => {}
        Ok(Ok(done)) => tracing::info!(erasures.done = done, "purged contents erased"),
        Ok(Err(error)) => {
            tracing::warn!(error = format!("{error:#}"), "purged contents could not be erased yet");
        }
        Err(_) => tracing::warn!("the erasure of purged contents takes long and continues in the next sweep"),
    }
}

/// How many rescans may be queued now.
fn rescan_budget(counts: &BTreeMap<Queue, JobCounts>) -> u64 {
    let waiting = |queue| counts.get(&queue).map_or(0, |jobs| jobs.waiting + jobs.failed);
    if waiting(Queue::Scan) >= SCANS_WAITING_MAX {
        return 0;
    }
    RESCANS_WAITING_MAX.saturating_sub(waiting(Queue::Rescan))
}

/// Warns once per process that no worker takes rescans.
fn warn_if_unserved(rescans: &JobCounts, now: Time) {
    static WARNED: Once = Once::new();
    if is_unserved(rescans, now) {
        WARNED.call_once(|| {
            tracing::warn!(
                queue.name = Queue::Rescan.name(),
                "a rescan has waited for more than an hour: a worker must take the queue `rescan`, either by naming it \
                 in --queues or by naming none"
            );
        });
    }
}

fn is_unserved(rescans: &JobCounts, now: Time) -> bool {
    rescans.running == 0
        && rescans.oldest_waiting_since.is_some_and(|since| now.since(since) > UNSERVED_AFTER)
}

pub(super) async fn blobs(service: &Service) -> anyhow::Result<()> {
    erase_purged(service).await;
    let deleted = service.sweep_blobs().await?;
    tracing::info!(blobs.deleted = deleted, "blobs swept");
    Ok(())
}

pub(super) async fn records(service: &Service, queues: &Queues) -> anyhow::Result<()> {
    let records = service.sweep_records().await?;
    let finished_before = service.clock().now().minus(FINISHED_KEPT);
    let mut jobs = 0;
    loop {
        let chunk = queues.delete_finished(finished_before, FINISHED_AT_ONCE).await?;
        jobs += chunk;
        if chunk < u64::from(FINISHED_AT_ONCE) {
            break;
        }
    }
    tracing::info!(records.deleted = records, jobs.deleted = jobs, "records swept");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(waiting: u64, failed: u64) -> JobCounts {
        JobCounts { waiting, failed, ..JobCounts::default() }
    }

    #[test]
    fn rescan_budget_is_limited_by_waiting_rescans_and_first_scans() {
        let budget = |scans: (u64, u64), rescans: (u64, u64)| {
            rescan_budget(&BTreeMap::from([
                (Queue::Scan, counts(scans.0, scans.1)),
                (Queue::Rescan, counts(rescans.0, rescans.1)),
            ]))
        };
        assert_eq!(budget((0, 0), (0, 0)), 1_000);
        assert_eq!(budget((60, 39), (300, 100)), 600);
        assert_eq!(budget((60, 40), (0, 0)), 0);
        assert_eq!(budget((100, 0), (0, 0)), 0);
        assert_eq!(budget((0, 0), (999, 1)), 0);
        assert_eq!(budget((0, 0), (2_000, 0)), 0);
    }

    #[test]
    fn rescans_waiting_over_an_hour_count_as_without_a_worker() {
        let now = Time::from_millis(1_790_000_000_000);
        let waiting = |minutes: u64, running: u64| JobCounts {
            oldest_waiting_since: Some(now.minus(Duration::from_secs(60 * minutes))),
            running,
            ..counts(3, 0)
        };
        assert!(!is_unserved(&waiting(60, 0), now));
        assert!(is_unserved(&waiting(61, 0), now));
        assert!(!is_unserved(&waiting(61, 1), now), "somebody works on one");
        assert!(!is_unserved(&counts(0, 0), now));
    }
}
