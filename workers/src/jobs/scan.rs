//! Scans a version, for the first time or again. Idempotent: equal content gets the same verdict.
//!
//! A first verdict by older rules is better than none, so any process gives one. A second one is useful only
//! with the requested rules.

use std::time::Duration;

use anyhow::Context;
use domain::{RescanJob, ScanJob};
use service::{Rescanned, Scanned, Service};

use crate::{Attempt, LeftToAnother};

/// How long a rescan that cannot run here is left to other processes.
const RESCAN_LEFT_FOR: Duration = Duration::from_secs(30);

/// A scan that waits too long for a permit is retried, which costs no attempt.
pub(super) async fn run(service: &Service, job: &ScanJob, attempt: Attempt) -> anyhow::Result<()> {
    let scanned = service.scan(*job).await.with_context(|| format!("scan version {}", job.version));
    match scanned {
        Ok(Scanned::Done) => Ok(()),
        Ok(Scanned::NotNow { retry_after }) => Err(LeftToAnother { retry_after }.into()),
        Err(error) => {
            let noted = note_failure(service, *job, &error, attempt).await;
            if let Err(error) = noted {
                tracing::error!(
                    version.id = %job.version,
                    error = format!("{error:#}"),
                    "a version whose scan failed could not be held back"
                );
            }
            Err(error)
        }
    }
}

/// A rescan that cannot run here costs no attempt.
pub(super) async fn run_again(service: &Service, job: &RescanJob, attempt: Attempt) -> anyhow::Result<()> {
    let version = job.scan.version;
    match service.rescan(job).await.with_context(|| format!("scan version {version} again")) {
        Ok(Rescanned::Done) => Ok(()),
        Ok(Rescanned::NotHere) => Err(LeftToAnother { retry_after: RESCAN_LEFT_FOR }.into()),
        Err(error) => {
            log_if_last(&job.scan, &error, attempt);
            Err(error)
        }
    }
}

/// Until the next attempt, the page of a provisional account is held back. After the last one, a moderator
/// decides.
async fn note_failure(
    service: &Service,
    job: ScanJob,
    error: &anyhow::Error,
    attempt: Attempt,
) -> anyhow::Result<()> {
    log_if_last(&job, error, attempt);
    if attempt.is_last() { service.give_up_scan(job).await } else { service.hold_back(job).await }
}

fn log_if_last(job: &ScanJob, error: &anyhow::Error, attempt: Attempt) {
    if attempt.is_last() {
        tracing::error!(
            version.id = %job.version,
            error = format!("{error:#}"),
            "a version could not be scanned; the sweep retries it less and less often"
        );
    }
}
