//! The files of a version, for its account: the list, and the bytes of one file. Blocked versions can be read
//! too, so that their account can repair them.

use bytes::Bytes;
use domain::{Artifact, Manifest, ManifestFile, Missing, Refusal, Slug, VersionChoice};
use futures::stream::BoxStream;
use store::ContentAddress;

use crate::{Caller, Service, ServiceResult};

/// A version and its files.
#[derive(Clone, Debug)]
pub struct VersionFiles {
    pub seq: u32,
    pub manifest: Manifest,
}

/// A file of a version.
#[derive(Clone, Debug)]
pub struct VersionFile {
    /// The `seq` of the version.
    pub version: u32,
    pub file: ManifestFile,
}

impl Service {
    pub async fn version_files(
        &self,
        caller: &Caller,
        slug: &Slug,
        version: VersionChoice,
    ) -> ServiceResult<VersionFiles> {
        let artifact = self.artifact_alone(caller, slug).await?;
        self.files_of(&artifact, version).await
    }

    /// The file with exactly this path.
    pub async fn version_file(
        &self,
        caller: &Caller,
        slug: &Slug,
        version: VersionChoice,
        path: &str,
    ) -> ServiceResult<VersionFile> {
        let VersionFiles { seq, manifest } = self.version_files(caller, slug, version).await?;
        let file = manifest.find(path).ok_or(Refusal::NotFound(Missing::File))?;
        Ok(VersionFile { version: seq, file: file.clone() })
    }

    /// The bytes of a file that the caller has found, in chunks.
    pub async fn stream_file(
        &self,
        VersionFile { file, .. }: &VersionFile,
    ) -> ServiceResult<BoxStream<'static, std::io::Result<Bytes>>> {
        Ok(self.contents().stream(ContentAddress::of(file), 0..file.size_bytes).await?)
    }

    /// The bytes of a file that the caller has found. The size of a publish, and so of a file, is limited.
    pub async fn read_file(&self, VersionFile { file, .. }: &VersionFile) -> ServiceResult<Bytes> {
        Ok(self.contents().read(ContentAddress::of(file), 0..file.size_bytes).await?)
    }

    pub(crate) async fn files_of(
        &self,
        artifact: &Artifact,
        version: VersionChoice,
    ) -> ServiceResult<VersionFiles> {
        let seq = match version {
            VersionChoice::Live => artifact.live.map(|live| live.seq),
            VersionChoice::Numbered(seq) => Some(seq),
        };
        let seq = seq.ok_or(Refusal::NotFound(Missing::Version))?;
        let manifest = self.0.store.artifacts().find_manifest(artifact.id, seq).await?;
        Ok(VersionFiles { seq, manifest: manifest.ok_or(Refusal::NotFound(Missing::Version))? })
    }
}
