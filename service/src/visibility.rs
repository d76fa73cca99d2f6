//! The visibility of an artifact: public, unlisted or private. The ledger changes it and charges for it in
//! one transaction. The operation returns only once no edge serves the old state.

use domain::{
    Artifact, JobId, LedgerOperation, Outcome, Payment, Receipt, Repeating, Scope, Slug, Visibility,
    VisibilityOperation,
};

use crate::deadline::{Awaited, response_deadline};
use crate::{Caller, Failure, Service, ServiceResult};

/// A parsed request to change the visibility.
#[derive(Clone, Debug)]
pub struct VisibilityRequest {
    pub slug: Slug,
    pub to: Visibility,
    pub payment: Option<Payment>,
}

/// The artifact after the change.
#[derive(Clone)]
pub struct ShownArtifact {
    pub artifact: Artifact,
    /// The shareable link, for a private artifact.
    pub signed_url: Option<String>,
    pub receipt: Option<Receipt>,
}

impl Service {
    /// Sets an artifact's visibility. Making it unlisted or private costs a month, once in a month (spec
    /// 3.2).
    pub async fn set_visibility(
        &self,
        caller: &Caller,
        request: VisibilityRequest,
    ) -> ServiceResult<ShownArtifact> {
        let now = self.0.clock.now();
        caller.may_write(Scope::ArtifactsWrite, now)?;
        let job = JobId::new(now, &self.0.chance);
        let operation = LedgerOperation::Visibility(VisibilityOperation {
            account: caller.account,
            job,
            slug: request.slug,
            to: request.to,
            pinned_to: caller.pinned_to(),
            payment: request.payment,
            called_by: Some(caller.called_by()),
            deadline: Some(self.deadline(response_deadline()).await?.at),
        });
        let (account, kind) = (caller.account, operation.kind());
        let set = match self
            .settle(operation, &Awaited { account, job, kind, repeating: Repeating::AsItIs })
            .await?
        {
            Outcome::VisibilitySet(set) => *set,
            outcome => return Err(Failure::behind(outcome)),
        };
        // Also if nothing changed: a concurrent call may have changed it without having notified the edges
        // yet.
        self.0.bus.notify_edges(std::slice::from_ref(&set.artifact.host)).await;
        tracing::info!(
            artifact.host = %set.artifact.host,
            artifact.visibility = set.artifact.visibility.as_str(),
            "visibility set"
        );
        let signed_url = self.signed_url(&set.artifact);
        Ok(ShownArtifact { artifact: set.artifact, signed_url, receipt: set.receipt })
    }
}
