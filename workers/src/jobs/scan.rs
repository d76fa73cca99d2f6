//! Judges a version, for the first time or again. Idempotent: the same content gets the same verdict.
//!
//! A first verdict by older rules is better than none, so any process gives one; a second is worth nothing unless it is
//! by the rules that were asked for.

use anyhow::Context;
use domain::{RescanJob, ScanJob};
use service::Service;

use crate::{Attempt, LeftToAnother};

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

pub(super) async fn again(service: &Service, job: &RescanJob, attempt: Attempt) -> anyhow::Result<()> {
    if !service.may_rescan(job) {
        return Err(LeftToAnother.into());
    }
    run(service, &job.scan, attempt).await
}
