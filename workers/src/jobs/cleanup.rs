//! Purges provisional accounts whose grace period is over, and deletes versions that no rule of retention
//! keeps. Idempotent: what was deleted is not found again.

use service::Service;

pub(super) async fn run(service: &Service) -> anyhow::Result<()> {
    let purged = service.clean_up().await?;
    tracing::info!(accounts.purged = purged, "cleanup done");
    Ok(())
}
