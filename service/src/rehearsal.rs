//! The rehearsal of a publish (`dry_run`): all checks, the price and the changes to the site. It stores
//! nothing, charges nothing and claims no `Idempotency-Key`.

use std::collections::HashMap;

use domain::{
    BlobHash, Manifest, ManifestFile, Micro, Outcome, PublishOperation, Scope, SitePath, Slug, SweepNumber,
    VersionChoice, VersionId, Warning, content_type_of,
};
use store::Terms;

use crate::compute::compute;
use crate::inspect::Inspected;
use crate::publish_request::{OrderId, PublishRequest};
use crate::site_plan::UploadedFile;
use crate::{Caller, Failure, Service, ServiceResult};

/// What a publish would do now.
#[derive(Clone, Debug)]
pub struct Rehearsal {
    pub price: Micro,
    pub warnings: Vec<Warning>,
    pub changes: SiteChanges,
}

/// How the files differ from those of the live version. The paths are sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SiteChanges {
    pub added: Vec<SitePath>,
    pub changed: Vec<SitePath>,
    pub removed: Vec<SitePath>,
    /// How many files stay the same.
    pub unchanged: usize,
}

impl Service {
    /// Rehearses a publish. Its refusal is the one that the publish would get now. The steps are those of
    /// [`Service::publish`], in the same order, except for its key and its job.
    pub async fn rehearse(&self, caller: &Caller, request: PublishRequest) -> ServiceResult<Rehearsal> {
        caller.may(Scope::ArtifactsWrite)?;
        let request = PublishRequest { live_base: None, ..request };
        let Inspected { warnings, .. } = self.inspect(&request, request.repeating()).await?;
        if let Some(refusal) = self.condition_refusal(caller, &request).await? {
            return Err(refusal.into());
        }
        if let Some(refusal) = self.closed().await {
            return Err(refusal.into());
        }
        let version = VersionId::new(self.0.clock.now(), &self.0.chance);
        let slug = request.slug.clone().unwrap_or_else(|| Slug::generate(&self.0.chance));
        let order = request.order(caller, OrderId { version, slug: slug.clone(), deadline: None });
        let manifest = manifest_of(request.files).await?;
        let operation = PublishOperation {
            order,
            manifest: manifest.clone(),
            title: None,
            bundle: None,
            blobs_as_of: SweepNumber::default(),
            verdict: None,
        };
        let terms =
            Terms { tariff: self.tariff().clone(), chance: self.0.chance.clone(), now: self.0.clock.now() };
        let rehearsed = self.0.store.rehearse(operation, &terms).await?;
        if !matches!(rehearsed.outcome, Outcome::Published(_)) {
            return Err(Failure::behind(rehearsed.outcome));
        }
        let live = self.live_manifest(caller, &slug).await?;
        Ok(Rehearsal { price: rehearsed.price, warnings, changes: SiteChanges::between(&live, &manifest) })
    }

    /// The files of the live version. None if there is no such artifact, or nothing is live.
    async fn live_manifest(&self, caller: &Caller, slug: &Slug) -> ServiceResult<Manifest> {
        let artifact = self.0.store.artifacts().find(caller.account, slug).await?;
        let Some(artifact) = artifact.filter(|artifact| artifact.live.is_some()) else {
            return Ok(Manifest::default());
        };
        Ok(self.files_of(&artifact, VersionChoice::Live).await?.manifest)
    }
}

impl SiteChanges {
    pub(crate) fn between(old: &Manifest, new: &Manifest) -> Self {
        let mut left: HashMap<&SitePath, &BlobHash> =
            old.files().iter().map(|file| (&file.path, &file.hash)).collect();
        let mut changes = Self::default();
        for file in new.files() {
            match left.remove(&file.path) {
                None => changes.added.push(file.path.clone()),
                Some(hash) if *hash == file.hash => changes.unchanged += 1,
                Some(_) => changes.changed.push(file.path.clone()),
            }
        }
        let removed = old.files().iter().filter(|file| left.contains_key(&file.path));
        changes.removed = removed.map(|file| file.path.clone()).collect();
        changes
    }
}

/// The files as a version would list them, without the locations of their contents.
async fn manifest_of(files: Vec<UploadedFile>) -> anyhow::Result<Manifest> {
    let total_bytes = files.iter().map(|file| file.bytes.len() as u64).sum();
    let file = |UploadedFile { path, bytes }: UploadedFile| ManifestFile {
        hash: BlobHash::of(&bytes),
        size_bytes: bytes.len() as u64,
        content_type: content_type_of(&path),
        variants: vec![],
        bundled: None,
        path,
    };
    compute(total_bytes, move || Manifest::new(files.into_iter().map(file).collect())).await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(files: &[(&str, &str)]) -> Manifest {
        let file = |(path, text): &(&str, &str)| ManifestFile {
            path: path.parse().unwrap(),
            hash: BlobHash::of(text.as_bytes()),
            size_bytes: text.len() as u64,
            content_type: "text/plain".to_owned(),
            variants: vec![],
            bundled: None,
        };
        Manifest::new(files.iter().map(file).collect())
    }

    #[test]
    fn every_file_is_added_changed_removed_or_unchanged() {
        let old = manifest(&[("a", "1"), ("b", "1"), ("c", "1"), ("d/e", "1")]);
        let new = manifest(&[("z", "1"), ("b", "2"), ("c", "1"), ("d/f", "1")]);
        let changes = SiteChanges::between(&old, &new);
        let names = |paths: &[SitePath]| paths.iter().map(SitePath::to_string).collect::<Vec<_>>();
        assert_eq!(names(&changes.added), ["d/f", "z"]);
        assert_eq!(names(&changes.changed), ["b"]);
        assert_eq!(names(&changes.removed), ["a", "d/e"]);
        assert_eq!(changes.unchanged, 1);
        assert_eq!(SiteChanges::between(&new, &new), SiteChanges { unchanged: 4, ..SiteChanges::default() });
    }
}
