//! Judges a version. Idempotent: the same content gets the same verdict.

use domain::ScanJob;
use service::Service;

pub(super) async fn run(service: &Service, job: &ScanJob) -> anyhow::Result<()> {
    service.scan(*job).await
}
