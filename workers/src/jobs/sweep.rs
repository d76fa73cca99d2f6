//! Sweeps: what was lost on the way is queued again, what has outlived its use is deleted. All are idempotent.

use std::time::Duration;

use domain::Queue;
use service::Service;

use crate::Queues;

/// Finished jobs are kept this long: it is also how long a pushed id is known as a repetition.
const FINISHED_KEPT: Duration = Duration::from_secs(48 * 3600);
const FINISHED_AT_ONCE: u32 = 5_000;
/// Rescans that wait in their queue, at most: a page, whatever is left to do.
const RESCANS_WAITING_MAX: u64 = 1_000;
/// While so many publishes wait for their first scan, nothing is judged for the second time.
const SCANS_WAITING_MAX: u64 = 100;

pub(super) async fn scans(service: &Service, queues: &Queues) -> anyhow::Result<()> {
    let queued = service.sweep_scans().await?;
    if queued > 0 {
        tracing::warn!(scans.queued = queued, "versions without a verdict are queued again");
    }
    if service.has_rescans().await? {
        let room = room_for_rescans(queues).await?;
        if room > 0 {
            service.queue_rescans(room).await?;
        }
    }
    Ok(())
}

/// How many rescans may be queued now.
async fn room_for_rescans(queues: &Queues) -> anyhow::Result<u64> {
    let depth = queues.depth().await?;
    let waiting = |queue| {
        let of_queue = depth.iter().filter(|depth| depth.queue == queue);
        of_queue.map(|depth| depth.waiting + depth.failed).sum::<u64>()
    };
    if waiting(Queue::Scan) >= SCANS_WAITING_MAX {
        return Ok(0);
    }
    Ok(RESCANS_WAITING_MAX.saturating_sub(waiting(Queue::Rescan)))
}

pub(super) async fn blobs(service: &Service) -> anyhow::Result<()> {
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
