//! An account's operations on its artifacts: list, read, roll back and delete. An operation that changes what
//! visitors see returns only once no edge serves the old state.

use std::collections::HashMap;

use domain::link::VersionLinks;
use domain::{
    Artifact, ArtifactFilter, ArtifactId, Host, LinkGeneration, Missing, Page, Paged, Published, Refusal,
    Scope, Slug, Version, Visibility,
};
use store::{ActivationResult, Searched};

use crate::{Caller, ModerationNotice, Service, ServiceResult};

/// An artifact with a page of its versions, newest first.
#[derive(Clone)]
pub struct ArtifactDetail {
    pub artifact: Artifact,
    pub versions: Paged<Version>,
    /// The moderation state of the live version.
    pub moderation: ModerationNotice,
    /// The shareable link, for a private artifact.
    pub signed_url: Option<String>,
    pub version_links: VersionLinks,
}

impl Service {
    /// The account's artifacts, newest first. A pinned token sees only its own.
    pub async fn artifacts(&self, caller: &Caller, page: &Page) -> ServiceResult<Paged<Artifact>> {
        caller.may(Scope::ArtifactsRead)?;
        Ok(self.0.store.artifacts().list(caller.account, caller.pinned_to(), page).await?)
    }

    /// The account's artifacts that a filter asks for, in its order, with their number.
    pub async fn search_artifacts(
        &self,
        caller: &Caller,
        filter: &ArtifactFilter,
        page: &Page,
    ) -> ServiceResult<Paged<Artifact>> {
        caller.may(Scope::ArtifactsRead)?;
        let searched = Searched {
            account: caller.account,
            pinned_to: caller.pinned_to(),
            views_in: self.0.clock.now().month(),
        };
        Ok(self.0.store.artifacts().search(searched, filter, page).await?)
    }

    pub async fn artifact(
        &self,
        caller: &Caller,
        slug: &Slug,
        versions: &Page,
    ) -> ServiceResult<ArtifactDetail> {
        let artifact = self.artifact_alone(caller, slug).await?;
        let versions = self.0.store.artifacts().list_versions(caller.account, artifact.id, versions).await?;
        let moderation = self.moderation_notice(&artifact).await?;
        let signed_url = self.signed_url(&artifact);
        let version_links = self.version_links(&artifact);
        Ok(ArtifactDetail { artifact, versions, moderation, signed_url, version_links })
    }

    /// An artifact without its versions.
    pub async fn artifact_alone(&self, caller: &Caller, slug: &Slug) -> ServiceResult<Artifact> {
        caller.may(Scope::ArtifactsRead)?;
        self.find(caller, slug).await
    }

    /// More versions of an artifact that the caller has found. They stay readable if the artifact is deleted
    /// in the meantime.
    pub async fn versions(
        &self,
        caller: &Caller,
        artifact: ArtifactId,
        page: &Page,
    ) -> ServiceResult<Paged<Version>> {
        caller.may(Scope::ArtifactsRead)?;
        caller.may_touch(artifact)?;
        Ok(self.0.store.artifacts().list_versions(caller.account, artifact, page).await?)
    }

    /// The slugs of these artifacts, except deleted ones.
    pub async fn slugs(
        &self,
        caller: &Caller,
        artifacts: &[ArtifactId],
    ) -> ServiceResult<HashMap<ArtifactId, Slug>> {
        caller.may(Scope::ArtifactsRead)?;
        Ok(self.0.store.artifacts().slugs(caller.account, artifacts).await?)
    }

    /// Makes any existing version live. Rollback and roll forward are the same call.
    pub async fn activate(&self, caller: &Caller, slug: &Slug, seq: u32) -> ServiceResult<Artifact> {
        let now = self.0.clock.now();
        caller.may_write(Scope::ArtifactsWrite, now)?;
        let found = self.find(caller, slug).await?;
        match self.0.store.artifacts().activate(&self.change_by(caller), &found.slug, seq).await? {
            ActivationResult::Artifact(artifact) => {
                self.0.bus.notify_edges(std::slice::from_ref(&artifact.host)).await;
                tracing::info!(artifact.host = %artifact.host, version.seq = seq, "version activated");
                Ok(*artifact)
            }
            ActivationResult::NoSuchArtifact => Err(caller.no_such_artifact().into()),
            ActivationResult::NoSuchVersion => Err(Refusal::NotFound(Missing::Version).into()),
        }
    }

