//! A unified diff within the limits of a request.

use poem::Request;
use service::{Differences, Service};

use super::permits::{RequestPermit, WorkClass};
use super::refusal::RefusedCall;
use super::upload_budget::BodyShare;

/// The contents are in memory while they are compared. Reading them may wait for the blob store.
pub async fn unified_diff(
    service: &Service,
    request: &Request,
    differences: &Differences,
) -> Result<String, RefusedCall> {
    RequestPermit::of(request).exchange_for(WorkClass::Upload).await?;
    let mut memory = BodyShare::of(request).enter();
    memory.grow(usize::try_from(differences.content_bytes()).unwrap_or(usize::MAX)).await?;
    Ok(service.unified_diff(differences).await?)
}
