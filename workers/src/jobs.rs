//! Which operation executes which job. One file per job, which names its idempotency key.

mod cleanup;
mod meter;
mod publish;
mod scan;
mod sweep;
mod views;

use std::sync::Arc;

use domain::{Job, JobEnvelope};
use futures::FutureExt;
use service::Service;

use crate::{Attempt, Handler, Queues};

/// Executes one job. `?` means: retry later, until the queue's attempts are used up.
async fn run(
    service: &Service,
    queues: &Queues,
    envelope: &JobEnvelope,
    attempt: Attempt,
) -> anyhow::Result<()> {
    match &envelope.job {
        Job::Publish(job) => publish::run(service, envelope, job, attempt).await,
        Job::Scan(job) => scan::run(service, job, attempt).await,
        Job::Rescan(job) => scan::run_again(service, job, attempt).await,
        Job::Views(job) => views::run(service, envelope.id, job).await,
        Job::Cleanup => cleanup::run(service).await,
        Job::Meter => meter::run(service).await,
        Job::SweepScans => sweep::scans(service, queues).await,
        Job::SweepBlobs => sweep::blobs(service).await,
        Job::SweepRecords => sweep::records(service, queues).await,
    }
}

/// The handler that a worker pool runs.
pub fn handler(service: Service, queues: Queues) -> Handler {
    let parts = Arc::new((service, queues));
    Arc::new(move |envelope, attempt| {
        let parts = parts.clone();
        async move { run(&parts.0, &parts.1, &envelope, attempt).await }.boxed()
    })
}
