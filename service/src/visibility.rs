//! Who may see an artifact: public, unlisted or private. The ledger changes it and charges for it in one; this returns
//! only when no edge serves the old state.

use domain::{
    Artifact, JobId, LedgerOperation, Micro, Outcome, Payment, Reason, Receipt, Repeating, Scope, Slug,
    Visibility, VisibilityOperation,
};

use crate::deadline::{Awaited, answer_until};
use crate::{Caller, Failure, Service, ServiceResult};

/// A change of visibility that passed the door.
#[derive(Clone, Debug)]
pub struct VisibilityRequest {
    pub slug: Slug,
    pub to: Visibility,
    pub payment: Option<Payment>,
}

/// The artifact as it is seen from now on.
#[derive(Clone)]
pub struct ShownArtifact {
    pub artifact: Artifact,
    /// The link to hand out, for a private artifact.
    pub signed_url: Option<String>,
    pub receipt: Option<Receipt>,
}

impl Service {
    /// What taking a page off the public costs now: nothing while it is off, or when its month was paid before. It is
    /// for people to read before they pay; the ledger asks again.
    pub async fn visibility_price(&self, caller: &Caller, artifact: &Artifact) -> ServiceResult<Micro> {
        caller.may(Scope::ArtifactsRead)?;
        let month = Reason::Visibility(artifact.id, self.0.clock.now().month());
        let is_paid = artifact.visibility != Visibility::Public
            || self.0.store.ledger().has_entry(caller.account, &month).await?;
        Ok(if is_paid { Micro::ZERO } else { self.tariff().visibility_price })
    }

    /// Sets an artifact's visibility. Leaving the public costs a month, once in a month (spec 3.2).
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
            deadline: Some(self.deadline(answer_until()).await?.at),
        });
        let (account, kind) = (caller.account, operation.kind());
        let set = match self
            .settle(operation, &Awaited { account, job, kind, repeating: Repeating::AsItIs })
            .await?
        {
            Outcome::VisibilitySet(set) => *set,
            outcome => return Err(Failure::behind(outcome)),
        };
        // Also when there was nothing to change: a call at the same time may have changed it and not told them yet.
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
