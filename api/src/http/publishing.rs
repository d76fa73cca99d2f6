//! The steps of every publish, for REST, MCP and the home page: refuse early, check, load, publish, release.
//!
//! A request that would be refused is refused before its files are read. While the workers have a publish,
//! its request holds a publish permit and the memory of its files, and no request permit.

use domain::{ModerationStatus, VersionId};
use service::{Caller, ModerationNotice, PublishRequest, Service, SitePlan};

use crate::http::client_wait::ClientWait;
use crate::http::permits::{RequestPermit, WorkClass};
use crate::http::refusal::RefusedCall;
use crate::http::upload_budget::HeldMemory;

/// A publish whose files are in memory.
pub struct Loaded {
    pub request: PublishRequest,
    /// Held until the publish has ended. None if the request's own memory covers the files.
    pub memory: Option<HeldMemory>,
}

/// Runs the steps. `check` must not read the body; `load` may.
pub async fn publish<Checked, Published, Publishing>(
    permit: &RequestPermit,
    check: impl Future<Output = Result<Checked, RefusedCall>>,
    load: impl Future<Output = Result<Loaded, RefusedCall>>,
    publish: impl FnOnce(Checked, PublishRequest) -> Publishing,
) -> Result<Published, RefusedCall>
where
    Publishing: Future<Output = Result<Published, RefusedCall>>,
{
    permit.refuse_if_full(WorkClass::Publish)?;
    let checked = check.await?;
    let Loaded { request, memory } = load.await?;
    permit.exchange_for(WorkClass::Publish).await?;
    let published = publish(checked, request).await;
    drop(memory);
    published
}

/// A publish whose body was read. The request has no files yet.
pub struct Planned {
    pub request: PublishRequest,
    pub site: SitePlan,
    /// Covers the contents that were sent.
    pub memory: HeldMemory,
}

/// Loads the contents that a publish names and does not send, within the memory budget.
pub async fn complete(
    service: &Service,
    caller: &Caller,
    permit: &RequestPermit,
    planned: Planned,
) -> Result<Loaded, RefusedCall> {
    let Planned { request, site, mut memory } = planned;
    let is_complete = site.is_complete();
    // Boxed, because every publish would carry the size of these futures otherwise.
    let located = Box::pin(service.locate_publish(caller, request, site)).await?;
    if !is_complete {
        // Not before: a repeat under an `Idempotency-Key` may wait for the earlier request.
        permit.exchange_for(WorkClass::Upload).await?;
    }
    memory.grow(usize::try_from(located.stored_bytes()).unwrap_or(usize::MAX)).await?;
    let request = Box::pin(service.load_publish(located)).await?;
    Ok(Loaded { request, memory: Some(memory) })
}

/// Waits for the verdict on a version, without the publish permit and the memory of the files. Returns
/// `pending` if the verdict takes too long, if too many responses wait, or if the client has disconnected.
pub async fn verdict(
    permit: &RequestPermit,
    client: &ClientWait,
    service: &Service,
    version: VersionId,
) -> ModerationNotice {
    let pending = || ModerationNotice::plain(ModerationStatus::Pending);
    let Some(_waiting) = permit.exchange_for_verdict_wait().await else { return pending() };
    client.unless_over(service.await_verdict(version)).await.unwrap_or_else(pending)
}
