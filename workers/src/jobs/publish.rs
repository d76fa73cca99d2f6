//! Stores the content of a publish, settles it and replies. Idempotent by version id: the ledger keeps the
//! outcome.

use domain::{JobEnvelope, PublishJob};
use service::{PublishTask, Service};

use crate::Attempt;

pub(super) async fn run(
    service: &Service,
    envelope: &JobEnvelope,
    job: &PublishJob,
    attempt: Attempt,
    takes_scans: bool,
) -> anyhow::Result<()> {
    let reply_to = envelope.reply_to.as_deref();
    let task = PublishTask { job, reply_to, is_redelivery: attempt.number > 1, takes_scans };
    service.execute_publish(&task).await
}
