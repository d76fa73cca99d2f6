//! Purges provisional accounts that expired before the grace. Idempotent: what is gone is not found again.

use service::Service;

pub(super) async fn run(service: &Service) -> anyhow::Result<()> {
    let report = service.clean_up().await?;
    tracing::info!(
        purged = report.purged,
        blobs.deleted = report.blobs_deleted,
        blobs.bytes_freed = report.bytes_freed,
        "cleanup done"
    );
    Ok(())
}
