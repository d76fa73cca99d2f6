//! Which operation executes which job. One file per job, which names its idempotency key.

mod cleanup;
mod meter;
mod publish;
mod scan;
mod sweep;
mod views;

use std::sync::Arc;

use domain::{Job, JobEnvelope, Queue};
use futures::FutureExt;
use service::Service;

use crate::{Attempt, Handler, PoolSettings, Queues};

/// What the jobs of a process work with.
struct Worker {
    service: Service,
    queues: Queues,
    /// Whether the pool takes the queue of scans.
    takes_scans: bool,
}

/// Executes one job. `?` means: retry later, until the queue's attempts are used up.
async fn run(worker: &Worker, envelope: &JobEnvelope, attempt: Attempt) -> anyhow::Result<()> {
    let Worker { service, queues, takes_scans } = worker;
    match &envelope.job {
        Job::Publish(job) => {
            let takes_scans = *takes_scans && !queues.pauses.holds(Queue::Scan);
            publish::run(service, envelope, job, attempt, takes_scans).await
        }
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
pub fn handler(service: Service, queues: Queues, pool: &PoolSettings) -> Handler {
    let takes_scans = pool.queues.contains_key(&Queue::Scan);
    let worker = Arc::new(Worker { service, queues, takes_scans });
    Arc::new(move |envelope, attempt| {
        let worker = worker.clone();
        async move { run(&worker, &envelope, attempt).await }.boxed()
    })
}
