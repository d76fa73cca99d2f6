//! Deletes artifacts and versions for good, and restores deleted artifacts.
//!
//! An operation returns only once no edge serves the old state. The contents are erased before it returns, or
//! within seconds by a job if the file store is slow.

use std::time::Duration;

use domain::{
    Artifact, ArtifactId, ChargeOperation, Host, Missing, Reason, Refusal, Scope, Slug, Time, Visibility,
};

use store::RESTORABLE_FOR;

use crate::{Caller, Service, ServiceResult};

/// How long a purge waits for the erasure of its contents.
const ERASURE_WAIT_MAX: Duration = Duration::from_secs(10);
/// Deleted artifacts that are listed.
const DELETED_SHOWN_MAX: u64 = 100;

/// What a purge left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PurgedPage {
    pub slug: Slug,
    /// The versions that moderators keep as evidence, oldest first.
    pub held: Vec<u32>,
}

/// An artifact that can be restored.
#[derive(Clone, Debug)]
pub struct DeletedArtifact {
    pub artifact: Artifact,
    pub deleted_at: Time,
    pub restorable_until: Time,
}

/// The deletion was the last update.
impl From<Artifact> for DeletedArtifact {
    fn from(artifact: Artifact) -> Self {
        let deleted_at = artifact.updated_at;
        Self { artifact, deleted_at, restorable_until: deleted_at.plus(RESTORABLE_FOR) }
    }
}

impl Service {
    /// Deletes an artifact with all of its versions and contents. If no artifact has the slug, it purges the
    /// one that was deleted last.
    pub async fn purge(&self, caller: &Caller, slug: &Slug) -> ServiceResult<PurgedPage> {
        let (account, now) = (caller.account, self.0.clock.now());
        caller.may_write(Scope::ArtifactsWrite, now)?;
        let artifacts = self.0.store.artifacts();
        let mut id = artifacts.find(account, slug).await?.map(|artifact| artifact.id);
        if id.is_none() {
            id = artifacts.find_purgeable(account, slug, now).await?;
        }
        self.purge_by_id(caller, id.ok_or_else(|| caller.no_such_artifact())?).await
    }

    /// Like `purge`, for an artifact whose slug another one may have in the meantime.
    pub async fn purge_by_id(&self, caller: &Caller, id: ArtifactId) -> ServiceResult<PurgedPage> {
        caller.may_write(Scope::ArtifactsWrite, self.0.clock.now())?;
        caller.may_touch(id).map_err(|_| caller.no_such_artifact())?;
        let purged = self.0.store.artifacts().purge(&self.change_by(caller), id).await?;
        let purged = purged.ok_or_else(|| caller.no_such_artifact())?;
        self.finish_purge(&purged.host).await;
        tracing::info!(artifact.host = %purged.host, versions.held = purged.held.len(), "artifact purged");
        Ok(PurgedPage { slug: purged.slug, held: purged.held })
    }

    /// Deletes a version that is not live.
    pub async fn delete_version(&self, caller: &Caller, slug: &Slug, seq: u32) -> ServiceResult<()> {
        caller.may_write(Scope::ArtifactsWrite, self.0.clock.now())?;
        let artifact = self.find(caller, slug).await?;
        let deleted =
            self.0.store.artifacts().delete_version(&self.change_by(caller), artifact.id, seq).await?;
        let host = deleted.ok_or_else(|| caller.no_such_artifact())?;
        self.finish_purge(&host).await;
        tracing::info!(artifact.host = %host, version.seq = seq, "version deleted");
        Ok(())
    }

    /// Restores the artifact with this slug that was deleted last, or the one with this host.
    pub async fn restore_artifact(
        &self,
        caller: &Caller,
        slug: &Slug,
        host: Option<&Host>,
    ) -> ServiceResult<Artifact> {
        let now = self.0.clock.now();
        caller.may_write(Scope::ArtifactsWrite, now)?;
        let artifacts = self.0.store.artifacts();
        let found = match host {
            Some(host) => artifacts.find_deleted_at(caller.account, slug, host, now).await?,
            None => artifacts.find_deleted(caller.account, slug, now).await?,
        };
        self.restore_by_id(caller, found.ok_or_else(|| not_restorable(caller))?).await
    }

    /// Like `restore_artifact`, for one of several deleted artifacts that had the same slug.
    pub async fn restore_by_id(&self, caller: &Caller, id: ArtifactId) -> ServiceResult<Artifact> {
        caller.may_write(Scope::ArtifactsWrite, self.0.clock.now())?;
        caller.may_touch(id).map_err(|_| not_restorable(caller))?;
        let artifacts_max = self.0.rules.tariff.claimed_artifacts_max;
        let restored = self.0.store.artifacts().restore(&self.change_by(caller), id, artifacts_max).await?;
        let artifact = restored.ok_or_else(|| not_restorable(caller))?;
        self.0.bus.notify_edges(std::slice::from_ref(&artifact.host)).await;
        tracing::info!(artifact.host = %artifact.host, "artifact restored");
        if artifact.visibility != Visibility::Public && caller.account_expires_at.is_none() {
            self.charge_restored(&artifact).await;
        }
        Ok(artifact)
    }

    /// Charges the current month, unless it is paid: the metering has not seen the artifact while it was
    /// deleted. Like the metering, this may leave a debt. The artifact is restored, so no error is returned.
    async fn charge_restored(&self, artifact: &Artifact) {
        let charge = ChargeOperation {
            account: artifact.account,
            amount: self.0.rules.tariff.visibility_price,
            reason: Reason::Visibility(artifact.id, self.0.clock.now().month()).to_string(),
        };
        if let Err(error) = self.charge(vec![charge]).await {
            let error = format!("{error:#}");
            tracing::error!(error, artifact.host = %artifact.host, "a restored artifact was not charged");
        }
    }

    /// The account's artifacts that can be restored, last deleted first. A pinned token sees only its own.
    pub async fn deleted_artifacts(&self, caller: &Caller) -> ServiceResult<Vec<DeletedArtifact>> {
        caller.may(Scope::ArtifactsRead)?;
        let (pin, now) = (caller.pinned_to(), self.0.clock.now());
        let found =
            self.0.store.artifacts().list_restorable(caller.account, pin, now, DELETED_SHOWN_MAX).await?;
        Ok(found.into_iter().map(DeletedArtifact::from).collect())
    }

    /// Erases purged contents that are still in the file store.
    pub async fn erase_purged(&self) -> anyhow::Result<u64> {
        self.0.store.blob_index().erase_purged(&self.0.blobs, self.0.clock.now()).await
    }

    /// Nothing may change the response any more, so an erasure that fails or takes too long is left to the
    /// job.
    async fn finish_purge(&self, host: &Host) {
        self.0.bus.notify_edges(std::slice::from_ref(host)).await;
        let erased = async {
            while self.erase_purged().await? > 0 {}
            anyhow::Ok(())
        };
        match tokio::time::timeout(ERASURE_WAIT_MAX, erased).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                tracing::warn!(error = format!("{error:#}"), "purged contents could not be erased yet");
            }
            Err(_) => tracing::warn!("the erasure of purged contents continues in a job"),
        }
    }
}

/// A pinned token does not learn which other artifacts exist.
fn not_restorable(caller: &Caller) -> Refusal {
    match caller.pinned_to() {
        Some(_) => caller.no_such_artifact(),
        None => Refusal::NotFound(Missing::DeletedArtifact),
    }
}
