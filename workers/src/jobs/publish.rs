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
) -> anyhow::Result<()> {
    let task = PublishTask { job, reply_to: envelope.reply_to.as_deref(), is_redelivery: attempt.number > 1 };
    service.execute_publish(&task).await
}
