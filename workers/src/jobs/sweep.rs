//! Sweeps: what was lost on the way is queued again, what has outlived its use is deleted. All are idempotent.

use std::time::Duration;

use service::Service;

use crate::Queues;

/// Finished jobs are kept this long: it is also how long a pushed id is known as a repetition.
const FINISHED_KEPT: Duration = Duration::from_secs(48 * 3600);
const FINISHED_AT_ONCE: u32 = 5_000;

pub(super) async fn scans(service: &Service) -> anyhow::Result<()> {
    let queued = service.sweep_scans().await?;
    if queued > 0 {
        tracing::warn!(scans.queued = queued, "scans that were lost on the way are queued again");
    }
    Ok(())
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