    /// Gives an artifact another slug. Its host and its URL stay.
    pub async fn rename(&self, caller: &Caller, slug: &Slug, to: &Slug) -> ServiceResult<Artifact> {
        caller.may_write(Scope::ArtifactsWrite, self.0.clock.now())?;
        let found = self.find(caller, slug).await?;
        let renamed = self.0.store.artifacts().rename(&self.change_by(caller), &found.slug, to).await?;
        let artifact = renamed.ok_or_else(|| caller.no_such_artifact())?;
        tracing::info!(artifact.host = %artifact.host, artifact.slug = %artifact.slug, "artifact renamed");
        Ok(artifact)
    }

    /// Soft-deletes an artifact. Once this returns, its address serves nothing.
    pub async fn delete(&self, caller: &Caller, slug: &Slug) -> ServiceResult<Slug> {
        let now = self.0.clock.now();
        caller.may_write(Scope::ArtifactsWrite, now)?;
        let artifact = self.find(caller, slug).await?;
        let deleted: Option<Host> =
            self.0.store.artifacts().delete(&self.change_by(caller), &artifact.slug).await?;
        let host = deleted.ok_or_else(|| caller.no_such_artifact())?;
        self.0.bus.notify_edges(std::slice::from_ref(&host)).await;
        tracing::info!(artifact.host = %host, "artifact deleted");
        Ok(artifact.slug)
    }

    /// The shareable link, for a private artifact.
    pub(crate) fn signed_url(&self, artifact: &Artifact) -> Option<String> {
        self.signed_url_at(&artifact.host, artifact.visibility, artifact.link_generation)
    }

    /// The shareable link of a published artifact, if it is private.
    pub fn signed_url_of(&self, published: &Published) -> Option<String> {
        self.signed_url_at(&published.host, published.visibility, published.link_generation)
    }

    fn signed_url_at(
        &self,
        host: &Host,
        visibility: Visibility,
        generation: LinkGeneration,
    ) -> Option<String> {
        (visibility == Visibility::Private)
            .then(|| self.addresses().signed_page(host, generation, &self.0.rules.link_key))
    }

    /// The links to an artifact's versions.
    fn version_links(&self, artifact: &Artifact) -> VersionLinks {
        VersionLinks {
            addresses: self.addresses().clone(),
            key: self.0.rules.link_key.clone(),
            artifact: artifact.id,
            host: artifact.host.clone(),
            visibility: artifact.visibility,
            link_generation: artifact.link_generation,
        }
    }

    /// The links to the versions of a published artifact.
    pub(crate) fn version_links_of(&self, published: &Published) -> VersionLinks {
        VersionLinks {
            addresses: self.addresses().clone(),
            key: self.0.rules.link_key.clone(),
            artifact: published.artifact,
            host: published.host.clone(),
            visibility: published.visibility,
            link_generation: published.link_generation,
        }
    }

    /// The address at which members of the account read a page. It is signed if the page is private.
    pub fn member_url(&self, artifact: &Artifact) -> String {
        self.signed_url(artifact).unwrap_or_else(|| self.addresses().page(&artifact.host))
    }

    /// The address at which members of the account read a version.
    pub fn member_version_url(&self, artifact: &Artifact, seq: u32) -> String {
        self.version_links(artifact).link(seq)
    }

    /// The artifact with this slug. A pinned token gets the same refusal for every slug except its own, so
    /// that it does not learn which slugs exist.
    pub(crate) async fn find(&self, caller: &Caller, slug: &Slug) -> ServiceResult<Artifact> {
        let found = self.0.store.artifacts().find(caller.account, slug).await?;
        let allowed = found.filter(|artifact| caller.may_touch(artifact.id).is_ok());
        Ok(allowed.ok_or_else(|| caller.no_such_artifact())?)
    }
}
