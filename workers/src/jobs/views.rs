//! Adds the views that an edge counted to their accounts' month. Idempotent by job id.

use domain::{JobId, ViewsJob};
use service::Service;

pub(super) async fn run(service: &Service, id: JobId, job: &ViewsJob) -> anyhow::Result<()> {
    service.add_views(id, job).await
}
