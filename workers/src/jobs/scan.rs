//! Judges a version, for the first time or again. Idempotent: the same content gets the same verdict.
//!
//! A first verdict by older rules is better than none, so any process gives one; a second is worth nothing unless it is
//! by the rules that were asked for.

use anyhow::Context;
use domain::{RescanJob, ScanJob};
use service::{Rescanned, Service};

use crate::{Attempt, LeftToAnother};

pub(super) async fn run(service: &Service, job: &ScanJob, attempt: Attempt) -> anyhow::Result<()> {
    told_if_last(service.scan(*job).await, job, attempt)
}

/// What cannot be done here costs no attempt.
pub(super) async fn again(service: &Service, job: &RescanJob, attempt: Attempt) -> anyhow::Result<()> {
    match told_if_last(service.rescan(job).await, &job.scan, attempt)? {
        Rescanned::Done => Ok(()),
        Rescanned::NotHere => Err(LeftToAnother.into()),
    }
}

fn told_if_last<T>(scanned: anyhow::Result<T>, job: &ScanJob, attempt: Attempt) -> anyhow::Result<T> {
    let scanned = scanned.with_context(|| format!("scan version {}", job.version));
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
