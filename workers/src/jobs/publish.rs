//! Stores the content of a publish, settles it and replies. Idempotent by version id: the ledger keeps the outcome.

use domain::{JobEnvelope, JobId, PublishJob};
use service::{PublishTask, Service};

use crate::{Attempt, Queues};

pub(super) async fn run(
    service: &Service,
    queues: &Queues,
    envelope: &JobEnvelope,
    job: &PublishJob,
    attempt: Attempt,
) -> anyhow::Result<()> {
    let is_redelivery = attempt.number > 1 || is_late_redelivery(service, queues, envelope.id, job).await?;
    let task = PublishTask { job, reply_to: envelope.reply_to.as_deref(), is_redelivery };
    service.execute_publish(&task).await
}

/// Whether the job's deadline has passed and an earlier attempt was made that its row no longer counts. Only a late job
/// is refused before its contents are stored, so only a late job needs the query.
async fn is_late_redelivery(
    service: &Service,
    queues: &Queues,
    id: JobId,
    job: &PublishJob,
) -> anyhow::Result<bool> {
    let is_late = job.order.deadline.is_some_and(|deadline| service.clock().now() >= deadline);
    Ok(is_late && queues.has_begun(id).await?)
}
