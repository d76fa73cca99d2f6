//! The differences between two versions of an artifact, for its account.

use std::collections::BTreeMap;

use bytes::Bytes;
use domain::{Manifest, ManifestFile, SitePath, Slug, VersionChoice};
use futures::{StreamExt, TryStreamExt, stream};
use store::ContentAddress;

use crate::compute::compute_long;
use crate::unified_diff::{FilePair, unified_diff};
use crate::version_files::VersionFiles;
use crate::{Caller, Service, ServiceResult};

/// Contents that are read at a time.
const READS_AT_ONCE: usize = 8;

/// The files that differ between two versions, sorted by path.
#[derive(Clone, Debug)]
pub struct Differences {
    /// The `seq` of the versions.
    pub from: u32,
    pub to: u32,
    pub files: Vec<FileDifference>,
}

/// A file that differs. At least one of the versions has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileDifference {
    pub path: SitePath,
    pub before: Option<ManifestFile>,
    pub after: Option<ManifestFile>,
}

impl Service {
    pub async fn differences(
        &self,
        caller: &Caller,
        slug: &Slug,
        [from, to]: [VersionChoice; 2],
    ) -> ServiceResult<Differences> {
        let artifact = self.artifact_alone(caller, slug).await?;
        let VersionFiles { seq: from, manifest: old } = self.files_of(&artifact, from).await?;
        let VersionFiles { seq: to, manifest: new } = self.files_of(&artifact, to).await?;
        Ok(Differences { from, to, files: differing(&old, &new) })
    }

    /// The same differences as a unified diff. The caller has reserved memory for the contents.
    pub async fn unified_diff(&self, differences: &Differences) -> ServiceResult<String> {
        let reads =
            differences.files.clone().into_iter().map(|FileDifference { path, before, after }| async move {
                let (before, after) = (self.content_of(before).await?, self.content_of(after).await?);
                anyhow::Ok(FilePair { path, before, after })
            });
        let pairs: Vec<FilePair> = stream::iter(reads).buffered(READS_AT_ONCE).try_collect().await?;
        Ok(compute_long(move || unified_diff(&pairs)).await?)
    }

    async fn content_of(&self, file: Option<ManifestFile>) -> anyhow::Result<Option<Bytes>> {
        let Some(file) = file else { return Ok(None) };
        self.contents().read(ContentAddress::of(&file), 0..file.size_bytes).await.map(Some)
    }
}

impl Differences {
    /// The size of the contents that a unified diff reads. A publish is limited, and so are two of them.
    pub fn content_bytes(&self) -> u64 {
        let sizes = self.files.iter().flat_map(|file| [&file.before, &file.after]).flatten();
        sizes.map(|file| file.size_bytes).sum()
    }
}

fn differing(old: &Manifest, new: &Manifest) -> Vec<FileDifference> {
    let mut by_path: BTreeMap<&SitePath, [Option<&ManifestFile>; 2]> = BTreeMap::new();
    for (side, manifest) in [old, new].into_iter().enumerate() {
        for file in manifest.files() {
            by_path.entry(&file.path).or_default()[side] = Some(file);
        }
    }
    let is_same = |[before, after]: [Option<&ManifestFile>; 2]| {
        before.map(|file| file.hash) == after.map(|file| file.hash)
    };
    let differing = by_path.into_iter().filter(|(_, sides)| !is_same(*sides));
    let difference = |(path, [before, after]): (&SitePath, [Option<&ManifestFile>; 2])| FileDifference {
        path: path.clone(),
        before: before.cloned(),
        after: after.cloned(),
    };
    differing.map(difference).collect()
}
