//! Judges a version, for the first time or again. Idempotent: the same content gets the same verdict.

use anyhow::Context;
use domain::ScanJob;
use service::Service;

use crate::Attempt;

pub(super) async fn run(service: &Service, job: &ScanJob, attempt: Attempt) -> anyhow::Result<()> {
    let scanned = service.scan(*job).await.with_context(|| format!("scan version {}", job.version));
    if let Err(error) = &scanned
        && attempt.is_last()
    {
        tracing::error!(
            version.id = %job.version,
            error = format!("{error:#}"),
            "a version could not be scanned; the sweep tries again, ever more rarely"
        );
    }
    scanned
}
