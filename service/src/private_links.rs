//! New links for private artifacts, for a link that has reached the wrong people.

use domain::{Refusal, Scope, Slug};

use crate::visibility::ShownArtifact;
use crate::{Caller, Service, ServiceResult};

impl Service {
    /// Replaces the link of a private artifact. Once this returns, no edge accepts the old one.
    pub async fn rotate_private_link(&self, caller: &Caller, slug: &Slug) -> ServiceResult<ShownArtifact> {
        caller.may_write(Scope::ArtifactsWrite, self.0.clock.now())?;
        let found = self.find(caller, slug).await?;
        // Edges of an older release would still accept the old link, and refuse the new one.
        if !self.0.board.is_format_shared() {
            let fault = "the servers are being upgraded, and private links cannot be replaced until then";
            return Err(Refusal::overloaded(fault).into());
        }
        let rotated =
            self.0.store.artifacts().rotate_private_link(&self.change_by(caller), &found.slug).await?;
        let artifact = rotated.ok_or_else(|| caller.no_such_artifact())?;
        self.0.bus.notify_edges(std::slice::from_ref(&artifact.host)).await;
        tracing::info!(artifact.host = %artifact.host, "private link rotated");
        let signed_url = self.signed_url(&artifact);
        Ok(ShownArtifact { artifact, signed_url, receipt: None })
    }
}
