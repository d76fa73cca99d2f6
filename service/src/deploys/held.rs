//! The contents that a site has already. They are read from its own versions alone, so a client learns
//! nothing of other sites or accounts.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use domain::{ContentDigest, ContentDigester, Page, SitePath, Slug, VersionChoice};
use futures::{StreamExt, TryStreamExt, stream};

use super::{AT_ONCE, DeployFiles};
use crate::version_files::{VersionFile, VersionFiles};
use crate::{Caller, Service, ServiceResult};

/// The contents of a version that a deploy has too, each with one of its paths.
#[derive(Default)]
pub(super) struct HeldContents {
    pub version: Option<u32>,
    pub paths: BTreeMap<ContentDigest, SitePath>,
}

impl Service {
    /// Reads the live version of a site, or the newest one if none is live.
    pub(super) async fn contents_of_site(
        &self,
        caller: &Caller,
        slug: &Slug,
        files: &DeployFiles,
    ) -> ServiceResult<HeldContents> {
        let Some(artifact) = self.deploy_site(caller, slug).await? else {
            return Ok(HeldContents::default());
        };
        let seq = match artifact.live {
            Some(live) => Some(live.seq),
            None => {
                let versions = self.0.store.artifacts();
                let newest = versions.list_versions(caller.account, artifact.id, &Page::first(1)).await?;
                newest.rows.first().map(|version| version.seq)
            }
        };
        let Some(seq) = seq else { return Ok(HeldContents::default()) };
        let VersionFiles { manifest, .. } = self.files_of(&artifact, VersionChoice::Numbered(seq)).await?;
        let wanted: BTreeSet<ContentDigest> = files.values().copied().collect();
        let digests = manifest.files().iter().map(|file| {
            let file = VersionFile { version: seq, file: file.clone() };
            async move {
                let digest = self.digest_of(&file).await?;
                Ok::<_, crate::Failure>((digest, file.file.path))
            }
        });
        let held: Vec<_> = stream::iter(digests.collect::<Vec<_>>()).buffered(AT_ONCE).try_collect().await?;
        let paths = held.into_iter().filter(|(digest, _)| wanted.contains(digest)).collect();
        Ok(HeldContents { version: Some(seq), paths })
    }

    /// A content that a version has.
    pub(super) async fn held_content(
        &self,
        caller: &Caller,
        slug: &Slug,
        version: u32,
        path: &SitePath,
    ) -> ServiceResult<Bytes> {
        let artifact = self.find(caller, slug).await?;
        let VersionFiles { seq, manifest } =
            self.files_of(&artifact, VersionChoice::Numbered(version)).await?;
        let missing = domain::Refusal::NotFound(domain::Missing::File);
        let file = manifest.find(path.as_str()).ok_or(missing)?.clone();
        self.read_file(&VersionFile { version: seq, file }).await
    }

    /// Reads in chunks, so that it needs little memory.
    async fn digest_of(&self, file: &VersionFile) -> ServiceResult<ContentDigest> {
        let mut chunks = self.stream_file(file).await?;
        let mut digester = ContentDigester::default();
        while let Some(chunk) = chunks.try_next().await.map_err(anyhow::Error::from)? {
            digester.take(&chunk);
        }
        Ok(digester.finish())
    }
}
