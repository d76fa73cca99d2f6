//! The early check of a publish's condition on the live version. It avoids storing files for a publish that
//! would be refused. The settlement checks again and decides.

use domain::{Refusal, Target};

use crate::{Caller, PublishRequest, Service};

impl Service {
    /// The refusal if the publish has a condition that is not met now.
    pub(crate) async fn condition_refusal(
        &self,
        caller: &Caller,
        request: &PublishRequest,
    ) -> anyhow::Result<Option<Refusal>> {
        let Target::If(condition) = request.settled_target() else { return Ok(None) };
        // Workers of an older release cannot read the job.
        if !self.0.board.is_format_shared() {
            let fault = "the servers are being upgraded, and conditions are not available until then";
            return Ok(Some(Refusal::overloaded(fault)));
        }
        // A pinned token must not learn which other slugs exist. The settlement refuses those.
        if caller.pinned_to().is_some() {
            return Ok(None);
        }
        let existing = match &request.slug {
            Some(slug) => self.0.store.artifacts().existing(caller.account, slug).await?,
            None => None,
        };
        Ok(Refusal::of_condition(condition, existing))
    }
}

/// Whether another version was live than a publish requires.
pub(crate) fn is_version_conflict(refusal: &Refusal) -> bool {
    matches!(refusal, Refusal::VersionConflict { .. })
}
