//! Rules of retention: an account or an artifact says which versions are kept, and the cleanup deletes the
//! others.

use domain::{RetentionChange, Scope, Slug};

use crate::visibility::ShownArtifact;
use crate::{Caller, Service, ServiceResult};

const ACCOUNTS_AT_ONCE: u64 = 1_000;

impl Service {
    /// Changes an artifact's own rule. The next cleanup applies it.
    pub async fn set_retention(
        &self,
        caller: &Caller,
        slug: &Slug,
        retention: RetentionChange,
    ) -> ServiceResult<ShownArtifact> {
        caller.may_write(Scope::ArtifactsWrite, self.0.clock.now())?;
        let found = self.find(caller, slug).await?;
        let changed =
            self.0.store.artifacts().set_retention(&self.change_by(caller), &found.slug, retention).await?;
        let artifact = changed.ok_or_else(|| caller.no_such_artifact())?;
        tracing::info!(artifact.host = %artifact.host, retention = ?artifact.retention, "retention set");
        let signed_url = self.signed_url(&artifact);
        Ok(ShownArtifact { artifact, signed_url, receipt: None })
    }

    /// Deletes the versions of all accounts that no rule keeps, and returns their number. No edge serves them
    /// after that.
    pub(crate) async fn delete_outdated_versions(&self) -> anyhow::Result<u64> {
        let (upkeep, now) = (self.0.store.upkeep(), self.0.clock.now());
        let (mut deleted, mut after) = (0, None);
        loop {
            let accounts = upkeep.list_accounts_with_retention(after, ACCOUNTS_AT_ONCE).await?;
            for account in &accounts {
                loop {
                    let outdated = upkeep.delete_outdated_versions(*account, now, &self.0.chance).await?;
                    if !outdated.hosts.is_empty() {
                        self.0.bus.notify_edges(&outdated.hosts).await;
                    }
                    deleted += outdated.versions;
                    if !outdated.is_partial {
                        break;
                    }
                }
            }
            after = accounts.last().copied();
            if (accounts.len() as u64) < ACCOUNTS_AT_ONCE {
                break;
            }
        }
        if deleted > 0 {
            tracing::info!(versions.deleted = deleted, "versions that no rule keeps were deleted");
        }
        Ok(deleted)
    }
}
